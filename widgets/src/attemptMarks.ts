/** What an attempt spends its time on, bounded: the twin of `dexnb.model.attempt_marks`. */

import type { AttemptView, Event, Mark } from "./documents";

export const MOST_MARKS = 600;
export const MERGED = 10;

export function beginPhase(attempt: AttemptView, event: Event, phase: "call" | "sleep"): void {
  endPhase(attempt, event.time);
  attempt.phase = phase;
  attempt.phase_since = event.time;
  attempt.phase_line = event.payload.line as number;
  attempt.phase_what = event.payload.what as string;
}

export function endPhase(attempt: AttemptView, time: number): void {
  if (!attempt.phase) return;
  const inCall = attempt.phase === "call" ? time - attempt.phase_since : 0;
  attempt.marks.push([attempt.phase, attempt.phase_since, time, inCall]);
  if (attempt.marks.length > MOST_MARKS) {
    const half = MOST_MARKS / 2;
    attempt.marks = [...merge(attempt.marks.slice(0, half)), ...attempt.marks.slice(half)];
  }
}

function merge(marks: Mark[]): Mark[] {
  const merged: Mark[] = [];
  for (let start = 0; start < marks.length; start += MERGED) {
    const part = marks.slice(start, start + MERGED);
    const first = part[0] as Mark;
    const last = part[part.length - 1] as Mark;
    const inCall = part.reduce((sum, mark) => sum + mark[3], 0);
    merged.push(["many", first[1], last[2], inCall]);
  }
  return merged;
}
