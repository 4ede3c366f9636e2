/** The knobs that the demo shows. */

import type { Knob } from "../src/documents";

const knob = (name: string, unit: string, value: number, maximum: number, more: Partial<Knob>) => ({
  name,
  label: name,
  unit,
  value,
  default: value,
  minimum: unit === "s" ? 0.5 : 1,
  maximum,
  step: unit === "s" ? 0.5 : 1,
  live: true,
  note: "",
  legal: true,
  error: "",
  ...more,
});

export const KNOBS: Knob[] = [
  knob("POLL_INTERVAL", "s", 12, 30, { default: 10, note: "at most 15 s = 30 − 10 − 5" }),
  knob("JOB_CALL_TIMEOUT", "s", 5, 20, { note: "at most 8 s = 30 − 10 − 12" }),
  knob("heartbeat_timeout", "s", 30, 120, { minimum: 10, live: false, note: "12 + 5 ≤ 30 − 10" }),
  knob("MAX_JOB_WAIT", "s", 600, 3600, { step: 10, live: false, note: "worst case 20 min" }),
  knob("maximum_attempts", "count", 3, 10, { live: false, note: "1 s, 2 s between attempts" }),
];
