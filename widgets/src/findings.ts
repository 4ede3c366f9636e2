/** What calls for the reader's attention: of the Flow, of its values, and of the run. */

import type { AttemptView, FlowGraph, Page, StepView } from "./documents";
import { duration } from "./duration";
import type { Finding, Place, Severity } from "./findingDocuments";
import { failureName } from "./graph/live";
import { shownName } from "./value";

/** So many failures in a row are no accident any more. */
export const FAILURES = 2;

export const SEVERITIES: readonly Severity[] = ["error", "warning", "note"];

/** What Python tells of the open run, and not of the Flow. */
const OF_RUN: ReadonlySet<string> = new Set(["input"]);

export function findingsOf(page: Page): Finding[] {
  return [...flowFindings(page), ...runFindings(page)];
}

/** Of the Flow and its values. */
export function flowFindings({ findings }: Page): Finding[] {
  return (findings ?? []).filter(({ code }) => !OF_RUN.has(code));
}

/** Of the run that is open. */
export function runFindings(page: Page): Finding[] {
  const told = (page.findings ?? []).filter(({ code }) => OF_RUN.has(code));
  const steps = Object.entries(page.view.steps);
  return [...told, ...steps.flatMap(([id, step]) => failing(id, step, page))];
}

/** Whether there is more to do than to watch. */
export function needsAttention(page: Page): boolean {
  return page.graph?.valid === false || findingsOf(page).some(asks);
}

/** Whether a finding asks for a change. */
export function asks({ severity }: Finding): boolean {
  return severity !== "note";
}

export function worstOf(findings: readonly Finding[]): Severity {
  return SEVERITIES.find((one) => findings.some(({ severity }) => severity === one)) ?? "note";
}

/** Tells a finding from the others of its page; stays the same while its values change. */
export function keyOf({ code, place, node, message }: Finding): string {
  const { path, cell, line, column } = place;
  return [code, node, path, cell, line > 0 ? `${line}:${column}` : message].join(" ");
}

/** `In [3]:12`, `polling.py:12`; empty where it is not known. */
export function placeText({ path, cell, line }: Place): string {
  const where = [path, cell].filter(Boolean).join(" ");
  return where && line > 0 ? `${where}:${line}` : where || (line > 0 ? `line ${line}` : "");
}

const parents = new WeakMap<FlowGraph, Map<string, string>>();

/** The box that a finding's node is drawn in: the node itself, or the Step around its card. */
export function boxOf({ node }: Finding, graph: FlowGraph | null): string {
  if (graph === null || node === "") return node;
  const known = parents.get(graph) ?? new Map(graph.nodes.map((one) => [one.id, one.parentId]));
  parents.set(graph, known);
  return known.get(node) || node;
}

/** A Step that fails again and again. */
function failing(id: string, step: StepView, { view }: Page): Finding[] {
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
  return [{ ...FAILING, message, flow: view.flow_type, node: `step:${step.step_type}` }];
}

const FAILING = {
  code: "failing",
  name: "failing-step",
  severity: "error",
  hint: "",
  place: { path: "", cell: "", line: 0, column: 0, end_line: 0, end_column: 0 },
  verdict: "found",
  fix: null,
} as const;

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
