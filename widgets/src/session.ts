/** One session per widget model: its store and its transport, shared by all of its views. */

import type { FromPython, Page, ToPython } from "./documents";
import { unpackPage } from "./packing";
import { Selection } from "./selection";
import { LabStore } from "./store";
import { browserTimers, type Timers } from "./timers";
import { Transport } from "./transport";

/** The part of an anywidget model that the Lab uses. */
export interface Model {
  get(name: string): unknown;
  send(content: ToPython): void;
  on(event: string, call: (content: FromPython) => void): void;
  off(event: string, call: (content: FromPython) => void): void;
}

export class Session {
  readonly store: LabStore;
  readonly transport: Transport;
  readonly timers: Timers;
  /** Which SubFlows the reader has opened or closed, by their run ids; all views agree. */
  readonly opened = new Map<string, boolean>();
  readonly selection = new Selection();
  private readonly receive = (content: FromPython) => this.transport.receive(content);
  private readonly rekey = () => remember(this.model, this);

  constructor(
    readonly model: Model,
    timers: Timers = browserTimers,
  ) {
    this.timers = timers;
    this.store = new LabStore(timers);
    this.transport = new Transport((message) => model.send(message), this.store, timers, newId);
    const initial = model.get("initial");
    // The model's own state must stay as it is, and the store changes its page in place.
    if (isPage(initial)) this.store.replace(unpackPage(structuredClone(initial)), timers.now());
    model.on("msg:custom", this.receive);
    model.on("change:initial", this.rekey);
    remember(model, this);
  }

  dispose(): void {
    this.model.off("msg:custom", this.receive);
    this.model.off("change:initial", this.rekey);
    this.transport.dispose();
    this.store.dispose();
    forget(this.model);
  }
}

/**
 * Hosts give each view another proxy of the model, but its state is one object: the value of the
 * trait `initial` tells which model a proxy stands for.
 */
const sessions = new WeakMap<object, Session>();

function keyOf(model: Model): object {
  const initial = model.get("initial");
  return typeof initial === "object" && initial !== null ? initial : model;
}

function remember(model: Model, session: Session): void {
  sessions.set(keyOf(model), session);
}

function forget(model: Model): void {
  sessions.delete(keyOf(model));
}

export function sessionOf(model: Model): Session | undefined {
  return sessions.get(keyOf(model)) ?? sessions.get(model);
}

function isPage(value: unknown): value is Page {
  return typeof value === "object" && value !== null && "view" in value && "actions" in value;
}

function newId(): string {
  // randomUUID is missing where a notebook is served over plain HTTP from another host.
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
