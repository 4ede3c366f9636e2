/**
 * The paths of an attempt in two parts: what can change no more, which is kept from drawing to
 * drawing, and its fresh end. A drawing costs what is fresh, however long the attempt has run.
 */

import type { AttemptView, MessageRow } from "../documents";
import { type Bars, bars, columnsOf, type Saw, type Scale, type Strip, sawTooth } from "./marks";

/** So many marks or beats become settled at once; fewer than two times as many are fresh. */
const PART = 64;

/** How many of an attempt's marks and beats are settled, and when its fresh beats begin. */
export interface Cut {
  marks: number;
  beats: number;
  from: number;
}

export interface Part extends Bars {
  /** The columns of the screen that have a heartbeat. */
  columns: number[];
  saw: string;
}

export interface Place {
  x: Scale;
  strip: Strip;
  /** Where the curve of silence is drawn, if it is. */
  saw: Saw | null;
}

export function cutOf({ marks, beats, ended_at: ended }: AttemptView): Cut {
  if (ended !== null) return { marks: marks.length, beats: beats.length, from: Infinity };
  const settled = (count: number) => Math.max(0, Math.floor(count / PART) - 1) * PART;
  const cut = settled(beats.length);
  return { marks: settled(marks.length), beats: cut, from: beats[cut] ?? Infinity };
}

/** Two drawings with the same key have the same settled part. */
export function keyOf(
  attempt: AttemptView,
  messages: readonly MessageRow[],
  cut: Cut,
  { x, strip, saw }: Place,
): string {
  // A snapshot tells the same times, rounded: what counts is where they are on the screen.
  const at = (time: number | undefined) => (time === undefined ? "" : x(time).toFixed(1));
  const { beats, marks, ended_at: ended, started_at: started } = attempt;
  const within = messages.filter((row) => row.attempt === attempt.attempt && row.time < cut.from);
  return [
    ...[
      cut.marks,
      cut.beats,
      within.length,
      at(started),
      at(started + 100),
      at(ended ?? undefined),
    ],
    ...[at(beats[0]), at(beats[cut.beats - 1]), at(marks[0]?.[1]), at(marks[cut.marks - 1]?.[2])],
    ...[strip.y, strip.height, strip.left, strip.right, saw?.base, saw?.rise(1)],
  ].join(" ");
}

export function settledPart(
  attempt: AttemptView,
  messages: readonly MessageRow[],
  cut: Cut,
  place: Place,
): Part {
  const beats = attempt.beats.slice(0, cut.beats);
  const own = messages.filter((row) => row.attempt === attempt.attempt && row.time < cut.from);
  const signs = inOrder([attempt.started_at, ...beats], own);
  const settled = {
    ...attempt,
    phase: "",
    beats,
    marks: attempt.marks.slice(0, cut.marks),
  } as const;
  const end = attempt.ended_at ?? cut.from;
  const none = attempt.ended_at === null && cut.beats === 0;
  return partOf({ ...settled, ended_at: end }, none ? [] : signs, end, place);
}

export function freshPart(
  attempt: AttemptView,
  messages: readonly MessageRow[],
  cut: Cut,
  now: number,
  place: Place,
): Part {
  if (attempt.ended_at !== null) return { call: "", sleep: "", columns: [], saw: "" };
  const beats = attempt.beats.slice(cut.beats);
  const from = cut.beats === 0 ? Number.NEGATIVE_INFINITY : cut.from;
  const own = messages.filter((row) => row.attempt === attempt.attempt && row.time >= from);
  const signs = inOrder(cut.beats === 0 ? [attempt.started_at, ...beats] : beats, own);
  return partOf({ ...attempt, beats, marks: attempt.marks.slice(cut.marks) }, signs, now, place);
}

function partOf(part: AttemptView, signs: number[], now: number, { x, strip, saw }: Place): Part {
  return {
    ...bars(part, now, x, strip),
    columns: columnsOf(part.beats, x, strip),
    saw: saw && signs.length > 0 ? sawTooth(part, signs, now, saw) : "",
  };
}

function inOrder(signs: number[], rows: readonly MessageRow[]): number[] {
  if (rows.length === 0) return signs;
  return [...signs, ...rows.map((row) => row.time)].sort((a, b) => a - b);
}
