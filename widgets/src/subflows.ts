/** The SubFlows of an execution: what its run was told of each, and what that one's own run tells. */

import type { SubFlowView } from "./dataDocuments";
import type { Page, RunView, StepView } from "./documents";
import { entryOf } from "./records";
import { shownName, shownValue } from "./value";
import { executionName, heldText, statusText } from "./waits";

/** The part of a page that knows SubFlows. */
export type Kin = Pick<Page, "children" | "waits_for_code">;

export interface SubFlow {
  flowId: string;
  /** Of its run; what is chosen for it is kept under this. */
  runId: string;
  told: SubFlowView;
  /** Null where its own events are not followed, or cannot be read. */
  view: RunView | null;
  /** The name of its Flow; empty where that is not known. */
  type: string;
  /** The same for people; where there are several, with its number in the wait. */
  name: string;
  status: string;
  began: number;
  ended: number | null;
  /** Why no code of the kernel can run it. */
  code: string;
}

export function subflowsOf(step: StepView, kin: Kin): SubFlow[] {
  const several = countsOf(step).all > 1;
  const found = Object.entries(step.subflows).map(([flowId, told]) => {
    return subflowOf(flowId, told, kin, several);
  });
  return found.sort((a, b) => a.told.began_at - b.told.began_at || byNumber(a.flowId, b.flowId));
}

/** Flow ids of one wait differ in the number at their end. */
function byNumber(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

function subflowOf(flowId: string, told: SubFlowView, kin: Kin, several: boolean): SubFlow {
  const { run_id: runId } = told;
  const known = entryOf(kin.children ?? {}, runId);
  const view = known && known.started_at !== null ? known : null;
  const status = (isOpenStatus(told.status) && view?.status) || told.status;
  const ended = view?.closed_at ?? (isOpenStatus(status) ? null : told.changed_at);
  const type = view?.flow_type || told.flow_type;
  const code = (status === "RUNNING" && entryOf(kin.waits_for_code ?? {}, runId)) || "";
  const began = view?.started_at ?? told.began_at;
  const name = nameOf(type, several ? flowId : "");
  return { flowId, runId, told, view, type, name, status, began, ended, code };
}

/** What may run, as far as is known. */
function isOpenStatus(status: string): boolean {
  return status === "RUNNING" || status === "";
}

function nameOf(type: string, flowId: string): string {
  const number = /-(\d{1,6})$/.exec(flowId)?.[1] ?? "";
  return `${shownName(type, 40) || "SubFlow"} ${number}`.trim();
}

/** How many SubFlows an execution has started or is to start, and how many have ended. */
export function countsOf({ wait, subflows }: StepView): { all: number; ended: number } {
  const known = Object.keys(subflows).length;
  return { all: Math.max(known, wait?.subflow_count ?? 0), ended: wait?.subflows_ended ?? 0 };
}

export type SubFlowTone = "running" | "done" | "fail" | "quiet";

export function toneOf({ status }: SubFlow): SubFlowTone {
  if (isOpenStatus(status)) return "running";
  if (status === "COMPLETED") return "done";
  return status === "FAILED" ? "fail" : "quiet";
}

const MOST_OUTPUTS = 3;

/** With what it ended; empty while it runs, or where it ended without an output. */
export function resultText({ told, view }: SubFlow, most: number): string {
  const type = told.error_type || view?.error_type || "";
  const message = told.error_message || view?.error_message || "";
  if (type || message) return shownName([type, message].filter(Boolean).join(": "), most);
  const values = told.outputs.slice(0, MOST_OUTPUTS).map((value) => {
    return shownValue(JSON.stringify(value), most);
  });
  const more = told.outputs.length - values.length;
  return [...values, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

const MOST_HELD = 3;

/** What it does now: what its Steps wait for, or which of them run. */
export function nowText({ view, status, code }: SubFlow, now: number): string {
  if (code) return `waits for code: ${shownName(code, 160)}`;
  if (view === null || status !== "RUNNING") return "";
  const active = Object.entries(view.steps).filter(([, step]) => step.ended_at === null);
  const words = active.slice(-MOST_HELD).map(([id, step]) => {
    return `${executionName(id, 40)} ${heldText(step, view, now) || "running"}`;
  });
  const more = active.length - words.length;
  return [...words, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** How a SubFlow stands, in one line. */
export function standingText(subflow: SubFlow): string {
  const { status, code } = subflow;
  return [statusText(status) || "starts", code && "waits for code", resultText(subflow, 80)]
    .filter(Boolean)
    .join(" · ");
}

/** How the Lab of a SubFlow is opened. */
export function labCall({ flowId, type }: Pick<SubFlow, "flowId" | "type">): string {
  const id = JSON.stringify(shownName(flowId, 200));
  // Without its runtime the call would look in the default file, where most runs are not.
  return `dexnb.lab(${shownName(type, 60) || "TheFlow"}, ${id}, runtime=runtime)`;
}
