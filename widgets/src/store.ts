/**
 * What the Lab of one model shows. All views of the model read it; it tells them at most once a
 * frame. The page inside is changed in place: `frame` is what grows.
 */

import type { Page } from "./documents";
import type { Timers } from "./timers";

/** The page's own time runs on for so long after the last message. */
export const RUN_ON_SECONDS = 5;
/** How often what depends on the time alone is drawn anew. */
export const TICK_SECONDS = 0.1;
/** Least time between two drawings: more of them would only cost power. */
export const FRAME_SECONDS = 0.05;

export class LabStore {
  page: Page | null = null;
  frame = 0;
  heardAt = Number.NEGATIVE_INFINITY;
  private readonly listeners = new Set<() => void>();
  private readonly made: number;
  private told = 0;
  private toldAt = 0;
  private drawnAt = Number.NEGATIVE_INFINITY;
  private cancelFrame: (() => void) | null = null;
  private cancelTick: (() => void) | null = null;

  constructor(private readonly timers: Timers) {
    this.made = timers.now();
  }

  /** Take a whole page; it becomes the store's own. */
  replace(page: Page, at: number): void {
    this.page = page;
    this.advance(page.now, at);
  }

  /** Python says what time it is on the store's clock. */
  advance(now: number, at: number): void {
    this.told = now;
    this.toldAt = at;
    this.touch();
  }

  heard(at: number): void {
    this.heardAt = at;
  }

  /** Store time now, run on from what was last told while the run goes on. */
  now(): number {
    const { page } = this;
    if (page === null) return 0;
    if (!this.runsOn()) return Math.max(this.told, page.view.time);
    const { speed } = page.actions;
    const since = Math.min(this.timers.now() - this.toldAt, RUN_ON_SECONDS);
    return Math.max(page.view.time, this.told + since * Math.max(0, speed));
  }

  /** Seconds since the last message; null while there is nothing to wait for. */
  silence(): number | null {
    if (this.page === null || this.page.view.status !== "RUNNING") return null;
    return this.timers.now() - Math.max(this.heardAt, this.made);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    this.tick();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.quiet();
    };
  };

  /** Something changed: tell the views before one of the next drawings. */
  touch(): void {
    if (this.listeners.size === 0 || this.cancelFrame) return;
    const early = this.drawnAt + FRAME_SECONDS - this.timers.now();
    this.cancelFrame =
      early > 0
        ? this.timers.after(early, () => this.awaitFrame())
        : this.timers.nextFrame(() => this.tell());
  }

  dispose(): void {
    this.listeners.clear();
    this.quiet();
  }

  private awaitFrame(): void {
    this.cancelFrame = this.timers.nextFrame(() => this.tell());
  }

  private tell(): void {
    this.cancelFrame = null;
    this.drawnAt = this.timers.now();
    this.frame += 1;
    for (const listener of [...this.listeners]) listener();
    this.tick();
  }

  private runsOn(): boolean {
    const { page } = this;
    if (page === null || page.view.status !== "RUNNING") return false;
    return page.runtime.clock !== "virtual" && Number.isFinite(this.heardAt);
  }

  private tick(): void {
    if (this.cancelTick || this.listeners.size === 0 || !this.runsOn()) return;
    if (this.timers.now() - this.heardAt > RUN_ON_SECONDS) return;
    this.cancelTick = this.timers.after(TICK_SECONDS, () => {
      this.cancelTick = null;
      this.touch();
    });
  }

  private quiet(): void {
    this.cancelFrame?.();
    this.cancelTick?.();
    this.cancelFrame = null;
    this.cancelTick = null;
  }
}
