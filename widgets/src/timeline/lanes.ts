/**
 * The lanes of the timeline: one per Step execution, with the places of what is in it. Below an
 * execution that waits for SubFlows come these, each with lanes of its own.
 */

import { written } from "../decisions";
import type { AttemptView, MessageRow, RunView, StepView } from "../documents";
import { measured } from "../duration";
import { failureName } from "../graph/live";
import { countsOf, type Kin, type SubFlow, subflowsOf } from "../subflows";
import { shownName, shownValue } from "../value";
import { executionName, heldText, isBackground, SUBFLOW } from "../waits";
import { fitted } from "./labels";

export const AXIS_HEIGHT = 22;
export const BAR_HEIGHT = 30;
export const MOST_LANES = 40;
const STREAM_ROW = 15;
const TEXT_ROW = 15;
const LANE_GAP = 10;
export const CHILD_ROW = 24;
const HINT_ROW = 17;
/** How far a generation stands to the right of the one above it. */
export const INDENT = 14;
/** Lanes of all SubFlows together, and of each. */
const MOST_CHILD_LANES = 40;
const MOST_OF_CHILD = 6;
/** Rows of SubFlows of one execution whose own events are not followed. */
const MOST_UNFOLLOWED = 8;
/** Room for what stands below a name, where the drawing is wide. */
const GUTTER = 150;

export interface Lane {
  /** Unlike the id, no other lane of the page has it. */
  key: string;
  id: string;
  step: StepView;
  view: RunView;
  /** The name of the SubFlow that it is an execution of. */
  owner: string;
  /** 0 for the run of the page. */
  depth: number;
  label: string;
  sub: string;
  messages: MessageRow[];
  /** Places from the top of the drawing. */
  top: number;
  bar: number;
  text: number;
  saw: { top: number; height: number } | null;
  bottom: number;
}

/** The row of a SubFlow; where it is open, its lanes follow up to `end`. */
export interface ChildRow {
  key: string;
  subflow: SubFlow;
  depth: number;
  open: boolean;
  top: number;
  bottom: number;
  end: number;
}

/** Words in the place of what is not drawn. */
export interface HintRow {
  key: string;
  text: string;
  depth: number;
  top: number;
}

export interface Lanes {
  lanes: Lane[];
  children: ChildRow[];
  hints: HintRow[];
  /** Executions before the first that is drawn. */
  hidden: number;
  height: number;
}

/** A page's SubFlows, and which of them the reader wants to see. */
export interface Family extends Kin {
  opened: ReadonlyMap<string, boolean>;
}

export const ALONE: Family = { opened: new Map() };

interface Layout extends Lanes {
  now: number;
  family: Family;
  /** Lanes of SubFlows that may still be drawn. */
  left: number;
}

export function lanesOf(view: RunView, now: number, family: Family = ALONE): Lanes {
  const layout: Layout = {
    ...{ lanes: [], children: [], hints: [], hidden: 0, height: 4 },
    ...{ now, family, left: MOST_CHILD_LANES },
  };
  const all = lanedOf(view);
  const kept = all.slice(-MOST_LANES);
  const polling = kept.filter(([, step]) => polls(step)).length;
  const saw = polling <= 2 ? 74 : polling <= 4 ? 44 : 24;
  addLanes(layout, view, kept, { owner: "", depth: 0, saw });
  layout.hidden = Math.max(all.length, scheduledOf(view)) - kept.length;
  layout.height += 4;
  return layout;
}

function lanedOf({ steps }: RunView): [string, StepView][] {
  return Object.entries(steps).filter(([, step]) => !isBackground(step));
}

/** Without a height for it, the curve of silence is left to the SubFlow's own Lab. */
type Form = Pick<Lane, "owner" | "depth"> & { saw: number };

function addLanes(layout: Layout, view: RunView, kept: [string, StepView][], form: Form): void {
  const messages = byStep(view.messages);
  for (const [id, step] of kept) {
    addLane(layout, { id, step, view, messages: messages.get(id) ?? [] }, form);
    addChildren(layout, `${view.run_id}/${id}`, step, form.depth + 1);
  }
}

type Told = Pick<Lane, "id" | "step" | "view" | "messages">;

function addLane(layout: Layout, told: Told, { owner, depth, saw: height }: Form): void {
  const { id, step, view, messages } = told;
  const top = layout.height;
  const bar = top + (messages.length > 0 ? STREAM_ROW : 4);
  const text = bar + BAR_HEIGHT + 12;
  const sawTop = bar + BAR_HEIGHT + (tellsAttempts(step) ? TEXT_ROW + 5 : 6);
  const saw = height > 0 && polls(step) ? { top: sawTop, height } : null;
  const bottom = sawTop + (saw ? height + LANE_GAP : 4);
  const places = { top, bar, text, saw, bottom };
  const texts = { label: executionName(id, 40), sub: subOf(view, step, layout.now) };
  layout.lanes.push({ ...told, key: `${view.run_id}/${id}`, owner, depth, ...places, ...texts });
  layout.height = bottom;
}

function addChildren(layout: Layout, parent: string, step: StepView, depth: number): void {
  const all = subflowsOf(step, layout.family);
  const others = all.filter(({ view }) => view === null).slice(-MOST_UNFOLLOWED);
  const shown = all.filter((one) => one.view !== null || others.includes(one));
  for (const subflow of shown) addChild(layout, `${parent}/${subflow.flowId}`, subflow, depth);
  const counts = countsOf(step);
  if (shown.length === 0 || counts.all <= shown.length) return;
  const [more, whole, ended] = [counts.all - shown.length, counts.all, counts.ended].map((count) =>
    count.toLocaleString("en"),
  );
  addHint(layout, parent, `and ${more} more SubFlows; ${ended} of ${whole} have ended`, depth);
}

function addHint(layout: Layout, key: string, text: string, depth: number): void {
  layout.hints.push({ key, text, depth, top: layout.height });
  layout.height += HINT_ROW;
}

function addChild(layout: Layout, key: string, subflow: SubFlow, depth: number): void {
  const top = layout.height;
  const open = subflow.view !== null && isOpen(subflow, layout.family);
  const row = { key, subflow, depth, open, top, bottom: top + CHILD_ROW, end: top + CHILD_ROW };
  layout.children.push(row);
  layout.height = row.bottom;
  if (!open || subflow.view === null) return;
  const all = lanedOf(subflow.view);
  const most = Math.max(0, Math.min(MOST_OF_CHILD, layout.left));
  const kept = all.slice(Math.max(0, all.length - most));
  layout.left -= kept.length;
  const hidden = Math.max(all.length, scheduledOf(subflow.view)) - kept.length;
  if (hidden > 0) {
    addHint(layout, key, `${hidden.toLocaleString("en")} earlier executions`, depth);
  }
  addLanes(layout, subflow.view, kept, { owner: subflow.name, depth, saw: 0 });
  row.end = layout.height;
}

/** What runs is open, and what failed, to show why; else what the reader has chosen. */
export function isOpen({ runId, status }: SubFlow, { opened }: Family): boolean {
  return opened.get(runId) ?? (status === "RUNNING" || status === "FAILED");
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
