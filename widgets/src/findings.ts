/** What calls for the reader's attention: of the graph, of the values, and of the run. */

import type { AttemptView, Diagnostic, Page, StepView } from "./documents";
import { duration } from "./duration";
import { failureName } from "./graph/live";
import { shownName } from "./value";

/** So many failures in a row are no accident any more. */
export const FAILURES = 2;

export function findingsOf(page: Page): Diagnostic[] {
  return [
    ...(page.graph?.diagnostics ?? []),
    ...(page.findings ?? []),
    ...Object.entries(page.view.steps).flatMap(([id, step]) => failing(id, step, page)),
  ];
}

/** Whether there is more to do than to watch. */
export function needsAttention(page: Page): boolean {
  const { graph, findings } = page;
  if (graph && (!graph.valid || graph.diagnostics.some((one) => one.severity === "error"))) {
    return true;
  }
  return (
    (findings ?? []).length > 0 ||
    Object.entries(page.view.steps).some(([id, step]) => failing(id, step, page).length > 0)
  );
}

/** A Step that fails again and again. */
function failing(id: string, step: StepView, { view }: Page): Diagnostic[] {
  if (step.ended_at !== null || view.status !== "RUNNING") return [];
  const method = step.attempts.at(-1)?.method;
  const own = step.attempts.filter((attempt) => attempt.method === method);
  const ended = own.filter((attempt) => attempt.ended_at !== null);
  const good = ended.findLast((attempt) => !hasFailed(attempt));
  const failed = ended.filter((attempt) => attempt.attempt > (good?.attempt ?? 0));
  const last = failed.at(-1);
  // Of many attempts only the newest are kept: their numbers tell how many there were.
  const count = last ? last.attempt - (good?.attempt ?? 0) : 0;
  if (!last || count < FAILURES) return [];
  const message =
    `${shownName(id, 60)} has failed ${count.toLocaleString("en")} times in a row, last with ` +
    `${causeOf(last)}. ${bounds(last)} Correct the Step and run its cell again: the next attempt ` +
    "takes the new code. Or press Stop.";
  return [{ code: "failing", severity: "error", message, line: 0 }];
}

function hasFailed(attempt: AttemptView): boolean {
  return attempt.failure !== null || attempt.outcome === "failed" || attempt.outcome === "lost";
}

function causeOf({ failure, outcome }: AttemptView): string {
  if (failure === null) return outcome === "lost" ? "the loss of its engine" : "a failure";
  return `${failureName(failure)}: ${shownName(failure.detail, 200)}`;
}

function bounds({ limits }: AttemptView): string {
  const most = limits?.maximum_attempts ?? 0;
  const total = limits?.total_duration ?? 0;
  const until = total > 0 ? `retries go on for ${duration(total)}` : "retries go on";
  if (most > 0) return `It is tried ${most} times at most, and ${until}.`;
  return `maximum_attempts is 0, no limit: ${until}.`;
}
