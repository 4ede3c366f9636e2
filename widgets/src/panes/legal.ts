/** What a number field may hold. */

import type { Knob } from "../documents";
import { duration, short } from "../duration";

export type Range = Pick<Knob, "label" | "unit" | "minimum" | "maximum" | "step">;
export type Checked = { value: number } | { error: string };

/** Read what was typed: a legal value, or why it is none and what is. */
export function check(range: Range, text: string): Checked {
  const clean = text.trim().replace(",", ".");
  const value = clean === "" ? Number.NaN : Number(clean);
  const legal = `give ${amount(range.minimum, range.unit)} to ${amount(range.maximum, range.unit)}`;
  if (!Number.isFinite(value)) {
    return {
      error: `${range.label}: ${clean ? `"${clean.slice(0, 20)}" is no number` : "empty"}; ${legal}`,
    };
  }
  if (range.unit === "count" && !Number.isInteger(value)) {
    return { error: `${range.label}: ${clean.slice(0, 20)} is no whole number; ${legal}` };
  }
  if (value < range.minimum || value > range.maximum) {
    return { error: `${range.label}: ${amount(value, range.unit)} is out of range; ${legal}` };
  }
  return { value };
}

export function amount(value: number, unit: string): string {
  return unit === "s" ? duration(value) : short(value);
}
