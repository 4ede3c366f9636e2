/** What an execution waits for, and what became of it, in words. */

import type { ConditionView } from "./dataDocuments";
import type { RunView, StepView } from "./documents";
import { clock } from "./duration";
import { entryOf } from "./records";
import { shownName } from "./value";

const MOST_TOLD = 4;
export const SUBFLOW = "sys:subflow";
const TIMEOUT = "sys:timeout_handler";

/** What a Step that does not run is held up by; empty for one that runs or has ended. */
export function heldText(step: StepView, view: RunView, now: number): string {
  if (step.ended_at !== null) return "";
  if (step.state === "delayed") {
    return `begins in ${clock(Math.max(0, (step.begins_at ?? now) - now))}`;
  }
  if (step.state === "queued") return queueText(step, view);
  if (step.state !== "waiting" || step.wait === null) return "";
  return `waiting: ${waitText(step, view, now)}`;
}

export function queueText(step: StepView, view: RunView): string {
  return `queued for lock ${queuedFor(step, view).join(", ")}`;
}

/** The locks that somebody else holds, or all that it needs where nobody does. */
function queuedFor(step: StepView, view: RunView): string[] {
  const needed = step.locks[step.method] ?? [];
  const held = needed.filter((name) => entryOf(view.locks, name) !== undefined);
  return (held.length > 0 ? held : needed).map((name) => shownName(name, 30));
}

/** What is waited for; when the wait is over, what became of it. */
export function waitText(step: StepView, view: RunView, now: number): string {
  const { wait } = step;
  if (wait === null) return "nothing";
  const over = wait.ended_at !== null;
  const conditions = wait.conditions.filter(({ state }) => !over || state !== "");
  if (over && conditions.length === 0) return step.ended_at === wait.ended_at ? "ended" : "over";
  const count = over ? conditions.length : wait.count;
  const told = conditions.slice(0, MOST_TOLD).map((one) => conditionText(one, view, now));
  const more = count - told.length;
  return [...told, ...(more > 0 ? [`${more} more`] : [])].join(", ") || "nothing";
}

export function conditionText(condition: ConditionView, view: RunView, now: number): string {
  const name = shownName(condition.label, 30);
  const { kind, state, due_at: due, need } = condition;
  if (kind === "timer") {
    const timer = name ? `timer ${name}` : "timer";
    return state || due === null
      ? `${timer} ${state}`
      : `${timer} ${clock(Math.max(0, due - now))} left`;
  }
  if (kind === "subflow") return `${name || "SubFlow"} ${statusText(state) || "starts"}`;
  if (state) return `${name} ${state}`;
  const pending = entryOf(view.channels, condition.label)?.pending ?? 0;
  return `${name} ${pending} of ${need}`;
}

/** The status of a SubFlow as a word in a sentence. */
export function statusText(status: string): string {
  return shownName(status, 20).toLowerCase();
}

/** An execution by a name for people; internal Steps have one too. */
export function executionName(id: string, most: number): string {
  if (id.startsWith(`${TIMEOUT}-`)) return "handle_timeout";
  if (id.startsWith(`${SUBFLOW}-`)) return `start of SubFlow ${id.slice(SUBFLOW.length + 1)}`;
  return shownName(id, most);
}

/** Whether it starts a SubFlow without trouble: the row of that SubFlow says all. */
export function isBackground(step: StepView): boolean {
  if (step.step_type !== SUBFLOW) return false;
  return step.outcome === "dead_end" || (step.ended_at === null && step.attempts.length < 2);
}
