/** What a run keeps and waits for, as documents. Twin of `dexnb.model.data_view`. */

import type { Json } from "./documents";

export type Method = "wait_for" | "execute";

export interface ChannelView {
  pending: number;
  /** How many messages there ever were. */
  published: number;
  newest: Json;
  /** Those that are pending, the newest of them. */
  ids: number[];
}

export interface ConditionView {
  kind: "timer" | "channel" | "subflow";
  /** A Timer's id, a Channel's physical name, or the type of a SubFlow. */
  label: string;
  /** Of a Timer, in store time. */
  due_at: number | null;
  /** How many messages it needs. */
  need: number;
  /** Empty, `fired`, `skipped`, `consumed`, or a SubFlow's status. */
  state: string;
  changed_at: number | null;
  /** Of a SubFlow, once that is known. */
  flow_id: string;
}

export interface WaitView {
  kind: "skip" | "all_of" | "any_of" | "any_combination_of";
  began_at: number;
  ended_at: number | null;
  /** How many conditions there are; `conditions` are the first of them. */
  count: number;
  /** How many of all conditions are SubFlows, and how many of these have ended. */
  subflow_count: number;
  subflows_ended: number;
  conditions: ConditionView[];
}

/** What a run has been told of a SubFlow; the rest stands in that run's own view. */
export interface SubFlowView {
  /** Empty where that is not known. */
  run_id: string;
  flow_type: string;
  status: string;
  began_at: number;
  changed_at: number;
  outputs: Json[];
  error_type: string;
  error_message: string;
}

/** The part of an execution's view that follows from history. */
export interface StepData {
  /** The method that runs or comes next. */
  method: Method;
  /** Empty while it runs or is in the work queue. */
  state: "" | "delayed" | "queued" | "waiting";
  /** Of a start that is delayed, in store time. */
  begins_at: number | null;
  /** What each method must hold. */
  locks: Partial<Record<Method, string[]>>;
  /** Stays when it is over. */
  wait: WaitView | null;
  /** By flow id; stays when the wait is over. */
  subflows: Record<string, SubFlowView>;
}

/** The part of a run's view that follows from history, by physical names. */
export interface RunData {
  attributes: Record<string, Json>;
  channels: Record<string, ChannelView>;
  /** How many messages there ever were in all Channels. */
  published: number;
  /** Who holds a lock: a step execution id, or the id of a call from outside. */
  locks: Record<string, string>;
}
