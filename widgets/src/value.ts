/**
 * Values, names and messages that come from outside, as text that is safe to show: bounded in
 * length, without characters that are unseen or turn the direction of writing. Escaping for HTML
 * is left to React.
 */

import type { Json, JsonObject } from "./documents";

export const LONGEST_VALUE = 2000;
export const LONGEST_NAME = 80;
const LONGEST_PARSED = 20_000;

// Controls but tab and newline, direction marks and isolates, line separators, lone surrogates.
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text from outside, cut at `most` characters with a note of what is left out. */
export function shown(text: unknown, most: number = LONGEST_VALUE): string {
  const whole = typeof text === "string" ? text : String(text ?? "");
  const cut = whole.length > most ? whole.slice(0, most) : whole;
  const clean = cut.replace(UNSEEN, (unseen) => {
    return `\\u${unseen.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  if (cut === whole) return clean;
  return `${clean}… ${(whole.length - most).toLocaleString("en")} more characters`;
}

/** A name from outside on one line, short enough for a label. */
export function shownName(text: unknown, most: number = LONGEST_NAME): string {
  const whole = typeof text === "string" ? text : String(text ?? "");
  const line = whole.replace(/\s+/g, " ");
  return line.length > most ? `${shown(line.slice(0, most - 1), most)}…` : shown(line, most);
}

/** A stored value, which comes as JSON text; what is no JSON is shown as it is. */
export function shownValue(text: string | null, most: number = LONGEST_VALUE): string {
  if (text === null) return "none";
  if (text.length > LONGEST_PARSED) return shown(text, most);
  try {
    const value = JSON.parse(text) as Json;
    return shown(typeof value === "string" ? word(value) : written(value), most);
  } catch {
    return shown(text, most);
  }
}

const PLAIN = /^[\p{L}_][\p{L}\p{N}_ .:/-]*$/u;
const RESERVED = new Set(["null", "true", "false", "none", "NaN", "Infinity"]);

/** A string that cannot be taken for another value stands without quotes. */
function word(value: string): string {
  return PLAIN.test(value) && !RESERVED.has(value) ? value : JSON.stringify(value);
}

function written(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const tagged = fromTag(value);
  if (tagged !== undefined) return tagged;
  const items = Object.entries(value).map(([key, item]) => {
    return `${JSON.stringify(key)}: ${written(item)}`;
  });
  return `{${items.join(", ")}}`;
}

/** What JSON lacks is stored under a tag; give it as Python would write it. */
function fromTag(value: JsonObject): string | undefined {
  const names = Object.keys(value);
  const tag = names[0];
  if (names.length !== 1 || tag === undefined) return undefined;
  const held = value[tag] as Json;
  if (tag === "$dict" && Array.isArray(held)) return writtenPairs(held);
  if (tag === "$timedelta" && Array.isArray(held)) return writtenTimedelta(held);
  if (typeof held !== "string") return undefined;
  if (tag === "$int" || tag === "$float" || tag === "$decimal") return held;
  if (tag === "$bytes") return `${writtenSize(held)} of bytes`;
  if (["$datetime", "$date", "$time", "$uuid"].includes(tag)) return held;
  return undefined;
}

function writtenPairs(pairs: Json[]): string {
  const items = pairs.map((pair) => {
    return Array.isArray(pair)
      ? `${written(pair[0] ?? null)}: ${written(pair[1] ?? null)}`
      : written(pair);
  });
  return `{${items.join(", ")}}`;
}

function writtenTimedelta(held: Json[]): string {
  const [days, seconds, microseconds] = held.map(Number);
  return `${(days ?? 0) * 86400 + (seconds ?? 0) + (microseconds ?? 0) / 1e6} s`;
}

function writtenSize(base64: string): string {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return `${((base64.length / 4) * 3 - padding).toLocaleString("en")} B`;
}
