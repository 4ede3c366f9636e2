/** A durable wait in its lane, and the timers in it. */

import type { ConditionView, Method } from "../dataDocuments";
import type { StepView } from "../documents";
import { clock } from "../duration";
import { conditionText, queueText, waitText } from "../waits";
import type { Field } from "./AttemptBar";
import { fitted } from "./labels";
import { BAR_HEIGHT, type Lane } from "./lanes";

const INSET = 8;

export function WaitBar({ lane, field }: { lane: Lane; field: Field }) {
  const { wait } = lane.step;
  if (!wait) return null;
  const { x, left, right, now } = field;
  const until = wait.ended_at ?? Math.max(now, wait.began_at);
  const [from, to] = [Math.max(left, x(wait.began_at)), Math.min(right, x(until))];
  if (to < left || from > right || until === wait.began_at) return null;
  const y = lane.bar + INSET;
  const words = waitText(lane.step, lane.view, now);
  const inside = fitted(words, to - from - 8);
  return (
    <g>
      <rect
        className="dexnb-t-wait"
        x={from}
        y={y}
        width={Math.max(2, to - from)}
        height={BAR_HEIGHT - 2 * INSET}
        rx={to - from < 8 ? 1 : 3}
      >
        <title>{`${wait.ended_at === null ? "waiting for" : "waited for"} ${words}`}</title>
      </rect>
      {inside && (
        <text className="dexnb-t-wait-text" x={from + 5} y={lane.bar + BAR_HEIGHT / 2 + 3.5}>
          {inside}
        </text>
      )}
      {wait.conditions.map((condition, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions never change their places
        <TimerMark key={index} condition={condition} lane={lane} field={field} />
      ))}
    </g>
  );
}

/** From where a method queues for its locks until it begins. */
export function QueueBar({ lane, field }: { lane: Lane; field: Field }) {
  return (
    <>
      {queuesOf(lane.step, field.now).map(([begin, end]) => {
        const [from, to] = [
          Math.max(field.left, field.x(begin)),
          Math.min(field.right, field.x(end)),
        ];
        if (to - from < 4) return null;
        const words = queueText(lane.step, lane.view);
        const y = lane.bar + BAR_HEIGHT / 2;
        const text = lane.step.state === "queued" ? fitted(words, to - from - 8) : "";
        return (
          <g key={begin}>
            <path className="dexnb-t-queue" d={`M${from} ${y - 6}v12m0-6H${to}`}>
              <title>{words}</title>
            </path>
            <text x={from + 5} y={y - 3}>
              {text}
            </text>
          </g>
        );
      })}
    </>
  );
}

function queuesOf(step: StepView, now: number): [from: number, to: number][] {
  const { locks, wait } = step;
  const stop = step.ended_at ?? now;
  const first = (method: Method) => {
    return step.attempts.find((one) => one.method === method)?.started_at ?? stop;
  };
  const queues: [number, number][] = [];
  const waits = wait !== null || step.method === "wait_for";
  const begun = step.begins_at ?? step.scheduled_at;
  if (waits && locks.wait_for) queues.push([begun, first("wait_for")]);
  const ready = waits ? (wait?.ended_at ?? stop) : begun;
  if (locks.execute) queues.push([ready, first("execute")]);
  return queues;
}

/** Where a timer fired or was skipped, or while the wait goes on will be due. */
function TimerMark(props: { condition: ConditionView; lane: Lane; field: Field }) {
  const { condition, lane, field } = props;
  const { kind, due_at: due, changed_at: changed, state } = condition;
  if (kind !== "timer" || due === null) return null;
  const open = lane.step.wait?.ended_at === null;
  if (!state && !open) return null;
  const at = field.x(state ? (changed ?? due) : due);
  if (at < field.left || at > field.right) return null;
  const top = lane.bar + 3;
  const bottom = lane.bar + BAR_HEIGHT - 3;
  const words = state
    ? conditionText(condition, lane.view, field.now)
    : `due in ${clock(Math.max(0, due - field.now))}`;
  return (
    <path
      className={state ? "dexnb-t-timer" : "dexnb-t-timer dexnb-t-timer-due"}
      d={`M${at - 4} ${top}h8l-4 5zM${at} ${top}V${bottom}`}
    >
      <title>{words}</title>
    </path>
  );
}
