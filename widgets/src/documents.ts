/**
 * The documents that cross between Python and the page: plain JSON, the same names as in
 * `dexnb.model`.
 */

import type { Method, RunData, StepData } from "./dataDocuments";
import type { Finding, Lint } from "./findingDocuments";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** One thing that happened in a run; times are seconds. Twin of `dexnb.model.event.Event`. */
export interface Event {
  seq: number;
  flow_id: string;
  run_id: string;
  wall: number;
  time: number;
  kind: string;
  step_execution_id: string;
  attempt: number;
  payload: Record<string, Json>;
}

export type FlowStatus = "WAITING" | "RUNNING" | "COMPLETED" | "FAILED" | "CANCELED" | "TERMINATED";

export interface Failure {
  error_type: string;
  detail: string;
  last_error: Failure | null;
}

export interface Limits {
  execute_method_timeout: number;
  heartbeat_timeout: number;
  maximum_attempts: number;
  total_duration: number;
}

/** What an attempt spent its time on: kind, begin, end, seconds of it inside calls. */
export type Mark = [kind: "call" | "sleep" | "many", begin: number, end: number, inCall: number];

export interface AttemptView {
  attempt: number;
  /** Each method counts its attempts from 1. */
  method: Method;
  started_at: number;
  ended_at: number | null;
  outcome: string;
  failure: Failure | null;
  limits: Limits | null;
  first_attempt_at: number | null;
  resumed_from: string | null;
  /** Calls begun; a round is one call and one sleep, so `sleeps` counts those that are whole. */
  rounds: number;
  sleeps: number;
  phase: "" | "call" | "sleep";
  phase_since: number;
  phase_line: number;
  phase_what: string;
  marks: Mark[];
  beats: number[];
  beat_count: number;
  last_sign: number;
  longest_silence: number;
  checkpoint: string | null;
  checkpoint_at: number | null;
  late_writes: number;
}

export interface StepView extends StepData {
  step_type: string;
  from: string;
  scheduled_at: number;
  ended_at: number | null;
  outcome: string;
  recovery_error: Failure | null;
  retry_at: number | null;
  attempts: AttemptView[];
}

export interface Row {
  time: number;
  step: string;
  attempt: number;
}

export interface MessageRow extends Row {
  stream: string;
  value: string;
}

export interface LogRow extends Row {
  source: string;
  line: string;
}

export interface NoteRow extends Row {
  kind: string;
  text: string;
  /** What the text was made of, for those who word it otherwise. */
  payload?: Record<string, Json>;
}

/** Origin type, target type, and how: by a decision or because the origin failed. */
export type TakenEdge = [from: string, to: string, kind: "transition" | "failure_transition"];

/** What a page shows of a run. Twin of `dexnb.model.run_view`. */
export interface RunView extends RunData {
  flow_id: string;
  run_id: string;
  flow_type: string;
  status: FlowStatus;
  error_type: string;
  error_message: string;
  started_at: number | null;
  closed_at: number | null;
  time: number;
  wall_offset: number;
  overrides: Record<string, Json>;
  steps: Record<string, StepView>;
  /** Those in `steps` that have ended, in that order; the oldest go. */
  ended: string[];
  /** How many were scheduled, by Step type: all, also those that are no longer in `steps`. */
  executions: Record<string, number>;
  taken: TakenEdge[];
  messages: MessageRow[];
  message_count: number;
  log: LogRow[];
  log_count: number;
  notes: NoteRow[];
}

export type CycleResult = "hit" | "empty" | "error";

export type Cycle = [
  began: number,
  fetchedUntil: number,
  sleptUntil: number,
  result: CycleResult,
  items: number,
];

export interface QueueView {
  fetches: number;
  hit: number;
  empty: number;
  error: number;
  items: number;
  cycles: Cycle[];
}

/** Twin of `dexnb.model.dispatcher_view`. */
export interface DispatcherView {
  orchestration: QueueView;
  work: QueueView;
}

export interface Diagnostic {
  code: string;
  severity: "error" | "warning";
  message: string;
  line: number;
  path?: string;
}

export interface Constant {
  name: string;
  value: number | string | null;
  unit: string;
  feeds: string[];
}

export interface RetrySettings {
  initial_interval: number;
  backoff_coefficient: number;
  maximum_interval: number;
  maximum_attempts: number;
  total_duration: number;
}

export interface StepSettings {
  execute_method_timeout: number;
  heartbeat_timeout: number;
  retry: RetrySettings;
  durability: string;
  recovery: string | null;
  recovery_options: JsonObject | null;
}

/** One duration in a Step's code: what it decides, and the constants that it is made of. */
export interface Timing {
  feeds: string;
  value: number | null;
  parts: [name: string, by: number][];
  line: number;
  end_line: number;
}

