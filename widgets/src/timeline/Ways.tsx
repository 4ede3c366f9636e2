/** From the end of an execution to the begin of the one that it led to. */

import type { Field } from "./AttemptBar";
import { BAR_HEIGHT, type Lane } from "./lanes";

export function Ways({ lanes, field }: { lanes: Lane[]; field: Field }) {
  const byKey = new Map(lanes.map((lane) => [lane.key, lane]));
  return (
    <>
      {lanes.map((lane) => {
        const origin = byKey.get(`${lane.view.run_id}/${lane.step.from}`);
        if (!origin || origin.step.ended_at === null) return null;
        const recovery = lane.step.recovery_error !== null;
        return (
          <path
            key={lane.key}
            className={recovery ? "dexnb-t-way dexnb-t-way-recovery" : "dexnb-t-way"}
            d={way(origin, lane, field)}
          />
        );
      })}
    </>
  );
}

function way(origin: Lane, lane: Lane, { x, left, right }: Field): string {
  const from = x(origin.step.ended_at ?? 0);
  const to = x(lane.step.scheduled_at);
  if (Math.max(from, to) < left || Math.min(from, to) > right) return "";
  const down = lane.bar > origin.bar;
  const y1 = down ? origin.bar + BAR_HEIGHT : origin.bar;
  const y2 = down ? lane.bar : lane.bar + BAR_HEIGHT;
  const a = Math.max(left, from);
  const b = Math.min(right, to);
  return `M${a} ${y1}C${a} ${(y1 + y2) / 2} ${b} ${(y1 + y2) / 2} ${b} ${y2}`;
}
