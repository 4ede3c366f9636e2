/**
 * The many small marks of an attempt, merged into a few SVG paths. Where they are closer than the
 * screen can show, columns of the screen are drawn instead, so that the work for a frame is
 * bounded by the width and not by the number of events.
 */

import type { AttemptView, Mark } from "../documents";

/** From seconds to pixels. */
export type Scale = (time: number) => number;

export interface Strip {
  y: number;
  height: number;
  left: number;
  right: number;
}

export interface Bars {
  call: string;
  sleep: string;
}

const MOST_SINGLE = 300;
const COLUMN = 2;
const MOST_TEETH = 12;
/** Beats closer than this many pixels are drawn as short ticks, so that the calls stay visible. */
const CLOSE = 4;

const one = (value: number) => Math.round(value * 10) / 10;

/** Where one ends and another begins they meet, since both their sides are rounded alike. */
function rectangle(x: number, y: number, width: number, height: number): string {
  const left = one(x);
  const across = one(one(x + width) - left);
  return `M${left} ${one(y)}h${across}v${one(height)}h${-across}z`;
}

/** The rounds of an attempt: calls dark, sleeps light; merged ones by their share of calls. */
export function bars(attempt: AttemptView, now: number, x: Scale, strip: Strip): Bars {
  const marks = inSight(withOpen(attempt, now), x, strip);
  return marks.length > MOST_SINGLE ? columns(marks, x, strip) : singles(marks, x, strip);
}

function withOpen(attempt: AttemptView, now: number): Mark[] {
  const { phase, phase_since: since, ended_at: ended } = attempt;
  if (!phase || ended !== null) return attempt.marks;
  return [...attempt.marks, [phase, since, now, phase === "call" ? now - since : 0]];
}

function inSight(marks: Mark[], x: Scale, { left, right }: Strip): Mark[] {
  return marks.filter(([, begin, end]) => x(end) >= left && x(begin) <= right);
}

function singles(marks: Mark[], x: Scale, strip: Strip): Bars {
  const { y, height, left, right } = strip;
  let call = "";
  let sleep = "";
  for (const [kind, begin, end, inCall] of marks) {
    const from = Math.max(left, x(begin));
    const width = Math.max(kind === "sleep" ? 0 : 1, Math.min(right, x(end)) - from);
    if (kind === "call") {
      call += rectangle(from, y, width, height);
      continue;
    }
    sleep += rectangle(from, y, width, height);
    if (kind === "many" && end > begin) {
      const part = height * Math.min(1, inCall / (end - begin));
      call += rectangle(from, y + height - part, width, part);
    }
  }
  return { call, sleep };
}

function columns(marks: Mark[], x: Scale, strip: Strip): Bars {
  const { y, height, left, right } = strip;
  const count = Math.max(1, Math.ceil((right - left) / COLUMN));
  const covered = new Float64Array(count);
  const called = new Float64Array(count);
  for (const [, begin, end, inCall] of marks) {
    spread(covered, called, (x(begin) - left) / COLUMN, (x(end) - left) / COLUMN, {
      share: end > begin ? inCall / (end - begin) : 0,
    });
  }
  let call = "";
  let sleep = "";
  for (let index = 0; index < count; index += 1) {
    const cover = covered[index] ?? 0;
    if (cover <= 0) continue;
    const at = left + index * COLUMN;
    sleep += rectangle(at, y, COLUMN, height);
    const part = height * Math.min(1, (called[index] ?? 0) / cover);
    if (part > 0.2) call += rectangle(at, y + height - part, COLUMN, part);
  }
  return { call, sleep };
}

/** Lay a mark over the columns it touches, by how much of each it covers. */
function spread(
  covered: Float64Array,
  called: Float64Array,
  from: number,
  to: number,
  { share }: { share: number },
): void {
  const first = Math.max(0, Math.floor(from));
  const last = Math.min(covered.length - 1, Math.floor(to));
  for (let index = first; index <= last; index += 1) {
    const part = Math.max(1e-6, Math.min(to, index + 1) - Math.max(from, index));
    covered[index] = (covered[index] ?? 0) + part;
    called[index] = (called[index] ?? 0) + part * share;
  }
}

