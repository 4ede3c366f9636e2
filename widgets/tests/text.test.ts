/** Values, durations and fields as text. */

import { describe, expect, it } from "vitest";
import { brief, clock, duration, measured, timeOfDay } from "../src/duration";
import { check } from "../src/panes/legal";
import { shown, shownName, shownValue } from "../src/value";

describe("a stored value", () => {
  it.each([
    ['{"$int":"9007199254740993"}', "9007199254740993"],
    ['{"n":{"$int":"-123456789012345678901"}}', '{"n": -123456789012345678901}'],
    ['{"$float":"inf"}', "inf"],
    ['{"$decimal":"1.10"}', "1.10"],
    ['{"$bytes":"aGVsbG8="}', "5 B of bytes"],
    ['{"$datetime":"2026-11-30T12:00:00+00:00"}', "2026-11-30T12:00:00+00:00"],
    ['{"$timedelta":[1,30,500000]}', "86430.5 s"],
    ['{"$dict":[[1,"a"],[{"$int":"9007199254740993"},null]]}', '{1: "a", 9007199254740993: null}'],
    ['{"$other":"x"}', '{"$other": "x"}'],
    ['"RUNNING"', "RUNNING"],
    ['"1"', '"1"'],
    ['"null"', '"null"'],
    ["null", "null"],
    ["[1,2.5,true]", "[1, 2.5, true]"],
    ['{"state":"QUEUED","n":[]}', '{"state": "QUEUED", "n": []}'],
    ["not json", "not json"],
  ])("%s is shown as %s", (text, words) => {
    expect(shownValue(text)).toBe(words);
  });

  it("that is absent is told from a stored null", () => {
    expect(shownValue(null)).toBe("none");
    expect(shownValue("null")).toBe("null");
  });

  it("is cut, and what is left out is counted", () => {
    expect(shownValue(JSON.stringify("ab ".repeat(2000)), 10)).toMatch(/^"?ab ab.*… [\d,]+ more/);
    expect(shownValue("x".repeat(1_000_000), 10)).toBe("xxxxxxxxxx… 999,990 more characters");
  });
});

describe("text from outside", () => {
  it("shows characters that cannot be seen or turn the writing round", () => {
    expect(shown("a\u202eb\u0000c\ufeff\u2066")).toBe("a\\u202eb\\u0000c\\ufeff\\u2066");
    expect(shown("\ud800x")).toBe("\\ud800x");
    expect(shown("tab\tline\n😀é")).toBe("tab\tline\n😀é");
  });

  it("is one line in a name", () => {
    expect(shownName("a\n  b\u2028c")).toBe("a b c");
    expect(shownName("x".repeat(500)).length).toBe(80);
    expect(shownName(undefined)).toBe("");
    expect(shownName({ toString: () => "odd" })).toBe("odd");
  });
});

describe("durations", () => {
  it.each([
    [0, "0 s"],
    [0.1, "100 ms"],
    [2, "2 s"],
    [12.5, "12.5 s"],
    [60, "1 min"],
    [90, "1 min 30 s"],
    [600, "10 min"],
    [7200, "2 h"],
    [14_460, "4 h 1 min"],
    [Number.POSITIVE_INFINITY, "no limit"],
  ])("%s s as a setting is %s", (seconds, words) => {
    expect(duration(seconds)).toBe(words);
  });

  it.each([
    [0.0004, "0.4 ms"],
    [0.0421, "42 ms"],
    [0.25, "250 ms"],
    [0.9996, "1.0 s"],
    [1.94, "1.9 s"],
    [12.2, "12 s"],
    [247, "4:07"],
  ])("%s s as a measurement is %s", (seconds, words) => {
    expect(measured(seconds)).toBe(words);
  });

  it.each([
    [0.25, "0.3 s"],
    [12.2, "12 s"],
    [247, "4:07"],
    [8000, "2 h"],
  ])("%s s in a small place is %s", (seconds, words) => {
    expect(brief(seconds)).toBe(words);
  });

  it.each([
    [0, 0, "0:00"],
    [59.999, 0, "0:59"],
    [3852, 0, "1:04:12"],
    [1.25, 2, "0:01.25"],
    [-5, 0, "−0:05"],
  ])("%s s as a position with %s digits is %s", (seconds, digits, words) => {
    expect(clock(seconds, digits)).toBe(words);
  });

  it("of the wall clock are in UTC, and nothing for what is no time", () => {
    expect(timeOfDay(1_767_225_600)).toBe("00:00:00 UTC");
    expect(timeOfDay(Number.NaN)).toBe("");
    expect(timeOfDay(1e18)).toBe("");
  });
});

describe("a field", () => {
  const seconds = { label: "POLL_INTERVAL", unit: "s", minimum: 0.1, maximum: 40, step: 0.1 };
  const count = { label: "maximum_attempts", unit: "count", minimum: 1, maximum: 10, step: 1 };

  it.each([
    ["2", 2],
    [" 2.5 ", 2.5],
    ["2,5", 2.5],
    ["40", 40],
    ["1e1", 10],
  ])("takes %j", (text, value) => {
    expect(check(seconds, text)).toEqual({ value });
  });

  it.each([
    ["", "POLL_INTERVAL: empty; give 100 ms to 40 s"],
    ["x", 'POLL_INTERVAL: "x" is no number; give 100 ms to 40 s'],
    ["NaN", 'POLL_INTERVAL: "NaN" is no number; give 100 ms to 40 s'],
    ["Infinity", 'POLL_INTERVAL: "Infinity" is no number; give 100 ms to 40 s'],
    ["-1", "POLL_INTERVAL: −1 s is out of range; give 100 ms to 40 s"],
    ["41", "POLL_INTERVAL: 41 s is out of range; give 100 ms to 40 s"],
  ])("refuses %j by name, value and range", (text, error) => {
    expect(check(seconds, text)).toEqual({ error });
  });

  it("of a count takes whole numbers only", () => {
    expect(check(count, "3")).toEqual({ value: 3 });
    expect(check(count, "2.5")).toEqual({
      error: "maximum_attempts: 2.5 is no whole number; give 1 to 10",
    });
  });
});
