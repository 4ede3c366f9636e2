/** How a run stands, in words and in one of the colours that mean the same everywhere. */

import type { AttemptView, FlowStatus, Page, RunView, StepView } from "../documents";
import type { IconName } from "./Icon";

/** The names of the colours: each has one meaning in every pane. */
export type Tone = "quiet" | "running" | "done" | "warn" | "fail" | "recovery";

export interface Standing {
  text: string;
  tone: Tone;
  icon: IconName;
}

const ENDED: Record<Exclude<FlowStatus, "RUNNING" | "WAITING">, Standing> = {
  COMPLETED: { text: "Completed", tone: "done", icon: "check" },
  FAILED: { text: "Failed", tone: "fail", icon: "cross" },
  CANCELED: { text: "Cancelled", tone: "quiet", icon: "no" },
  TERMINATED: { text: "Terminated", tone: "quiet", icon: "stop" },
};

/** The word for how a run has ended. */
export function endedText(status: FlowStatus): string {
  return ENDED[status as keyof typeof ENDED]?.text ?? ENDED.FAILED.text;
}

export function openAttempt(step: StepView): AttemptView | undefined {
  const last = step.attempts.at(-1);
  return last && last.ended_at === null ? last : undefined;
}

export function standingOf(page: Page): Standing {
  const { view } = page;
  if (view.status === "WAITING") return { text: "Not started", tone: "quiet", icon: "circle" };
  if (view.status !== "RUNNING") return ENDED[view.status] ?? ENDED.TERMINATED;
  return runningStanding(view);
}

function runningStanding(view: RunView): Standing {
  const steps = Object.values(view.steps).filter((step) => step.ended_at === null);
  const attempts = steps.map(openAttempt).filter((attempt) => attempt !== undefined);
  if (attempts.length > 1) {
    return { text: `Running · ${attempts.length} Steps`, tone: "running", icon: "play" };
  }
  const [only] = attempts;
  if (only) {
    const text = only.attempt > 1 ? `Running · attempt ${only.attempt}` : "Running";
    return { text, tone: "running", icon: "play" };
  }
  if (steps.length > 0 && steps.every((step) => step.state === "waiting")) {
    return { text: "Waiting", tone: "running", icon: "clock" };
  }
  if (steps.some((step) => step.retry_at !== null)) {
    return { text: "Waiting for a retry", tone: "warn", icon: "again" };
  }
  return { text: "Running", tone: "running", icon: "play" };
}

/** Seconds that the run has lasted, or null if it has not begun. */
export function elapsed(view: RunView, now: number): number | null {
  if (view.started_at === null) return null;
  return Math.max(0, (view.closed_at ?? now) - view.started_at);
}
