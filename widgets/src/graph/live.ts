/** How a Step stands now: what its box shows of the run. */

import type { AttemptView, Failure, RunView, StepView } from "../documents";
import { measured } from "../duration";
import { openAttempt } from "../lab/status";
import { shownName } from "../value";
import { heldText } from "../waits";

export type LiveState =
  | "idle"
  | "waiting"
  | "running"
  | "backing off"
  | "done"
  | "failed"
  | "cancelled";

export interface Live {
  state: LiveState;
  text: string;
  executions: number;
  step: StepView | null;
  attempt: AttemptView | null;
  open: boolean;
}

const IDLE: Live = {
  state: "idle",
  text: "not reached",
  executions: 0,
  step: null,
  attempt: null,
  open: false,
};

/** Look at the newest execution of a Step, one that runs before one that has ended. */
export function liveOf(view: RunView, stepType: string, now: number): Live {
  const found = Object.values(view.steps).filter((step) => step.step_type === stepType);
  const last = found.at(-1);
  if (!last) return IDLE;
  const active = found.filter((one) => one.ended_at === null);
  const step = active.findLast((one) => openAttempt(one)) ?? active.at(-1) ?? last;
  const attempt = step.attempts.at(-1) ?? null;
  const open = view.status === "RUNNING" && openAttempt(step) !== undefined;
  const state = stateOf(view, step, open);
  const several = view.status === "RUNNING" && active.length > 1;
  const held = view.status === "RUNNING" && !open ? heldText(step, view, now) : "";
  const text = several ? countsOf(view, active) : held || wordsOf(state, step, attempt, now);
  // Counts of several stand for themselves.
  const executions = several ? 1 : Math.max(found.length, executionsOf(view, stepType));
  return { state, text, executions, step, attempt, open };
}

/** Several executions at once: how many of them do what. */
function countsOf(view: RunView, active: StepView[]): string {
  const counts = new Map<string, number>();
  for (const step of active) {
    const state = stateOf(view, step, openAttempt(step) !== undefined);
    const word = state === "waiting" ? step.state || "to begin" : state;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, count]) => `${count.toLocaleString("en")} ${word}`).join(", ");
}

/** How many executions of a Step there were, also those whose details are no longer kept. */
function executionsOf({ executions }: RunView, stepType: string): number {
  return Object.hasOwn(executions, stepType) ? (executions[stepType] as number) : 0;
}

function stateOf(view: RunView, step: StepView, open: boolean): LiveState {
  if (step.ended_at !== null) {
    if (step.outcome === "failed") return "failed";
    if (step.outcome === "force_fail") return "failed";
    return step.outcome === "cancelled" ? "cancelled" : "done";
  }
  if (view.status !== "RUNNING") return "cancelled";
  if (open) return "running";
  if (step.state === "waiting") return "waiting";
  return step.retry_at !== null ? "backing off" : "waiting";
}

function wordsOf(
  state: LiveState,
  step: StepView,
  attempt: AttemptView | null,
  now: number,
): string {
  switch (state) {
    case "running":
      return `${attempt?.method === "wait_for" ? "wait_for" : "running"} · ${measured(now - (attempt?.started_at ?? now))}`;
    case "backing off": {
      const left = Math.max(0, (step.retry_at ?? now) - now);
      return `attempt ${(attempt?.attempt ?? 0) + 1} in ${measured(left)}`;
    }
    case "done":
      return `done in ${measured((step.ended_at ?? now) - begun(step))}`;
    case "failed":
      return step.outcome === "force_fail" ? "failed the Flow" : `failed: ${reason(attempt)}`;
    case "cancelled":
      return "cancelled";
    default:
      return "waiting for its first attempt";
  }
}

function begun(step: StepView): number {
  return step.attempts[0]?.started_at ?? step.scheduled_at;
}

function reason(attempt: AttemptView | null): string {
  return attempt?.failure ? failureName(attempt.failure) : attempt?.outcome || "no attempt left";
}

/** The last part of an error's full name: `builtins.ValueError` is a ValueError to people. */
export function failureName(failure: Failure): string {
  return shownName(failure.error_type.split(".").at(-1) || failure.error_type, 40);
}

export interface RoundTimes {
  rounds: number;
  phase: AttemptView["phase"];
  call: number | null;
  sleep: number | null;
}

/** The last call and the last sleep of an attempt; the one that goes on counts up to `now`. */
export function roundTimes(attempt: AttemptView, now: number): RoundTimes {
  const last = (kind: "call" | "sleep") => {
    if (attempt.phase === kind) return Math.max(0, now - attempt.phase_since);
    const mark = attempt.marks.findLast((one) => one[0] === kind);
    return mark ? mark[2] - mark[1] : null;
  };
  return {
    rounds: attempt.rounds,
    phase: attempt.phase,
    call: last("call"),
    sleep: last("sleep"),
  };
}

const KINDS: Record<string, string> = {
  next: "goTo",
  graceful_complete: "gracefulComplete",
  force_complete: "forceComplete",
  force_fail: "forceFail",
  dead_end: "deadEnd",
  force_complete_if_channels_empty: "forceCompleteIfChannelsEmpty",
};

/** Whether a decision card is what the execution decided. */
export function wasTaken(
  live: Live,
  outcome: { type: string; targets: string[] },
  taken: RunView["taken"],
): boolean {
  const { step } = live;
  if (!step || step.ended_at === null) return false;
  if (step.outcome !== "next") return KINDS[step.outcome] === outcome.type;
  if (!outcome.type.startsWith("goTo")) return false;
  return outcome.targets.some((target) => {
    return taken.some(([from, to, kind]) => {
      return from === step.step_type && `step:${to}` === target && kind === "transition";
    });
  });
}