export type NodeKind =
  | "step"
  | "timeout_handler"
  | "rpc"
  | "wait"
  | "wait_dispatch"
  | "decision"
  | "decision_dispatch"
  | "attribute"
  | "channel"
  | "stream"
  | "subflow"
  | "unknown";

export interface DecisionCard {
  type: string;
  targets: string[];
  checkedChannels?: string[];
  cancellations?: { stepId: string; scope: "all" | "siblings" }[];
}

export interface WaitCard {
  type: string;
  conditions: {
    kind: "timer" | "channel" | "subflow" | "unknown";
    label: string;
    resourceId: string;
    subFlowId: string;
    expression: string;
  }[];
}

export interface GraphNode {
  id: string;
  kind: NodeKind;
  name: string;
  parentId: string;
  start: boolean;
  condition: string;
  decision: DecisionCard | null;
  wait?: WaitCard | null;
  resource?: { valueType: string; map: boolean } | null;
  settings: StepSettings | null;
  given: string[];
  constants: Constant[];
  timings: Timing[];
  /** What its wait_for waits for, as far as the source tells. */
  waits?: string[];
  /** Its file's name, where that is not the graph's own. */
  path?: string;
  line: number;
  column: number;
}

export type EdgeKind =
  | "transition"
  | "failure_transition"
  | "wait_condition"
  | "resource_read"
  | "resource_write"
  | "resource_publish"
  | "resource_lock"
  | "subflow";

export interface GraphEdge {
  id: string;
  kind: EdgeKind;
  from: string;
  to: string;
  label: string;
  condition: string;
}

/** A Flow's shape. Twin of `dexnb.model.flow_graph.FlowGraph`. */
export interface FlowGraph {
  schemaVersion: string;
  valid: boolean;
  source: { language: string; path: string };
  flow: { name: string; startStepId: string };
  nodes: GraphNode[];
  edges: GraphEdge[];
  diagnostics: Diagnostic[];
}

export interface Knob {
  name: string;
  label: string;
  unit: string;
  value: number;
  default: number;
  minimum: number;
  maximum: number;
  step: number;
  live: boolean;
  note: string;
  legal: boolean;
  error: string;
}

export interface DispatcherSettings {
  min_poll_interval: number;
  long_poll_timeout: number;
}

export interface Actions {
  run: boolean;
  stop: boolean;
  rerun: boolean;
  complete_job: boolean;
  /** Whether there are jobs that could be completed. */
  jobs?: boolean;
  speeds: number[];
  speed: number;
}

/** With what a branch of the run ended. */
export interface Output {
  step: string;
  value: string;
}

/** Everything that the Lab shows. */
export interface Page {
  title: string;
  graph: FlowGraph | null;
  view: RunView;
  /** Of its SubFlows, and theirs, by their run ids: those whose own events are followed. */
  children?: Record<string, RunView>;
  /** Why each of them that no code can run stands still. */
  waits_for_code?: Record<string, string>;
  dispatcher: DispatcherView;
  knobs: Knob[];
  /** What is known against the Flow and its values, before anything fails. */
  findings?: Finding[];
  lint?: Lint;
  /** Of a run that has ended. */
  outputs?: Output[];
  now: number;
  wall_offset: number;
  margin: number;
  settings: DispatcherSettings;
  runtime: { name: string; clock: string; state: "open" | "closed" };
  actions: Actions;
}

/** Times that grow, at least one: microseconds after the one before. */
export interface Times {
  from: number;
  after: number[];
}

/** Many signs of one attempt, in order; what they carried is known of the newest only. */
export interface Signs extends Times {
  kind: "signs";
  step_execution_id: string;
  attempt: number;
  /** Wall time less store time. */
  offset: number;
  /** A letter each, for a heartbeat, the begin of a call, or the begin of a sleep. */
  signs: string;
  checkpoint?: string | null;
  line?: number;
  what?: string;
}

export type FromPython =
  | { kind: "snapshot"; seq: number; page: Page }
  | {
      kind: "batch";
      seq: number;
      now: number;
      events: (Event | Signs)[];
      engine: Event[];
      /** Of SubFlows in the page's `children`, by their run ids. */
      children?: Record<string, (Event | Signs)[]>;
    }
  | {
      kind: "reply";
      id: string;
      ok: boolean;
      state: "done" | "queued";
      error: string;
      result: Json;
    };

export type CommandName =
  | "run"
  | "stop"
  | "rerun"
  | "complete_job"
  | "set_knob"
  | "set_dispatcher"
  | "set_speed"
  | "source_of"
  | "explain";

export type ToPython =
  | { kind: "ready" }
  | { kind: "resync" }
  | { kind: "command"; id: string; name: CommandName; args: JsonObject };
