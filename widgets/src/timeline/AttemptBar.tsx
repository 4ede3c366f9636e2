/** One attempt in its lane: frame, rounds, heartbeats, and the curve of its silence. */

import { type ReactNode, useMemo } from "react";
import type { AttemptView } from "../documents";
import { attemptTone, BAR_HEIGHT, type Lane, messagesOf } from "./lanes";
import { areClose, type Saw, type Scale, ticksAt } from "./marks";
import { cutOf, freshPart, keyOf, type Place, settledPart } from "./settled";

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
  const tone = attemptTone(attempt, field.running);
  return (
    <Marks
      attempt={attempt}
      lane={lane}
      now={now}
      place={{ x, strip, saw: sawOf(attempt, lane, field) }}
    >
      <rect
        className={`dexnb-t-frame dexnb-stroke-t-${tone}`}
        x={from}
        y={lane.bar}
        width={Math.max(2, to - from)}
        height={BAR_HEIGHT}
        rx={to - from < 12 ? 1 : 4}
      />
    </Marks>
  );
}

/** What is settled has the same paths as before, so that nothing of it is worked out or drawn. */
function Marks(props: {
  attempt: AttemptView;
  lane: Lane;
  now: number;
  place: Place;
  children: ReactNode;
}) {
  const { attempt, lane, now, place } = props;
  const messages = messagesOf(attempt, lane);
  const cut = cutOf(attempt);
  const key = keyOf(attempt, messages, cut, place);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for all that counts
  const settled = useMemo(() => settledPart(attempt, messages, cut, place), [key]);
  const fresh = freshPart(attempt, messages, cut, now, place);
  const close = closeOf(settled.columns, fresh.columns);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the strip is in the settled part's key
  const ticks = useMemo(() => ticksAt(settled.columns, close, place.strip), [settled, close]);
  return (
    <g>
      <Paths className="dexnb-t-sleep" both={[settled.sleep, fresh.sleep]} />
      <Paths className="dexnb-t-call" both={[settled.call, fresh.call]} />
      {props.children}
      <Paths className="dexnb-t-beat" both={[ticks, ticksAt(fresh.columns, close, place.strip)]} />
      <Paths className="dexnb-t-saw" both={[settled.saw, fresh.saw]} />
    </g>
  );
}

function closeOf(settled: number[], fresh: number[]): boolean {
  const first = settled[0] ?? fresh[0] ?? 0;
  const last = fresh.at(-1) ?? settled.at(-1) ?? 0;
  return areClose(settled.length + fresh.length, first, last);
}

function Paths({ className, both }: { className: string; both: [string, string] }) {
  const [settled, fresh] = both;
  return (
    <>
      {settled && <path className={className} d={settled} />}
      {fresh && <path className={className} d={fresh} />}
    </>
  );
}

/** The height of the curve's field stands for a little more than the limit. */
export const ABOVE_LIMIT = 1.18;

function sawOf(attempt: AttemptView, lane: Lane, { x, left, right }: Field): Saw | null {
  const limit = attempt.limits?.heartbeat_timeout ?? 0;
  if (!lane.saw || limit <= 0) return null;
  const { top, height } = lane.saw;
  const most = limit * ABOVE_LIMIT;
  return {
    x,
    rise: (age) => (Math.min(age, most) / most) * height,
    base: top + height,
    left,
    right,
  };
}
