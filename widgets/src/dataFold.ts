/**
 * The fold of Attributes, Channels, locks, waits and SubFlows: the twin of
 * `dexnb.model.data_view`, with equal results on the same logs.
 */

import type {
  ChannelView,
  ConditionView,
  Method,
  RunData,
  StepData,
  SubFlowView,
} from "./dataDocuments";
import type { Event, Failure, Json, JsonObject, RunView, StepView } from "./documents";
import { entryOf, put, putNewest } from "./records";

export const MOST_NAMES = 200;
export const MOST_IDS = 500;
export const MOST_CONDITIONS = 50;
export const MOST_SUBFLOWS = 64;
export const MOST_OUTPUTS = 20;

export function newData(): RunData {
  return { attributes: {}, channels: {}, published: 0, locks: {} };
}

export function newStepData(): StepData {
  return { method: "execute", state: "", begins_at: null, locks: {}, wait: null, subflows: {} };
}

/** Fold one event in; give what is to be noted of it in plain words, or an empty text. */
export function applyData(view: RunView, event: Event): string {
  const { kind, payload, step_execution_id: key } = event;
  const step = entryOf(view.steps, key);
  if (ENDS.has(kind)) unlock(view, (payload.request_id as string | undefined) ?? key);
  if (step) STEP.get(kind)?.(step, event);
  RUN.get(kind)?.(view, event);
  if (payload.writes) write(view, payload.writes as unknown as Writes);
  return NOTES.get(kind)?.(payload) ?? "";
}

interface Writes {
  attributes?: JsonObject;
  deleted?: string[];
  published?: [channel: string, value: Json][];
  removed?: [channel: string, id: string][];
}

function flowStarted(view: RunView, { payload }: Event): void {
  for (const [name, value] of Object.entries((payload.attributes ?? {}) as JsonObject)) {
    putNewest(view.attributes, name, value, MOST_NAMES);
  }
}

function locksTaken(view: RunView, { payload, step_execution_id: key }: Event): void {
  const holder = (payload.request_id as string) || key;
  for (const name of payload.locks as string[]) putNewest(view.locks, name, holder, MOST_NAMES);
}

function unlock(view: RunView, holder: string): void {
  for (const [name, other] of Object.entries(view.locks)) {
    if (other === holder) delete view.locks[name];
  }
}

function write(view: RunView, writes: Writes): void {
  for (const [name, value] of Object.entries(writes.attributes ?? {})) {
    putNewest(view.attributes, name, value, MOST_NAMES);
  }
  for (const name of writes.deleted ?? []) delete view.attributes[name];
  for (const [channel, value] of writes.published ?? []) publish(view, channel, value);
  for (const [channel, id] of writes.removed ?? []) drop(view, channel, id);
}

function channelPublished(view: RunView, { payload }: Event): void {
  for (const value of payload.values as Json[]) publish(view, payload.channel as string, value);
}

function consumed(view: RunView, { payload }: Event): void {
  for (const [channel, messages] of Object.entries(messagesOf(payload))) {
    for (const [id] of messages) drop(view, channel, id);
  }
}

function messagesOf(payload: Event["payload"]): Record<string, [id: string, value: Json][]> {
  const { messages } = payload.results as { messages?: Json };
  return (messages ?? {}) as unknown as Record<string, [string, Json][]>;
}

function publish(view: RunView, channel: string, value: Json): void {
  view.published += 1;
  const known = entryOf(view.channels, channel);
  const made: ChannelView = {
    pending: (known?.pending ?? 0) + 1,
    published: (known?.published ?? 0) + 1,
    newest: value,
    ids: [...(known?.ids ?? []), view.published].slice(-MOST_IDS),
  };
  putNewest(view.channels, channel, made, MOST_NAMES);
}

/** Count a message out, unless somebody else has consumed it before. */
function drop(view: RunView, channel: string, id: string): void {
  const known = entryOf(view.channels, channel);
  if (!known || !/^[0-9]+$/.test(id)) return;
  const { ids } = known;
  const place = ids.indexOf(Number(id));
  if (place >= 0) ids.splice(place, 1);
  else if (known.pending === ids.length || (ids[0] !== undefined && Number(id) > ids[0])) return;
  known.pending -= 1;
}

