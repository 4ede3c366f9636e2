/** The fold of an engine's dispatcher cycles: the twin of `dexnb.model.dispatcher_view`. */

import type { CycleResult, DispatcherView, Event, QueueView } from "./documents";

export const MOST_CYCLES = 200;

export function newDispatcherView(): DispatcherView {
  return { orchestration: newQueue(), work: newQueue() };
}

function newQueue(): QueueView {
  return { fetches: 0, hit: 0, empty: 0, error: 0, items: 0, cycles: [] };
}

/** Fold one event in; all but dispatcher cycles are left alone. */
export function applyDispatcher(view: DispatcherView, event: Event): void {
  if (event.kind !== "dispatcher_cycle") return;
  const { payload } = event;
  const queue = view[payload.queue as keyof DispatcherView];
  const result = payload.result as CycleResult;
  const items = payload.items as number;
  queue.fetches += 1;
  queue[result] += 1;
  queue.items += items;
  queue.cycles.push([
    event.time - (payload.fetch as number),
    event.time,
    event.time + (payload.sleep as number),
    result,
    items,
  ]);
  if (queue.cycles.length > MOST_CYCLES) queue.cycles.shift();
}
