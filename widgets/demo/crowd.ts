/** Many polling Steps at once, at a given number of events a second: for looking and measuring. */

import type { Event, FlowGraph, GraphNode, Json } from "../src/documents";
import type { Source } from "./kernel";
import { KNOBS } from "./knobs";

const BEGIN = 1_767_225_600;
const LIMITS = {
  execute_method_timeout: 7200,
  heartbeat_timeout: 30,
  maximum_attempts: 3,
  total_duration: 14_400,
};

/** Plays the rounds of all Steps in turn: call, heartbeat, sleep. */
class Crowd implements Source {
  readonly title = "CrowdFlow";
  readonly knobs = KNOBS;
  readonly graph: FlowGraph;
  readonly begin = BEGIN;
  readonly end: number;
  private at = BEGIN;
  private seq = 0;
  private count = 0;

  constructor(
    private readonly steps: number,
    private readonly perSecond: number,
    seconds: number,
  ) {
    this.graph = crowdGraph(steps);
    this.end = BEGIN + seconds;
  }

  upTo(time: number): Event[] {
    const events = this.seq === 0 ? this.opening() : [];
    while (this.at + 1 / this.perSecond <= time) {
      this.at += 1 / this.perSecond;
      events.push(this.next());
    }
    return events;
  }

  rewind(): void {
    this.at = BEGIN;
    this.seq = 0;
    this.count = 0;
  }

  private opening(): Event[] {
    const origin = { from_step_execution_id: "", recovery_error: null };
    const steps = range(this.steps);
    return [
      this.make("flow_started", -1, { flow_type: "CrowdFlow", overrides: {} }),
      ...steps.map((step) => {
        return this.make("step_scheduled", step, { ...origin, step_type: `Await${step}` });
      }),
      ...steps.map((step) => {
        const payload = { ...LIMITS, first_attempt_at: this.at, checkpoint: null };
        return this.make("attempt_started", step, payload);
      }),
    ];
  }

  private next(): Event {
    const step = this.count % this.steps;
    const turn = Math.floor(this.count / this.steps) % 3;
    this.count += 1;
    if (turn === 0) return this.make("round_call", step, { line: 86, what: "Jobs.status" });
    if (turn === 1) return this.make("heartbeat", step, { checkpoint: '"RUNNING"' });
    return this.make("round_sleep", step, { line: 97, what: "sleep" });
  }

  private make(kind: string, step: number, payload: Record<string, Json>): Event {
    this.seq += 1;
    return {
      seq: this.seq,
      flow_id: "crowd",
      run_id: "crowd-1",
      wall: this.at,
      time: this.at,
      kind,
      step_execution_id: step < 0 ? "" : `Await${step}-1`,
      attempt: 1,
      payload,
    };
  }
}

export function crowd(steps: number, perSecond: number, seconds = 3600): Source {
  return new Crowd(steps, perSecond, seconds);
}

function crowdGraph(steps: number): FlowGraph {
  const retry = { initial_interval: 1, backoff_coefficient: 2, maximum_interval: 100 };
  const settings = {
    execute_method_timeout: LIMITS.execute_method_timeout,
    heartbeat_timeout: LIMITS.heartbeat_timeout,
    retry: { ...retry, maximum_attempts: 3, total_duration: LIMITS.total_duration },
    durability: "SYNC",
    recovery: null,
    recovery_options: null,
  };
  const nodes = range(steps).map(
    (step): GraphNode => ({
      id: `step:Await${step}`,
      kind: "step",
      name: `Await${step}`,
      parentId: "",
      start: step === 0,
      condition: "",
      decision: null,
      settings,
      given: ["heartbeat_timeout"],
      constants: [],
      timings: [],
      line: 0,
      column: 0,
    }),
  );
  return {
    schemaVersion: "1.0",
    valid: true,
    source: { language: "python", path: "" },
    flow: { name: "CrowdFlow", startStepId: "step:Await0" },
    nodes,
    edges: [],
    diagnostics: [],
  };
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
