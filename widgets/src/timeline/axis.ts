/** The time axis: what part of a run is seen, how far it reaches, where its marks are. */

import { clock } from "../duration";

/** A part of the run, in seconds since it started. */
export interface Span {
  from: number;
  to: number;
}

/** What the reader wants to see: the whole run, or a part `zoom` times smaller. */
export interface Sight {
  zoom: number;
  /** Where the part begins; null while it follows the run's end. */
  from: number | null;
}

export const WHOLE: Sight = { zoom: 1, from: null };
export const SHORTEST = 8;
/** Behind the end of a run that has closed there is room for its last word. */
export const ROOM_AFTER = 1.13;
export const MOST_ZOOM = 4096;

/**
 * The end of the axis: while the run goes on, it doubles each time it is reached, so that nothing
 * moves in between; when the run has ended, it fits.
 */
export function axisEnd(elapsed: number, closed: boolean): number {
  if (closed) return Math.max(elapsed * ROOM_AFTER, 0.05);
  let end = SHORTEST;
  while (end < elapsed * 1.02) end *= 2;
  return end;
}

/** The part that is seen; one that follows moves on in steps of an eighth. */
export function seen(sight: Sight, end: number, elapsed: number): Span {
  const length = end / sight.zoom;
  if (sight.zoom <= 1) return { from: 0, to: end };
  const step = length / 8;
  const wanted = sight.from ?? Math.ceil((elapsed + step / 2) / step) * step - length;
  const from = Math.min(Math.max(0, wanted), end - length);
  return { from, to: from + length };
}

/** Zoom by a factor so that the moment `at` stays where it is. */
export function zoomed(span: Span, end: number, factor: number, at: number): Sight {
  const zoom = Math.min(MOST_ZOOM, Math.max(1, (end / (span.to - span.from)) * factor));
  if (zoom <= 1.001) return WHOLE;
  const share = (at - span.from) / (span.to - span.from);
  return { zoom, from: Math.max(0, at - share * (end / zoom)) };
}

/** Move by a share of what is seen, not beyond the run. */
export function moved(span: Span, end: number, zoom: number, share: number): Sight {
  if (zoom <= 1) return WHOLE;
  const length = span.to - span.from;
  const from = Math.min(Math.max(0, span.from + share * length), Math.max(0, end - length));
  return { zoom, from };
}

const STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
];

/** Seconds between two marks, so that at most `most` are seen. */
export function tickStep(length: number, most: number): number {
  const least = length / Math.max(1, most);
  for (let small = 0.001; small < 1; small *= 10) {
    for (const part of [1, 2, 5]) if (small * part >= least) return small * part;
  }
  return STEPS.find((step) => step >= least) ?? Math.ceil(least / 86_400) * 86_400;
}

export function ticks({ from, to }: Span, most: number): number[] {
  const step = tickStep(to - from, most);
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.floor((to - from) / step + 1e-9) + 1;
  return Array.from({ length: Math.min(count, 200) }, (_, index) => (first + index) * step).filter(
    (time) => time <= to + 1e-9,
  );
}

/** The name of a mark: a position, or in the first minute seconds where marks are closer. */
export function tickText(time: number, step: number): string {
  const digits = digitsOf(step);
  return digits > 0 && time < 60 ? `${time.toFixed(digits)} s` : clock(time, digits);
}

const LETTER = 5.6;

/** Where a mark's name stands: below its mark, or as near to it as the drawing is wide. */
export function tickPlace(at: number, text: string, width: number) {
  const beyond = at + (text.length * LETTER) / 2 > width;
  return beyond
    ? { x: width, textAnchor: "end" as const }
    : { x: at, textAnchor: "middle" as const };
}

/** Digits of a second that marks so far apart need. */
export function digitsOf(step: number): number {
  if (step >= 1) return 0;
  return Math.min(3, Math.ceil(-Math.log10(step) - 1e-9));
}
