/** One attempt in its lane: frame, rounds, heartbeats, and the curve of its silence. */

import type { AttemptView } from "../documents";
import { attemptTone, BAR_HEIGHT, type Lane } from "./lanes";
import { bars, beatTicks, type Scale, sawTooth, signsOf } from "./marks";

export interface Field {
  x: Scale;
  left: number;
  right: number;
  now: number;
  running: boolean;
  margin: number;
}

const INSET = 5;

export function AttemptBar({
  attempt,
  lane,
  field,
}: {
  attempt: AttemptView;
  lane: Lane;
  field: Field;
}) {
  const { x, left, right, now } = field;
  const end = attempt.ended_at ?? Math.max(now, attempt.started_at);
  const [from, to] = [Math.max(left, x(attempt.started_at)), Math.min(right, x(end))];
  if (to < left || from > right) return null;
  const strip = { y: lane.bar + INSET, height: BAR_HEIGHT - 2 * INSET, left, right };
  const { call, sleep } = bars(attempt, now, x, strip);
  const tone = attemptTone(attempt, field.running);
  return (
    <g>
      <path className="dexnb-t-sleep" d={sleep} />
      <path className="dexnb-t-call" d={call} />
      <rect
        className={`dexnb-t-frame dexnb-stroke-t-${tone}`}
        x={from}
        y={lane.bar}
        width={Math.max(2, to - from)}
        height={BAR_HEIGHT}
        rx={4}
      />
      <path className="dexnb-t-beat" d={beatTicks(attempt.beats, x, strip)} />
      {lane.saw && <SawTooth attempt={attempt} lane={lane} field={field} />}
    </g>
  );
}

/** The height of the curve's field stands for a little more than the limit. */
export const ABOVE_LIMIT = 1.18;

function SawTooth({ attempt, lane, field }: { attempt: AttemptView; lane: Lane; field: Field }) {
  const limit = attempt.limits?.heartbeat_timeout ?? 0;
  if (!lane.saw || limit <= 0) return null;
  const { top, height } = lane.saw;
  const path = sawTooth(attempt, signsOf(attempt, lane.messages), field.now, {
    x: field.x,
    rise: (age) => (Math.min(age, limit * ABOVE_LIMIT) / (limit * ABOVE_LIMIT)) * height,
    base: top + height,
    left: field.left,
    right: field.right,
  });
  return <path className="dexnb-t-saw" d={path} />;
}
