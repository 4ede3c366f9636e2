/** The lanes of the timeline: one per Step execution, with the places of what is in it. */

import { written } from "../decisions";
import type { AttemptView, MessageRow, RunView, StepView } from "../documents";
import { measured } from "../duration";
import { failureName } from "../graph/live";
import { shownName, shownValue } from "../value";
import {
  executionName,
  heldText,
  isBackground,
  SUBFLOW,
  type SubFlowRow,
  subflowsOf,
} from "../waits";
import { fitted } from "./labels";

export const AXIS_HEIGHT = 22;
export const BAR_HEIGHT = 30;
export const MOST_LANES = 40;
const STREAM_ROW = 15;
const TEXT_ROW = 15;
const LANE_GAP = 10;
export const SUBFLOW_ROW = 17;
const MOST_SUBFLOWS = 8;
/** Room for what stands below a name, where the drawing is wide. */
const GUTTER = 150;

export interface Lane {
  id: string;
  step: StepView;
  view: RunView;
  label: string;
  sub: string;
  messages: MessageRow[];
  /** Places from the top of the drawing. */
  top: number;
  bar: number;
  text: number;
  saw: { top: number; height: number } | null;
  subflows: SubFlowRow[];
  subflowTop: number;
  bottom: number;
}

export interface Lanes {
  lanes: Lane[];
  /** Executions before the first that is drawn. */
  hidden: number;
  height: number;
}

export function lanesOf(view: RunView, now: number): Lanes {
  const all = Object.entries(view.steps).filter(([, step]) => !isBackground(step));
  const kept = all.slice(-MOST_LANES);
  const messages = byStep(view.messages);
  const polling = kept.filter(([, step]) => polls(step)).length;
  const sawHeight = polling <= 2 ? 74 : polling <= 4 ? 44 : 24;
  let top = 4;
  const lanes = kept.map(([id, step]): Lane => {
    const own = messages.get(id) ?? [];
    const bar = top + (own.length > 0 ? STREAM_ROW : 4);
    const text = bar + BAR_HEIGHT + 12;
    const sawTop = bar + BAR_HEIGHT + (tellsAttempts(step) ? TEXT_ROW + 5 : 6);
    const saw = polls(step) ? { top: sawTop, height: sawHeight } : null;
    const subflows = subflowsOf(step).slice(-MOST_SUBFLOWS);
    const subflowTop = sawTop + (saw ? sawHeight + 4 : 0);
    const bottom = sawTop + (saw ? sawHeight + LANE_GAP : 4) + subflows.length * SUBFLOW_ROW;
    const places = { top, bar, text, saw, subflowTop, bottom };
    top = bottom;
    const texts = { label: executionName(id, 40), sub: subOf(view, step, now) };
    return { id, step, view, messages: own, subflows, ...places, ...texts };
  });
  const scheduled = scheduledOf(view);
  const hidden = Math.max(all.length, scheduled) - kept.length;
  return { lanes, hidden, height: top + 4 };
}

/** How many executions there were that can have a lane. */
function scheduledOf({ executions, steps }: RunView): number {
  const all = Object.values(executions).reduce((sum, count) => sum + count, 0);
  const kept = Object.values(steps).filter((step) => step.step_type === SUBFLOW);
  const shown = kept.filter((step) => !isBackground(step)).length;
  return all - (Object.hasOwn(executions, SUBFLOW) ? (executions[SUBFLOW] as number) : 0) + shown;
}

/** When the machine slept: the seconds before each note of it, the same sleep once. */
export function sleepsOf(view: RunView): [from: number, to: number][] {
  const found = new Map<number, [number, number]>();
  for (const { kind, time, payload } of view.notes) {
    const seconds = payload?.seconds;
    if (kind !== "suspended" || typeof seconds !== "number") continue;
    found.set(Math.round(time), [time - seconds, time]);
  }
  return [...found.values()];
}

/** Whether there is more to say of the attempts than that there was one. */
export function tellsAttempts({ attempts }: StepView): boolean {
  const [first] = attempts;
  if (attempts.length > 1 || first?.method === "wait_for") return true;
  return first !== undefined && (first.resumed_from !== null || failureText(first) !== "");
}

