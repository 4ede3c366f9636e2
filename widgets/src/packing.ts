/** What `dexnb.widgets.packing` packed for the wire becomes the documents again. */

import { withData } from "./dataFold";
import type { AttemptView, Event, Json, Mark, Page, RunView, Signs, Times } from "./documents";

interface Marks extends Times {
  kinds: string;
  in_call: number[];
}

const SIGNS: Record<string, string> = { h: "heartbeat", c: "round_call", s: "round_sleep" };
const MARKS: Record<string, Mark[0]> = { c: "call", s: "sleep", m: "many" };
const PER_SECOND = 1_000_000;

export function isSigns(document: Event | Signs): document is Signs {
  return document.kind === "signs" && "after" in document;
}

export function eventsOf(packed: Signs): Event[] {
  const { step_execution_id, attempt, offset } = packed;
  const beat: Record<string, Json> = { checkpoint: packed.checkpoint ?? null };
  const round: Record<string, Json> = { line: packed.line ?? 0, what: packed.what ?? "" };
  const ids = { seq: 0, flow_id: "", run_id: "", step_execution_id, attempt };
  return timesOf(packed).map((time, index) => {
    const letter = packed.signs[index] ?? "";
    const payload = letter === "h" ? beat : round;
    return { ...ids, wall: time + offset, time, kind: SIGNS[letter] ?? "", payload };
  });
}

/** Unpack a page in place; one that is not packed stays as it is. */
export function unpackPage(page: Page): Page {
  for (const view of [page.view, ...Object.values(page.children ?? {})]) unpackView(view);
  return page;
}

function unpackView(view: RunView): void {
  withData(view);
  for (const step of Object.values(view.steps)) step.attempts.forEach(unpackAttempt);
}

function unpackAttempt(attempt: AttemptView): void {
  const packed = attempt as unknown as { beats: number[] | Times; marks: Mark[] | Marks };
  if (!Array.isArray(packed.beats)) attempt.beats = timesOf(packed.beats);
  if (!Array.isArray(packed.marks)) attempt.marks = marksOf(packed.marks);
}

function timesOf({ from, after }: Times): number[] {
  let whole = 0;
  const times = [from];
  for (const step of after) {
    whole += step;
    times.push(from + whole / PER_SECOND);
  }
  return times;
}

function marksOf(packed: Marks): Mark[] {
  const times = timesOf(packed);
  const inCall = packed.in_call.values();
  return [...packed.kinds].map((letter, index): Mark => {
    const kind = MARKS[letter] ?? "many";
    const [begin, end] = [times[2 * index] ?? 0, times[2 * index + 1] ?? 0];
    if (kind === "many") return [kind, begin, end, inCall.next().value ?? 0];
    return [kind, begin, end, kind === "call" ? end - begin : 0];
  });
}