/** The pixels across that have a heartbeat. */
export function columnsOf(beats: number[], x: Scale, { left, right }: Strip): number[] {
  const seen: number[] = [];
  for (const time of beats) {
    const at = Math.round(x(time));
    if (at >= left && at <= right && at !== seen.at(-1)) seen.push(at);
  }
  return seen;
}

/** Whether so many heartbeats between two pixels leave no room between them. */
export function areClose(count: number, first: number, last: number): boolean {
  return count > 12 && (last - first) / count < CLOSE;
}

/** Heartbeats as ticks, at most one in a pixel. */
export function ticksAt(columns: number[], close: boolean, { y, height }: Strip): string {
  const [top, length] = close ? [y - 4, 5] : [y - 4, height + 8];
  return columns.map((at) => `M${at} ${top}v${length}`).join("");
}

/** All signs of life of an attempt, in order: its begin, its heartbeats, its Stream messages. */
export function signsOf(
  attempt: AttemptView,
  messages: readonly { time: number; attempt: number }[],
): number[] {
  const own = messages.filter((row) => row.attempt === attempt.attempt).map((row) => row.time);
  const signs = [attempt.started_at, ...attempt.beats];
  if (own.length === 0) return signs;
  return [...signs, ...own].sort((a, b) => a - b);
}

export interface Saw {
  x: Scale;
  /** From an age in seconds to the height above the base line, in pixels. */
  rise: (age: number) => number;
  base: number;
  left: number;
  right: number;
}

/**
 * How long the attempt had been silent, over time. Where a long log was thinned out, the gaps
 * between the signs that were kept are too long: no age is drawn above the longest that was seen.
 */
export function sawTooth(attempt: AttemptView, signs: number[], now: number, saw: Saw): string {
  const end = attempt.ended_at ?? now;
  const most = Math.max(attempt.longest_silence, end - attempt.last_sign);
  const teeth: [from: number, to: number, age: number][] = [];
  signs.forEach((sign, index) => {
    const to = Math.min(signs[index + 1] ?? end, end);
    if (saw.x(to) < saw.left || saw.x(sign) > saw.right) return;
    teeth.push([saw.x(sign), saw.x(to), Math.min(to - sign, most)]);
  });
  const width = saw.x(end) - saw.x(signs[0] ?? end);
  return teeth.length > Math.max(MOST_TEETH, width / 3) ? envelope(teeth, saw) : single(teeth, saw);
}

function single(teeth: [number, number, number][], { rise, base, left, right }: Saw): string {
  return teeth
    .map(([from, to, age]) => {
      const [a, b] = [Math.max(left, from), Math.min(right, to)];
      const part = to > from ? (b - from) / (to - from) : 1;
      const begin = to > from ? (a - from) / (to - from) : 0;
      return (
        `M${one(a)} ${one(base)}V${one(base - rise(age * begin))}` +
        `L${one(b)} ${one(base - rise(age * part))}V${one(base)}z`
      );
    })
    .join("");
}

function envelope(teeth: [number, number, number][], { rise, base, left, right }: Saw): string {
  const highest = new Map<number, number>();
  for (const [, to, age] of teeth) {
    const column = Math.min(right, Math.max(left, Math.round(to / COLUMN) * COLUMN));
    highest.set(column, Math.max(highest.get(column) ?? 0, age));
  }
  // From where the first rise begins, since another part of the curve may end there.
  const first = Math.max(left, teeth[0]?.[0] ?? left);
  let path = `M${one(first)} ${one(base)}`;
  let last = first;
  for (const [column, age] of [...highest].sort((a, b) => a[0] - b[0])) {
    path += `L${column} ${one(base - rise(age))}`;
    last = column;
  }
  return `${path}L${last} ${one(base)}z`;
}