/** Whether an execution waits in rounds or shows signs of life: its silence is worth a curve. */
function polls(step: StepView): boolean {
  return step.attempts.some(({ method, beat_count: beats, rounds, phase, marks }) => {
    if (method === "wait_for" || step.wait) return beats > 0;
    return beats > 0 || rounds > 1 || phase === "sleep" || marks.some(([kind]) => kind !== "call");
  });
}

/** The messages that an attempt may have written: both methods have an attempt 1. */
export function messagesOf(attempt: AttemptView, { step, messages }: Lane): MessageRow[] {
  if (step.attempts[0]?.method !== "wait_for") return messages;
  const end = attempt.ended_at ?? Number.POSITIVE_INFINITY;
  return messages.filter(({ time }) => attempt.started_at <= time && time <= end);
}

function byStep(rows: MessageRow[]): Map<string, MessageRow[]> {
  const found = new Map<string, MessageRow[]>();
  for (const row of rows) {
    const own = found.get(row.step);
    if (own) own.push(row);
    else found.set(row.step, [row]);
  }
  return found;
}

function heldOf(view: RunView, step: StepView, now: number): string {
  if (view.status !== "RUNNING") return "";
  if (step.state === "queued" || step.state === "delayed")
    return fitted(heldText(step, view, now), GUTTER);
  return step.state;
}

function subOf(view: RunView, step: StepView, now: number): string {
  const last = step.attempts.at(-1);
  const held = heldOf(view, step, now);
  if (held) return held;
  if (!last) return step.ended_at === null && view.status === "RUNNING" ? "waiting" : "";
  const most = last.limits?.maximum_attempts ?? 0;
  if (step.ended_at === null) return `${attemptName(last)}${most > 0 ? ` of ${most}` : ""}`;
  const lasted = measured((step.ended_at ?? now) - (step.attempts[0]?.started_at ?? now));
  const one = last.attempt === 1;
  const count =
    last.method === "wait_for" ? attemptName(last) : `${last.attempt} attempt${one ? "" : "s"}`;
  return `${count} · ${lasted}`;
}

/** An attempt by its number, and by its method where that is not execute. */
export function attemptName({ attempt, method }: AttemptView): string {
  if (method !== "wait_for") return `attempt ${attempt}`;
  return attempt === 1 ? "wait_for" : `wait_for ${attempt}`;
}

export type AttemptTone = "running" | "done" | "fail" | "quiet";

export function attemptTone(attempt: AttemptView, running: boolean): AttemptTone {
  if (attempt.ended_at === null) return running ? "running" : "quiet";
  if (attempt.failure || attempt.outcome === "failed" || attempt.outcome === "lost") return "fail";
  if (attempt.outcome === "force_fail") return "fail";
  return DECISIONS.has(attempt.outcome) ? "done" : "quiet";
}

const DECISIONS = new Set([
  ...["next", "graceful_complete", "force_complete", "force_complete_if_channels_empty"],
  ...["dead_end", "wait"],
]);

/** What stands at the end of a failed attempt. */
export function failureText(attempt: AttemptView): string {
  if (attempt.failure) {
    const name = failureName(attempt.failure);
    const detail = shownName(attempt.failure.detail, 60);
    return detail && detail !== name ? `${name}: ${detail}` : name;
  }
  if (attempt.outcome === "lost") return "engine gone";
  return attempt.outcome === "failed" ? "failed" : "";
}

/** The same where there is little room. */
export function failureBrief(attempt: AttemptView): string {
  return attempt.failure ? failureName(attempt.failure) : failureText(attempt);
}

/** Where an attempt went on, if not at the begin. */
export function resumedText({ resumed_from: from }: AttemptView): string {
  return from === null ? "" : `from checkpoint ${shownValue(from, 40)}`;
}

/** What stands behind the end of an execution. */
export function outcomeText(step: StepView): string {
  if (step.ended_at === null) return "";
  return written(step.outcome);
}
