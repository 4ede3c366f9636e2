/** A stand-in for the Python side: plays a log to a page and answers its commands. */

import { applyDispatcher, newDispatcherView } from "../src/dispatcher";
import type {
  Event,
  FlowGraph,
  FromPython,
  Json,
  Knob,
  Output,
  Page,
  ToPython,
} from "../src/documents";
import { apply, newView } from "../src/fold";
import type { Model } from "../src/session";

const PERIOD = 0.05;

export interface Source {
  title: string;
  graph: FlowGraph | null;
  knobs: Knob[];
  begin: number;
  end: number;
  /** The events up to a store time, each given once, in order. */
  upTo(time: number): Event[];
  rewind(): void;
}

export class Kernel implements Model {
  readonly page: Page;
  /** Tests and the reader of the demo make it deaf or lossy with these. */
  deaf = false;
  loseNext = 0;
  private readonly calls = new Map<string, Set<(content: FromPython) => void>>();
  private readonly answers = new Map<string, FromPython>();
  private readonly initial: Page;
  private seq = 0;
  private timer = 0;
  private snapshotAt = 0;

  constructor(
    private readonly source: Source,
    at: number,
    private speed: number,
  ) {
    this.page = emptyPage(source, speed);
    this.advance(source.begin + at);
    this.initial = structuredClone(this.page);
  }

  get(name: string): unknown {
    return name === "initial" ? this.initial : undefined;
  }

  on(event: string, call: (content: FromPython) => void): void {
    const known = this.calls.get(event) ?? new Set();
    this.calls.set(event, known.add(call));
  }

  off(event: string, call: (content: FromPython) => void): void {
    this.calls.get(event)?.delete(call);
  }

  send(content: ToPython): void {
    const message = structuredClone(content);
    if (this.deaf) return;
    if (message.kind === "command") setTimeout(() => this.answer(message), 30);
    else this.snapshot();
  }

  play(): void {
    this.timer = window.setInterval(() => this.step(), PERIOD * 1000);
  }

  stop(): void {
    window.clearInterval(this.timer);
  }

  /** One period of play; gives how many events went out. */
  step(): number {
    const { page } = this;
    const now = Math.min(page.now + PERIOD * this.speed, this.source.end);
    if (now <= page.now && page.view.status !== "RUNNING") return 0;
    const { events, engine } = this.advance(now);
    this.seq += 1;
    this.emit({ kind: "batch", seq: this.seq, now, events, engine });
    this.snapshotAt += PERIOD;
    if (this.snapshotAt >= 1) this.snapshot();
    return events.length + engine.length;
  }

  private advance(now: number): { events: Event[]; engine: Event[] } {
    const { page } = this;
    const all = this.source.upTo(now);
    const engine = all.filter((event) => event.kind === "dispatcher_cycle");
    const events = all.filter((event) => event.kind !== "dispatcher_cycle");
    for (const event of events) apply(page.view, event);
    for (const event of engine) applyDispatcher(page.dispatcher, event);
    page.now = now;
    const running = page.view.status === "RUNNING";
    Object.assign(page.actions, { run: false, stop: running, complete_job: running });
    if (!running) page.outputs = all.flatMap(outputOf);
    return { events, engine };
  }

  private snapshot(): void {
    this.snapshotAt = 0;
    this.seq += 1;
    this.emit({ kind: "snapshot", seq: this.seq, page: structuredClone(this.page) });
  }

  private emit(content: FromPython): void {
    if (this.loseNext > 0) {
      this.loseNext -= 1;
      return;
    }
    const sent = structuredClone(content);
    for (const call of this.calls.get("msg:custom") ?? []) call(sent);
  }

  private answer(message: Extract<ToPython, { kind: "command" }>): void {
    const known = this.answers.get(message.id);
    const reply: FromPython = known ?? {
      kind: "reply",
      id: message.id,
      state: "done",
      result: null,
      ...this.obey(message),
    };
    this.answers.set(message.id, reply);
    this.emit(reply);
    this.snapshot();
  }

  private obey({ name, args }: Extract<ToPython, { kind: "command" }>) {
    if (name === "set_knob") return this.setKnob(String(args.name), Number(args.value));
    if (name === "set_speed") {
      this.speed = Number(args.factor);
      this.page.actions.speed = this.speed;
    } else if (name === "set_dispatcher") {
      Object.assign(this.page.settings, args);
    } else if (name === "run" || name === "rerun") {
      this.source.rewind();
      Object.assign(this.page, { view: newView(), dispatcher: newDispatcherView() });
      this.advance(this.source.begin);
    } else {
      return { ok: false, error: `${name}: a recorded run cannot be changed` };
    }
    return { ok: true, error: "" };
  }

  private setKnob(name: string, value: number) {
    const knob = this.page.knobs.find((one) => one.name === name);
    if (!knob) return { ok: false, error: `no knob is named ${name}` };
    if (value > 2 * knob.default) {
      const error = `${name} is ${value} ${knob.unit}: ${knob.note}`;
      return { ok: false, error };
    }
    knob.value = value;
    return { ok: true, error: "" };
  }
}

function outputOf({ kind, step_execution_id: step, payload }: Event): Output[] {
  const decision = payload.decision as
    | { kind: string; has_output: boolean; output: Json }
    | undefined;
  if (kind !== "step_completed" || !decision?.has_output) return [];
  if (decision.kind === "dead_end") return [];
  return [{ step, value: JSON.stringify(decision.output) }];
}

function emptyPage(source: Source, speed: number): Page {
  return {
    title: source.title,
    graph: source.graph,
    view: newView(),
    dispatcher: newDispatcherView(),
    knobs: source.knobs,
    now: source.begin,
    wall_offset: 0,
    margin: 10,
    settings: { min_poll_interval: 0.1, long_poll_timeout: 30 },
    runtime: { name: ".dexnb/demo.db", clock: `scaled:${speed}`, state: "open" },
    actions: {
      run: false,
      stop: true,
      rerun: true,
      complete_job: true,
      speeds: [1, 10, 60, 600],
      speed,
    },
  };
}
