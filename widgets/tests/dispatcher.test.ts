/** The dispatcher's fold and figures. */

import { describe, expect, it } from "vitest";
import { applyDispatcher, MOST_CYCLES, newDispatcherView } from "../src/dispatcher";
import type { Cycle } from "../src/documents";
import { figures, kindOf, rate, spanOf } from "../src/panes/cycles";
import { eventOf } from "./fakes";

const cycle = (time: number, result: string, fetch = 0, items = 0) => {
  const payload = { queue: "work", result, fetch, sleep: 0.1, items, error: "" };
  return eventOf("dispatcher_cycle", time, payload, "");
};

describe("the dispatcher's fold", () => {
  it("counts each result and keeps when each fetch began and ended", () => {
    const view = newDispatcherView();
    for (const event of [cycle(10, "hit", 2, 3), cycle(11, "empty"), cycle(12, "error")]) {
      applyDispatcher(view, event);
    }
    applyDispatcher(view, eventOf("lock_renewed", 13));
    expect(view.orchestration.fetches).toBe(0);
    const { cycles, ...counts } = view.work;
    expect(counts).toEqual({ fetches: 3, hit: 1, empty: 1, error: 1, items: 3 });
    expect(cycles[0]).toEqual([8, 10, 10.1, "hit", 3]);
  });

  it("keeps the newest cycles only", () => {
    const view = newDispatcherView();
    for (let index = 0; index < MOST_CYCLES + 5; index += 1)
      applyDispatcher(view, cycle(index, "hit"));
    expect(view.work.cycles.length).toBe(MOST_CYCLES);
    expect(view.work.cycles[0]?.[1]).toBe(5);
    expect(view.work.fetches).toBe(MOST_CYCLES + 5);
  });
});

describe("the dispatcher's figures", () => {
  it("tell a fetch that was parked in the store from one that came back at once", () => {
    const long: Cycle = [0, 30, 30, "empty", 0];
    expect(kindOf(long)).toBe("parked");
    expect(kindOf([0, 0.001, 0.1, "empty", 0])).toBe("empty");
    expect(kindOf([0, 30, 30, "hit", 1])).toBe("hit");
  });

  it("take parked fetches and sleeps for idle", () => {
    const view = newDispatcherView();
    view.work.cycles.push([0, 5, 5, "empty", 0], [5, 9, 9, "hit", 1], [9, 9.01, 10, "empty", 0]);
    const found = figures(view.work, 0, 10);
    expect(found.perSecond).toBeCloseTo(0.3);
    expect(found.idle).toBeCloseTo(0.999);
    expect(found.parked).toBe(1);
    expect(figures(view.work, 5, 5).perSecond).toBe(0);
  });

  it("cover the shortest span with a dozen fetches", () => {
    const view = newDispatcherView();
    for (let at = 0; at < 100; at += 1) view.work.cycles.push([at, at, at + 1, "empty", 0]);
    expect(spanOf([view.work, view.orchestration], 100)).toEqual([70, 100]);
    expect(spanOf([newDispatcherView().work], 100)).toEqual([100, 100]);
  });

  it.each([
    [0, "no fetch"],
    [0.0333, "2 fetches/min"],
    [9.94, "9.9 fetches/s"],
  ])("of %s a second are %s", (perSecond, words) => {
    expect(rate(perSecond)).toBe(words);
  });
});
