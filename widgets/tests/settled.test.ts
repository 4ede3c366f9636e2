/** An attempt's paths in two parts: what is settled stays, and both together are the whole. */

import { describe, expect, it } from "vitest";
import type { AttemptView, Mark, MessageRow } from "../src/documents";
import { viewOf } from "../src/fold";
import { columnsOf } from "../src/timeline/marks";
import { cutOf, freshPart, keyOf, type Place, settledPart } from "../src/timeline/settled";
import { eventOf } from "./fakes";

const STRIP = { y: 0, height: 20, left: 0, right: 10_000 };
const PER_SECOND = 40;

const place = (perSecond = PER_SECOND): Place => ({
  x: (time) => time * perSecond,
  strip: STRIP,
  saw: { x: (time) => time * perSecond, rise: (age) => age, base: 50, left: 0, right: 10_000 },
});

/** An attempt with so many rounds, two a second. */
function attemptOf(rounds: number, change: Partial<AttemptView> = {}): AttemptView {
  const beat = eventOf("heartbeat", 0, { checkpoint: null, cleared: false });
  const made = viewOf([beat]).steps["A-1"]?.attempts[0] as AttemptView;
  const beats = Array.from({ length: rounds }, (_, index) => index / 2);
  const marks = beats.map((time): Mark => ["call", time, time + 0.25, 0.25]);
  const last = beats.at(-1) ?? 0;
  return { ...made, beats, marks, last_sign: last, longest_silence: 0.5, ...change };
}

function parts(attempt: AttemptView, now: number, messages: MessageRow[] = []) {
  const cut = cutOf(attempt);
  return {
    cut,
    key: keyOf(attempt, messages, cut, place()),
    settled: settledPart(attempt, messages, cut, place()),
    fresh: freshPart(attempt, messages, cut, now, place()),
  };
}

const message = (time: number): MessageRow => {
  return { time, step: "A-1", attempt: 1, stream: "S", value: "1" };
};
const count = (path: string, letter: string) => path.split(letter).length - 1;

describe("the two parts of an attempt", () => {
  it.each([0, 1, 63, 64, 65, 127, 128, 129, 300])("of %s rounds are the whole", (rounds) => {
    const attempt = attemptOf(rounds);
    const { settled, fresh } = parts(attempt, rounds / 2);
    const { x, strip } = place();
    expect([...settled.columns, ...fresh.columns]).toEqual(columnsOf(attempt.beats, x, strip));
    expect(count(settled.call, "M") + count(fresh.call, "M")).toBe(rounds);
  });

  it.each([
    ["tooth by tooth", PER_SECOND],
    ["as an envelope", 1],
  ])("leave the curve of silence, drawn %s, without a hole", (_, perSecond) => {
    const attempt = attemptOf(200);
    const cut = cutOf(attempt);
    const settled = settledPart(attempt, [], cut, place(perSecond)).saw;
    const fresh = freshPart(attempt, [], cut, 100, place(perSecond)).saw;
    const across = (path: string) => [...path.matchAll(/[ML]([\d.]+)/g)].map((at) => Number(at[1]));
    const [from, to] = [across(fresh)[0] ?? Number.NaN, across(settled).at(-1) ?? Number.NaN];
    expect(Math.abs(from - to)).toBeLessThanOrEqual(1);
  });

  it("stay as they are until enough is fresh", () => {
    const keys = [129, 140, 191].map((rounds) => parts(attemptOf(rounds), 100).key);
    expect(new Set(keys).size).toBe(1);
    expect(parts(attemptOf(192), 100).key).not.toBe(keys[0]);
    const drawn = [129, 191].map((rounds) => parts(attemptOf(rounds), 100).settled);
    expect(drawn[0]).toEqual(drawn[1]);
  });

  it("do not differ by what a whole page rounds", () => {
    const attempt = attemptOf(200);
    const beats = attempt.beats.map((time) => time + 4e-7);
    expect(parts({ ...attempt, beats }, 100).key).toBe(parts(attempt, 100).key);
  });

  it("are made anew at another scale, and when a message came between", () => {
    const attempt = attemptOf(200);
    const cut = cutOf(attempt);
    const key = keyOf(attempt, [], cut, place());
    expect(keyOf(attempt, [], cut, place(20))).not.toBe(key);
    expect(keyOf(attempt, [message(1)], cut, place())).not.toBe(key);
    expect(keyOf(attempt, [message(99)], cut, place())).toBe(key);
  });

  it("are one when the attempt has ended", () => {
    const { settled, fresh } = parts(attemptOf(200, { ended_at: 101 }), 500);
    expect(fresh).toEqual({ call: "", sleep: "", columns: [], saw: "" });
    expect(count(settled.call, "M")).toBe(200);
    expect(settled.saw).not.toBe("");
  });

  it("count a message as a sign in the part where it came", () => {
    const attempt = attemptOf(2, { beats: [0, 10], longest_silence: 10 });
    const [without, within] = [[], [message(5)]].map((rows) => parts(attempt, 12, rows).fresh.saw);
    expect(count(within ?? "", "M")).toBe(count(without ?? "", "M") + 1);
  });
});
