/** What Python packed for the wire gives the documents that it was made of. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AttemptView, Event, Signs, StepView } from "../src/documents";
import { apply, newView } from "../src/fold";
import { eventsOf, isSigns, unpackPage } from "../src/packing";
import { eventOf, pageOf } from "./fakes";

interface Packed {
  batches: (Event | Signs)[][];
  /** What signs make of each execution's attempts. */
  attempts: Record<string, AttemptView[]>;
}

const FILE = join(__dirname, "../../tests/widgets/packed.json");
const packed = (): Packed => JSON.parse(readFileSync(FILE, "utf8")) as Packed;

function unpackedAttempts(): Record<string, AttemptView[]> {
  const view = newView();
  for (const [key, attempts] of Object.entries(packed().attempts)) {
    view.steps[key] = { ...emptyStep(), attempts };
  }
  unpackPage(pageOf({ view }));
  return Object.fromEntries(Object.entries(view.steps).map(([key, step]) => [key, step.attempts]));
}

function emptyStep(): StepView {
  const view = newView();
  apply(view, eventOf("heartbeat", 1, { checkpoint: null }));
  return view.steps["A-1"] as StepView;
}

/** Times are rounded to microseconds on their way: compared to a tenth of a millisecond. */
const rounded = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, part) => {
      return typeof part === "number" ? Math.round(part * 1e4) / 1e4 : part;
    }),
  );

describe("packed signs", () => {
  it("folded, make of the attempts what Python sends whole", () => {
    const view = newView();
    const told = packed().batches.flat();
    for (const one of told) {
      for (const event of isSigns(one) ? eventsOf(one) : [one]) apply(view, event);
    }
    expect(told.some(isSigns)).toBe(true);
    const expected = unpackedAttempts();
    expect(Object.keys(view.steps)).toEqual(Object.keys(expected));
    for (const [key, attempts] of Object.entries(expected)) {
      expect(rounded(view.steps[key]?.attempts)).toMatchObject(rounded(attempts) as object);
    }
  });

  it("become events of their kinds, with the newest payload", () => {
    const ids = { kind: "signs", step_execution_id: "A-1", attempt: 2, offset: 5 } as const;
    const signs = { signs: "chs", from: 1, after: [500_000, 250_000] };
    const events = eventsOf({ ...ids, ...signs, checkpoint: '"x"', line: 7, what: "sleep" });
    expect(events.map(({ kind, time, wall }) => [kind, time, wall])).toEqual([
      ["round_call", 1, 6],
      ["heartbeat", 1.5, 6.5],
      ["round_sleep", 1.75, 6.75],
    ]);
    expect(events[1]?.payload.checkpoint).toBe('"x"');
    expect(events[2]?.payload).toEqual({ line: 7, what: "sleep" });
    expect(events.every(({ attempt }) => attempt === 2)).toBe(true);
  });
});

describe("a packed page", () => {
  it("has merged marks with their time in calls", () => {
    const [first] = unpackedAttempts()["Poll-1"] ?? [];
    expect(first?.marks[0]?.[0]).toBe("many");
    expect(first?.marks[0]?.[3]).toBeGreaterThan(0);
    expect(first?.beats).toHaveLength(first?.beat_count ?? 0);
  });

  it("that was not packed stays as it is", () => {
    const page = pageOf();
    apply(page.view, eventOf("heartbeat", 1, { checkpoint: null }));
    const before = structuredClone(page);
    expect(unpackPage(page)).toEqual(before);
  });
});
