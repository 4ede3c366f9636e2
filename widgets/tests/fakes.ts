/** Time that a test moves by hand, and a model whose Python side is the test. */

import { newDispatcherView } from "../src/dispatcher";
import type { Event, FromPython, Json, Page, ToPython } from "../src/documents";
import { newView } from "../src/fold";
import type { Model } from "../src/session";
import type { Timers } from "../src/timers";

export class FakeTimers implements Timers {
  time = 100;
  private id = 0;
  private readonly waiting = new Map<number, { at: number; call: () => void }>();

  now = () => this.time;

  after = (seconds: number, call: () => void): (() => void) => {
    this.id += 1;
    const { id } = this;
    this.waiting.set(id, { at: this.time + seconds, call });
    return () => this.waiting.delete(id);
  };

  nextFrame = (call: () => void): (() => void) => this.after(0.001, call);

  get pending(): number {
    return this.waiting.size;
  }

  move(seconds: number): void {
    const until = this.time + seconds;
    for (;;) {
      const due = [...this.waiting].filter(([, { at }]) => at <= until + 1e-9);
      const first = due.sort((a, b) => a[1].at - b[1].at || a[0] - b[0])[0];
      if (!first) break;
      this.waiting.delete(first[0]);
      this.time = Math.max(this.time, first[1].at);
      first[1].call();
    }
    this.time = until;
  }
}

type Call = (content: FromPython) => void;

/** Each view of a host gets a proxy of its own; `proxy` gives one. */
export class FakeModel implements Model {
  readonly sent: ToPython[] = [];
  readonly calls = new Map<string, Set<Call>>();
  broken = false;

  constructor(readonly initial: unknown = {}) {}

  get(name: string): unknown {
    return name === "initial" ? this.initial : undefined;
  }

  send(content: ToPython): void {
    if (this.broken) throw new Error("comm is closed");
    this.sent.push(content);
  }

  on(event: string, call: Call): void {
    this.calls.set(event, (this.calls.get(event) ?? new Set()).add(call));
  }

  off(event: string, call: Call): void {
    this.calls.get(event)?.delete(call);
  }

  say(content: FromPython): void {
    for (const call of this.calls.get("msg:custom") ?? []) call(content);
  }

  proxy(): Model {
    return {
      get: (name) => this.get(name),
      send: (content) => this.send(content),
      on: (event, call) => this.on(event, call),
      off: (event, call) => this.off(event, call),
    };
  }

  kinds(): string[] {
    return this.sent.map((message) => message.kind);
  }
}

export function pageOf(change: Partial<Page> = {}): Page {
  return {
    title: "PollingFlow",
    graph: null,
    view: { ...newView(), status: "RUNNING", started_at: 0 },
    dispatcher: newDispatcherView(),
    knobs: [],
    now: 10,
    wall_offset: 0,
    margin: 10,
    settings: { min_poll_interval: 0.1, long_poll_timeout: 30 },
    runtime: { name: "x.db", clock: "real", state: "open" },
    actions: {
      run: true,
      stop: true,
      rerun: true,
      complete_job: true,
      speeds: [1, 10],
      speed: 1,
    },
    ...change,
  };
}

export function eventOf(
  kind: string,
  time: number,
  payload: Record<string, Json> = {},
  step = "A-1",
): Event {
  const ids = { seq: 1, flow_id: "f", run_id: "r" };
  return { ...ids, wall: time, time, kind, step_execution_id: step, attempt: 1, payload };
}
