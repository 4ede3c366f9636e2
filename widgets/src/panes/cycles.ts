/** What the dispatcher pane draws, made of a queue's last cycles. */

import type { Cycle, QueueView } from "../documents";
import { short } from "../duration";

/** A fetch that found nothing and lasted so long was parked in the store, not refused at once. */
export const PARKED_SECONDS = 0.05;

export type FetchKind = "hit" | "empty" | "parked" | "error";

export interface QueueFigures {
  perSecond: number;
  /** Share of the time in which the dispatcher neither fetched something nor failed. */
  idle: number;
  parked: number;
}

export function kindOf([began, until, , result]: Cycle): FetchKind {
  return result === "empty" && until - began >= PARKED_SECONDS ? "parked" : result;
}

/** Figures of the seconds between `from` and `to`. */
export function figures(queue: QueueView, from: number, to: number): QueueFigures {
  const span = to - from;
  if (span <= 0) return { perSecond: 0, idle: 1, parked: 0 };
  let fetches = 0;
  let parked = 0;
  let busy = 0;
  for (const cycle of queue.cycles) {
    const [began, until] = cycle;
    if (until < from) continue;
    const kind = kindOf(cycle);
    fetches += 1;
    if (kind === "parked") parked += 1;
    // A long fetch waited in the store, whatever came of it.
    if (until - began < PARKED_SECONDS) {
      busy += Math.max(0, Math.min(until, to) - Math.max(began, from));
    }
  }
  return { perSecond: fetches / span, idle: Math.max(0, 1 - busy / span), parked };
}

const SPANS = [10, 30, 120, 600];
const ENOUGH = 12;

/** The span that is drawn: the shortest that shows a dozen fetches, as far as they are kept. */
export function spanOf(queues: QueueView[], now: number): [from: number, to: number] {
  const begins = queues.flatMap((queue) => queue.cycles.map((cycle) => cycle[0]));
  const first = Math.min(now, ...begins);
  const length = SPANS.find((span) => begins.filter((at) => at >= now - span).length >= ENOUGH);
  return [Math.max(first, now - (length ?? 600)), now];
}

/** How often, in a unit that gives a number one can read. */
export function rate(perSecond: number): string {
  if (perSecond === 0) return "no fetch";
  const [often, unit] = perSecond < 0.2 ? [perSecond * 60, "min"] : [perSecond, "s"];
  return `${short(often, 2)} fetches/${unit}`;
}