function enter(step: StepView, method: Method): void {
  step.method = method;
  step.state = step.locks[method] ? "queued" : "";
}

interface Plan {
  wait_for: boolean;
  locks: Record<Method, string[]>;
}

function stepScheduled(step: StepView, { payload, time }: Event): void {
  const plan = (payload.plan ?? null) as unknown as Plan | null;
  if (plan !== null) follow(step, plan);
  if (payload.delay) {
    step.state = "delayed";
    step.begins_at = time + (payload.delay as number);
  }
}

function follow(step: StepView, plan: Plan): void {
  step.locks = {};
  for (const [method, names] of Object.entries(plan.locks)) {
    if (names.length > 0) step.locks[method as Method] = [...names];
  }
  enter(step, plan.wait_for ? "wait_for" : "execute");
}

interface Condition {
  kind: ConditionView["kind"];
  id: string;
  seconds: number;
  channel: string;
  at_least: number;
  start: { flow_type?: string };
}

function waitStarted(step: StepView, { payload, time }: Event): void {
  const { kind, conditions } = payload.wait as unknown as {
    kind: "all_of";
    conditions: Condition[];
  };
  step.state = "waiting";
  step.wait = {
    kind,
    began_at: time,
    ended_at: null,
    count: conditions.length,
    subflow_count: conditions.filter((one) => one.kind === "subflow").length,
    subflows_ended: 0,
    conditions: conditions.slice(0, MOST_CONDITIONS).map((one) => conditionOf(one, time)),
  };
}

function conditionOf(condition: Condition, time: number): ConditionView {
  const { kind, id } = condition;
  const plain = { kind, due_at: null, need: 0, state: "", changed_at: null, flow_id: "" };
  if (kind === "timer") return { ...plain, label: id, due_at: time + condition.seconds };
  if (kind === "channel") return { ...plain, label: condition.channel, need: condition.at_least };
  return { ...plain, label: condition.start.flow_type ?? "" };
}

function setCondition(step: StepView, event: Event, state: string, flowId = ""): void {
  const condition = step.wait?.conditions[event.payload.condition as number];
  if (condition) Object.assign(condition, { state, changed_at: event.time, flow_id: flowId });
}

function timerFired(step: StepView, event: Event): void {
  setCondition(step, event, event.payload.skipped ? "skipped" : "fired");
}

interface Result {
  flow_id?: string;
  run_id?: string;
  status?: string;
  completions?: { output?: Json }[];
  error_type?: string;
  error_message?: string;
}

function subflowChanged(step: StepView, event: Event): void {
  const result = event.payload.result as unknown as Result;
  const { status = "", flow_id: flowId = "" } = result;
  setCondition(step, event, status, flowId);
  if (status !== "RUNNING" && step.wait) step.wait.subflows_ended += 1;
  if (flowId) putSubFlow(step, event, flowId, result);
}

function putSubFlow(step: StepView, event: Event, flowId: string, result: Result): void {
  const {
    run_id = "",
    status = "",
    completions = [],
    error_type = "",
    error_message = "",
  } = result;
  const known = entryOf(step.subflows, flowId);
  const ends = completions.filter((end) => Object.hasOwn(end, "output"));
  const told: SubFlowView = {
    run_id,
    flow_type: step.wait?.conditions[event.payload.condition as number]?.label ?? "",
    status,
    began_at: known?.run_id === run_id ? known.began_at : event.time,
    changed_at: event.time,
    outputs: ends.slice(0, MOST_OUTPUTS).map((end) => end.output as Json),
    error_type,
    error_message,
  };
  delete step.subflows[flowId];
  put(step.subflows, flowId, told);
  const entries = Object.entries(step.subflows);
  if (entries.length <= MOST_SUBFLOWS) return;
  const [oldest] = entries.find(([, each]) => each.status !== "RUNNING") ?? entries[0] ?? [""];
  delete step.subflows[oldest];
}

