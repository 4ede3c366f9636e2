/** The timeline: the axis, the lanes, and marks whose drawing is bounded by the screen. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { crowd } from "../demo/crowd";
import type { AttemptView, Event } from "../src/documents";
import { apply, newView, viewOf } from "../src/fold";
import {
  axisEnd,
  moved,
  ROOM_AFTER,
  seen,
  tickPlace,
  tickStep,
  ticks,
  tickText,
  WHOLE,
  zoomed,
} from "../src/timeline/axis";
import { attemptLabels, fitted, placed, widthOf } from "../src/timeline/labels";
import { attemptTone, failureText, lanesOf, MOST_LANES, resumedText } from "../src/timeline/lanes";
import { bars, columnsOf, sawTooth, signsOf, ticksAt } from "../src/timeline/marks";
import { eventOf } from "./fakes";

const STRIP = { y: 0, height: 20, left: 0, right: 1000 };

function attemptOf(change: Partial<AttemptView> = {}): AttemptView {
  const beat = eventOf("heartbeat", 0, { checkpoint: null, cleared: false });
  const made = viewOf([beat]).steps["A-1"]?.attempts[0] as AttemptView;
  return { ...made, beats: [], ...change };
}

const rectangles = (path: string) => path.split("M").length - 1;

describe("the axis", () => {
  it("doubles when the run reaches its end, and stands still in between", () => {
    const ends = [0, 1, 7, 7.9, 8, 15, 16, 100].map((elapsed) => axisEnd(elapsed, false));
    expect(ends).toEqual([8, 8, 8, 16, 16, 16, 32, 128]);
  });

  it("fits a run that has ended", () => {
    expect(axisEnd(100, true)).toBeCloseTo(100 * ROOM_AFTER);
  });

  it("follows in steps of an eighth, so that the drawing stands still in between", () => {
    const sight = { zoom: 8, from: null };
    const places = [100, 100.5, 101, 101.5].map((elapsed) => seen(sight, 128, elapsed).from);
    expect(new Set(places).size).toBeLessThanOrEqual(2);
    for (const elapsed of [0, 3, 50, 127]) {
      const { from, to } = seen(sight, 128, elapsed);
      expect(elapsed).toBeGreaterThanOrEqual(from);
      expect(elapsed).toBeLessThanOrEqual(to);
    }
  });

  it("zooms about the moment under the pointer", () => {
    const sight = zoomed({ from: 0, to: 100 }, 100, 4, 60);
    const { from, to } = seen(sight, 100, 100);
    expect((60 - from) / (to - from)).toBeCloseTo(0.6);
    expect(zoomed({ from, to }, 100, 1 / 4, 60)).toEqual(WHOLE);
  });

  it("does not move beyond the run", () => {
    expect(moved({ from: 0, to: 10 }, 100, 10, -1).from).toBe(0);
    expect(moved({ from: 90, to: 100 }, 100, 10, 1).from).toBe(90);
  });

  it.each([
    [0, 0.05, "0.00 s"],
    [0.25, 0.05, "0.25 s"],
    [4.5, 0.5, "4.5 s"],
    [60.5, 0.5, "1:00.5"],
    [90, 15, "1:30"],
  ])("names the moment %s, one of marks %s s apart, %s", (time, step, words) => {
    expect(tickText(time, step)).toBe(words);
  });

  it("keeps the names of its marks on the drawing", () => {
    expect(tickPlace(100, "0:00", 800)).toEqual({ x: 100, textAnchor: "middle" });
    expect(tickPlace(795, "0.500 s", 800)).toEqual({ x: 800, textAnchor: "end" });
  });

  it.each([
    [8, 1],
    [60, 10],
    [128, 15],
    [3600, 600],
    [0.02, 0.002],
    [1e6, 172_800],
  ])("of %s s has a mark every %s s", (length, step) => {
    expect(tickStep(length, 10)).toBeCloseTo(step);
    expect(ticks({ from: 0, to: length }, 10).length).toBeLessThanOrEqual(11);
  });
});

describe("marks", () => {
  const long = Array.from({ length: 5000 }, (_, index): AttemptView["marks"][number] => {
    return [index % 2 ? "sleep" : "call", index, index + 1, index % 2 ? 0 : 1];
  });

  it("are drawn one by one while they are few", () => {
    const attempt = attemptOf({ marks: long.slice(0, 10) });
    const { call, sleep } = bars(attempt, 10, (time) => time * 100, STRIP);
    expect([rectangles(call), rectangles(sleep)]).toEqual([5, 5]);
  });

  it("are bounded by the width when they are many", () => {
    const attempt = attemptOf({ marks: long });
    const { call, sleep } = bars(attempt, 5000, (time) => time / 5, STRIP);
    expect(rectangles(call)).toBeLessThanOrEqual(501);
    expect(rectangles(sleep)).toBeLessThanOrEqual(501);
    expect(call).toContain("v10h");
  });

  it("show the round that goes on up to now", () => {
    const attempt = attemptOf({ phase: "call", phase_since: 2, marks: [] });
    expect(bars(attempt, 5, (time) => time * 10, STRIP).call).toBe("M20 0h30v20h-30z");
  });

  it("out of sight are not drawn", () => {
    const attempt = attemptOf({ marks: long });
    const { call } = bars(attempt, 5000, (time) => (time - 4990) * 100, STRIP);
    expect(rectangles(call)).toBeLessThan(8);
  });

  it("merged by the fold keep their share of calls", () => {
    const attempt = attemptOf({ marks: [["many", 0, 10, 2.5]] });
    const { call, sleep } = bars(attempt, 10, (time) => time * 10, STRIP);
    expect(sleep).toBe("M0 0h100v20h-100z");
    expect(call).toBe("M0 15h100v5h-100z");
  });

  it("for beats are at most one in a pixel", () => {
    const beats = Array.from({ length: 5000 }, (_, index) => index / 100);
    expect(
      rectangles(
        ticksAt(
          columnsOf(beats, (time) => time * 2, STRIP),
          true,
          STRIP,
        ),
      ),
    ).toBeLessThanOrEqual(101);
  });
});

describe("the curve of silence", () => {
  const saw = {
    x: (time: number) => time * 10,
    rise: (age: number) => age,
    base: 50,
    left: 0,
    right: 1000,
  };

  it("rises with the time since the last sign and falls at the next", () => {
    const attempt = attemptOf({ started_at: 0, beats: [4, 10], last_sign: 10, longest_silence: 6 });
    const path = sawTooth(attempt, signsOf(attempt, []), 12, saw);
    expect(path).toBe("M0 50V50L40 46V50zM40 50V50L100 44V50zM100 50V50L120 48V50z");
  });

  it("counts Stream messages of the attempt as signs, and no other's", () => {
    const attempt = attemptOf({ started_at: 0, beats: [4] });
    const rows = [
      { time: 2, attempt: 1 },
      { time: 3, attempt: 2 },
    ];
    expect(signsOf(attempt, rows)).toEqual([0, 2, 4]);
  });

  it("never shows more than the longest silence, though beats were thinned out", () => {
    const attempt = attemptOf({
      started_at: 0,
      beats: [40, 80],
      last_sign: 80,
      longest_silence: 5,
    });
    const heights = sawTooth(attempt, signsOf(attempt, []), 81, saw).match(/L\d+ (\d+)/g) ?? [];
    expect(heights).toEqual(["L400 45", "L800 45", "L810 49"]);
  });

  it("is an envelope where the beats are closer than pixels", () => {
    const beats = Array.from({ length: 5000 }, (_, index) => index / 50);
    const attempt = attemptOf({ started_at: 0, beats, last_sign: 99.98, longest_silence: 0.02 });
    const path = sawTooth(attempt, signsOf(attempt, []), 100, saw);
    expect(path.length).toBeLessThan(8000);
  });
});

describe("lanes", () => {
  const log = readFileSync(join(__dirname, "../demo/logs/retry.jsonl"), "utf8").trim().split("\n");
  const view = viewOf(log.map((line) => JSON.parse(line) as Event));

  it("stand below each other without overlap", () => {
    const { lanes, height } = lanesOf(view, view.time);
    expect(lanes.map(({ label }) => label)).toEqual(["StartJob-1", "AwaitJob-1"]);
    expect(lanes[0]?.bottom).toBeLessThanOrEqual(lanes[1]?.top ?? 0);
    expect(height).toBeGreaterThan(lanes[1]?.bottom ?? 0);
  });

  it("tell why an attempt failed and where the next began", () => {
    const [first, second] = view.steps["AwaitJob-1"]?.attempts ?? [];
    expect(first && failureText(first)).toMatch(/^JobUnavailable: /);
    expect(second && resumedText(second)).toBe("from checkpoint RUNNING");
    expect(first && attemptTone(first, true)).toBe("fail");
    expect(second && attemptTone(second, true)).toBe("done");
  });

  it("are bounded, and the hidden ones are counted", () => {
    const many = newView();
    for (let index = 0; index < 500; index += 1) {
      apply(many, eventOf("heartbeat", index, { checkpoint: null }, `A-${index}`));
    }
    const { lanes, hidden } = lanesOf(many, 500);
    expect(lanes.length).toBe(MOST_LANES);
    expect(hidden).toBe(500 - MOST_LANES);
  });
});

describe("labels", () => {
  it("that would meet an earlier one are left out", () => {
    const texts = placed(
      [
        { kind: "a", x: 0, text: "first" },
        { kind: "a", x: 10, text: "second" },
        { kind: "a", x: 60, text: "third" },
        { kind: "a", x: 980, text: "beyond" },
      ],
      0,
      1000,
    );
    expect(texts.map(({ text }) => text)).toEqual(["first", "third"]);
  });

  const stretch = (number: number, from: number, to: number, room: number, failure = "") => {
    return {
      number,
      from,
      to,
      room,
      resumed: "from checkpoint 7",
      failure,
      brief: failure.slice(0, 9),
    };
  };

  it("of attempts stay within their own room and are named in one way", () => {
    const roomy = [
      stretch(1, 0, 300, 300, "TimeoutErr: the answer never came"),
      stretch(2, 300, 600, 300),
    ];
    expect(attemptLabels(roomy).map(({ text, end }) => [text, end ?? false])).toEqual([
      ["attempt 1", false],
      ["TimeoutErr: the answer never came", true],
      ["attempt 2 · from checkpoint 7", false],
    ]);
    const close = [
      stretch(1, 0, 2, 20, "TimeoutErr"),
      stretch(2, 20, 22, 120, "TimeoutErr"),
      stretch(3, 140, 141, 5),
      stretch(4, 145, 300, 155),
    ];
    const labels = attemptLabels(close);
    expect(labels.map(({ text }) => text)).toEqual([
      "#1",
      "#2 · TimeoutEr",
      "#4 · from checkpoint 7",
    ]);
    for (const { text, x } of labels) {
      const own = close.find(({ from }) => from === x - 3);
      expect(widthOf(text)).toBeLessThanOrEqual(own?.room ?? 0);
    }
  });

  it("are cut to what fits, or left out", () => {
    expect(fitted("TimeoutError", 200)).toBe("TimeoutError");
    expect(fitted("TimeoutError: the answer never came", 100)).toMatch(/^TimeoutError.*…$/);
    expect(fitted("TimeoutError", 20)).toBe("");
  });
});

describe("the fold", () => {
  it("takes 2,000 events in a fraction of a second", () => {
    const source = crowd(12, 2000);
    const view = newView();
    for (const event of source.upTo(source.begin + 30)) apply(view, event);
    const second = source.upTo(source.begin + 31);
    const begun = performance.now();
    for (const event of second) apply(view, event);
    const lanes = lanesOf(view, source.begin + 31);
    const x = (time: number) => (time - source.begin) * 30;
    for (const { step, messages } of lanes.lanes) {
      for (const attempt of step.attempts) {
        bars(attempt, view.time, x, STRIP);
        columnsOf(attempt.beats, x, STRIP);
        signsOf(attempt, messages);
      }
    }
    const spent = performance.now() - begun;
    console.log(`fold of ${second.length} events and one drawing's paths: ${spent.toFixed(1)} ms`);
    expect(spent).toBeLessThan(500);
  });
});
