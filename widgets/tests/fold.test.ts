/** The page's fold gives what Python's gives, on the same logs, however they are cut. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Event } from "../src/documents";
import { apply, MERGED, MOST_BEATS, MOST_MARKS, MOST_ROWS, newView, viewOf } from "../src/fold";
import { oneDecimal } from "../src/numbers";

const FOLDERS = [join(__dirname, "../demo/logs"), join(__dirname, "../../tests/data")];
const MORE = process.env.LAB_LOGS;

function logs(): { name: string; events: Event[]; view: unknown }[] {
  return [...FOLDERS, ...(MORE ? [MORE] : [])].filter(existsSync).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".view.json"))
      .map((name) => name.slice(0, -".view.json".length))
      .map((name) => ({
        name,
        events: eventsOf(join(folder, `${name}.jsonl`)),
        view: JSON.parse(readFileSync(join(folder, `${name}.view.json`), "utf8")),
      })),
  );
}

function eventsOf(path: string): Event[] {
  const lines = readFileSync(path, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Event);
}

/** Numbers that repeat: a test that fails fails again. */
function draw(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const event = (kind: string, time: number, payload = {}, step = "A-1", attempt = 1): Event => ({
  seq: 1,
  flow_id: "f",
  run_id: "r",
  wall: time,
  time,
  kind,
  step_execution_id: step,
  attempt,
  payload,
});

describe("the fold", () => {
  it("finds logs to compare", () => {
    expect(logs().length).toBeGreaterThanOrEqual(3);
  });

  it.each(logs())("of $name equals Python's", ({ events, view }) => {
    expect(JSON.parse(JSON.stringify(viewOf(events)))).toEqual(view);
  });

  it.each(logs())("of $name is the same after every cut into batches", ({ events, view }) => {
    for (let seed = 1; seed <= 3; seed += 1) {
      const random = draw(seed);
      let page = newView();
      for (let at = 0; at < events.length; ) {
        const size = 1 + Math.floor(random() * 40);
        for (const one of events.slice(at, at + size)) apply(page, one);
        at += size;
        // A snapshot between two batches is a copy that has crossed the wire.
        if (random() < 0.1) page = JSON.parse(JSON.stringify(page));
      }
      expect(JSON.parse(JSON.stringify(page))).toEqual(view);
    }
  });

  it("merges the older half of the marks and keeps their time in calls", () => {
    const view = newView();
    for (let index = 0; index <= MOST_MARKS + 1; index += 1) {
      apply(view, event(index % 2 ? "round_sleep" : "round_call", index, { line: 1, what: "x" }));
    }
    const marks = view.steps["A-1"]?.attempts[0]?.marks ?? [];
    expect(marks.length).toBe(MOST_MARKS / 2 / MERGED + MOST_MARKS / 2 + 1);
    expect(marks[0]).toEqual(["many", 0, MERGED, MERGED / 2]);
  });

  it("thins out beats and keeps their count", () => {
    const view = newView();
    for (let index = 0; index < 5 * MOST_BEATS; index += 1) {
      apply(view, event("heartbeat", index, { checkpoint: null, cleared: false }));
    }
    const attempt = view.steps["A-1"]?.attempts[0];
    expect(attempt?.beat_count).toBe(5 * MOST_BEATS);
    expect(attempt?.beats.length).toBeLessThanOrEqual(MOST_BEATS);
    expect(attempt?.beats[0]).toBe(0);
    expect(attempt?.longest_silence).toBe(1);
  });

  it("keeps the newest rows only", () => {
    const view = newView();
    for (let index = 0; index < MOST_ROWS + 7; index += 1) {
      apply(view, event("log", index, { source: "print", line: `${index}` }));
    }
    expect(view.log.length).toBe(MOST_ROWS);
    expect(view.log[0]?.line).toBe("7");
    expect(view.log_count).toBe(MOST_ROWS + 7);
  });

  it("keeps Steps whose names are those of an object's own parts", () => {
    const view = newView();
    for (const step of ["__proto__", "constructor", "toString-1"]) {
      apply(view, event("heartbeat", 1, { checkpoint: null }, step));
    }
    expect(Object.keys(view.steps)).toEqual(["__proto__", "constructor", "toString-1"]);
    expect(Object.getPrototypeOf(view.steps)).toBe(Object.prototype);
  });
});

describe("one decimal", () => {
  it.each([
    [0.25, "0.2"],
    [0.75, "0.8"],
    [0.35, "0.3"],
    [1.25, "1.2"],
    [12.45, "12.4"],
    [0.05, "0.1"],
    [2, "2.0"],
  ])("of %s is Python's %s", (value, text) => {
    expect(oneDecimal(value)).toBe(text);
  });
});
