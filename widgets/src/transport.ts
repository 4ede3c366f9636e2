/**
 * Messages between a model and Python: snapshots and batches into the store, commands out. It
 * knows neither a browser nor a widget, so tests drive it with a fake model and fake timers.
 */

import { type Command, Commands } from "./commands";
import { applyDispatcher } from "./dispatcher";
import type {
  CommandName,
  Event,
  FromPython,
  JsonObject,
  RunView,
  Signs,
  ToPython,
} from "./documents";
import { apply } from "./fold";
import { eventsOf, isSigns, unpackPage } from "./packing";
import { entryOf } from "./records";
import type { LabStore } from "./store";
import type { Timers } from "./timers";

/** A resync is asked for at most this often. */
export const RESYNC_SECONDS = 1;
/** A running run that says nothing for so long is asked for a snapshot. */
export const PROBE_SECONDS = 2;
/** After so long without a word the page says so, and its time stands still. */
export const SILENT_SECONDS = 5;

function applyAll(view: RunView, told: (Event | Signs)[]): void {
  for (const one of told) {
    for (const event of isSigns(one) ? eventsOf(one) : [one]) apply(view, event);
  }
}

type Batch = Extract<FromPython, { kind: "batch" }>;
type Snapshot = Extract<FromPython, { kind: "snapshot" }>;

export class Transport {
  readonly commands: Commands;
  private seq: number | null = null;
  private behind = false;
  private askedAt = Number.NEGATIVE_INFINITY;
  private stopWatch: (() => void) | null = null;
  private views = 0;

  constructor(
    private readonly send: (message: ToPython) => void,
    private readonly store: LabStore,
    private readonly timers: Timers,
    newId: () => string,
  ) {
    this.commands = new Commands(
      (message) => this.trySend(message),
      timers,
      () => store.touch(),
      newId,
    );
  }

  /** A view is on the page; gives what takes it off. */
  mounted(): () => void {
    this.views += 1;
    this.trySend({ kind: "ready" });
    if (this.views === 1) this.watch();
    let gone = false;
    return () => {
      if (gone) return;
      gone = true;
      this.views -= 1;
      if (this.views === 0) this.unwatch();
    };
  }

  receive(content: unknown): void {
    const message = content as FromPython | null;
    if (message === null || typeof message !== "object") return;
    if (message.kind === "snapshot") this.snapshot(message);
    else if (message.kind === "batch") this.batch(message);
    else if (message.kind === "reply") this.commands.answered(message);
    else return;
    this.store.heard(this.timers.now());
  }

  command(name: CommandName, args: JsonObject = {}, topic?: string): Promise<Command> {
    return this.commands.issue(name, args, topic);
  }

  dispose(): void {
    this.unwatch();
    this.commands.dispose();
  }

  private snapshot(message: Snapshot): void {
    this.seq = message.seq;
    this.behind = false;
    this.store.replace(unpackPage(message.page), this.timers.now());
  }

  private batch(message: Batch): void {
    const { page } = this.store;
    if (page === null || this.seq === null || message.seq > this.seq + 1) {
      this.behind = true;
      this.resync();
      return;
    }
    if (message.seq <= this.seq || this.behind) return;
    this.seq = message.seq;
    try {
      applyAll(page.view, message.events);
      for (const [runId, events] of Object.entries(message.children ?? {})) {
        // One that the page does not know comes with the next snapshot.
        const view = entryOf(page.children ?? {}, runId);
        if (view) applyAll(view, events);
      }
      for (const event of message.engine) applyDispatcher(page.dispatcher, event);
    } catch {
      // An event that cannot be folded must not end the page: the next snapshot has its effect.
      this.behind = true;
      this.resync();
    }
    this.store.advance(message.now, this.timers.now());
  }

  private resync(): void {
    const now = this.timers.now();
    if (now - this.askedAt < RESYNC_SECONDS) return;
    this.askedAt = now;
    this.trySend({ kind: "resync" });
  }

  private watch(): void {
    this.stopWatch = this.timers.after(PROBE_SECONDS, () => {
      const quiet = this.timers.now() - this.store.heardAt;
      const { page } = this.store;
      const running = page !== null && page.view.status === "RUNNING";
      if (this.behind || (running && quiet >= PROBE_SECONDS * 0.9)) this.resync();
      if (quiet >= SILENT_SECONDS) this.store.touch();
      this.watch();
    });
  }

  private unwatch(): void {
    this.stopWatch?.();
    this.stopWatch = null;
  }

  private trySend(message: ToPython): void {
    try {
      this.send(message);
    } catch {
      // The comm is closed: the silence that follows is what the page shows.
    }
  }
}
