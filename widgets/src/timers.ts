/** Time and timers as an argument, so that tests hold them and a clean-up can end them all. */

export interface Timers {
  /** Seconds on a clock that never steps. */
  now(): number;
  /** Call once after so many seconds; gives what ends it. */
  after(seconds: number, call: () => void): () => void;
  /** Call once before the next drawing; gives what ends it. */
  nextFrame(call: () => void): () => void;
}

export const browserTimers: Timers = {
  now: () => performance.now() / 1000,
  after(seconds, call) {
    const id = setTimeout(call, seconds * 1000);
    return () => clearTimeout(id);
  },
  nextFrame(call) {
    const id = requestAnimationFrame(() => call());
    return () => cancelAnimationFrame(id);
  },
};