function waitEnded(step: StepView, event: Event): void {
  endWait(step, event);
  const messages = messagesOf(event.payload);
  for (const condition of step.wait?.conditions ?? []) {
    if (condition.kind === "channel" && Object.hasOwn(messages, condition.label)) {
      Object.assign(condition, { state: "consumed", changed_at: event.time });
    }
  }
  enter(step, "execute");
}

function waitFailed(step: StepView, { payload }: Event): void {
  step.recovery_error = payload.failure as unknown as Failure;
  enter(step, "execute");
}

function endWait(step: StepView, { time }: Event): void {
  step.state = "";
  if (step.wait && step.wait.ended_at === null) step.wait.ended_at = time;
}

/** A page that was saved before there was such data, or that was made by hand, gets it empty. */
export function withData(view: RunView): void {
  for (const [name, value] of Object.entries(newData())) {
    if (!Object.hasOwn(view, name)) put(view as unknown as Record<string, unknown>, name, value);
  }
  for (const step of Object.values(view.steps)) {
    if (!Object.hasOwn(step, "subflows")) Object.assign(step, newStepData());
    for (const [flowId, told] of Object.entries(step.subflows as Record<string, unknown>)) {
      if (typeof told === "string") put(step.subflows, flowId, oldSubFlow(step, flowId, told));
    }
  }
}

/** There was a time when no more than its status was kept. */
function oldSubFlow({ wait, scheduled_at }: StepView, flowId: string, status: string): SubFlowView {
  const condition = wait?.conditions.find((one) => one.flow_id === flowId);
  const began_at = wait?.began_at ?? scheduled_at;
  const changed_at = condition?.changed_at ?? began_at;
  const flow_type = condition?.label ?? "";
  const told = { run_id: "", flow_type, status, began_at, changed_at };
  return { ...told, outputs: [], error_type: "", error_message: "" };
}

type Payload = Event["payload"];

function failedNote({ failure }: Payload): string {
  const { error_type, detail } = failure as unknown as Failure;
  return `wait_for has failed, execute follows without it: ${error_type}: ${detail}`;
}

function travelNote({ events, reason }: Payload): string {
  const why = reason ? `: ${reason}` : "";
  return `goes on behind the first ${events} events of an earlier run${why}`;
}

function timeoutNote({ policy }: Payload): string {
  const what = TIMEOUTS.get(policy as string) ?? "it fails";
  return `the Flow ran longer than its timeout: ${what}`;
}

const TIMEOUTS = new Map([
  ["CANCEL", "it is cancelled"],
  ["HANDLER", "handle_timeout runs"],
]);

/** Kinds behind which whom they are about holds no lock. */
const ENDS = new Set([
  ...["wait_started", "wait_failed", "step_completed", "step_failed", "step_cancelled"],
  ...["rpc_completed", "rpc_refused"],
]);

const RUN = new Map<string, (view: RunView, event: Event) => void>([
  ["flow_started", flowStarted],
  ["locks_taken", locksTaken],
  ["rpc_started", locksTaken],
  ["channel_published", channelPublished],
  ["wait_ended", consumed],
]);

const STEP = new Map<string, (step: StepView, event: Event) => void>([
  ["step_scheduled", stepScheduled],
  ["delay_over", (step) => enter(step, step.method)],
  [
    "locks_taken",
    (step) => {
      step.state = "";
    },
  ],
  ["wait_started", waitStarted],
  ["timer_fired", timerFired],
  ["subflow_changed", subflowChanged],
  ["wait_ended", waitEnded],
  ["wait_failed", waitFailed],
  ["step_completed", endWait],
  ["step_failed", endWait],
  ["step_cancelled", endWait],
]);

const NOTES = new Map<string, (payload: Payload) => string>([
  ["wait_failed", failedNote],
  ["rpc_completed", ({ name }) => `RPC ${name} has run`],
  ["rpc_refused", ({ reason }) => `an RPC was refused, ${reason}`],
  ["parent_added", () => "another run waits for this one too"],
  ["config_changed", ({ config }) => `changed: ${Object.keys(config as JsonObject).join(", ")}`],
  ["flow_timed_out", timeoutNote],
  ["time_travelled", travelNote],
]);
