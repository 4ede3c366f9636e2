/** What jsdom lacks of a browser, and a count of the timers that are still to come. */

import { act } from "react";
import type { Page } from "../src/documents";
import lab from "../src/index";
import { FakeModel } from "./fakes";

class Observer {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

const waiting = new Set<unknown>();

/** Timers and frames asked for and neither run nor ended. */
export function pendingTimers(): number {
  return waiting.size;
}

function counted(begin: "setTimeout" | "requestAnimationFrame", end: string): void {
  const host = globalThis as unknown as Record<string, (...values: unknown[]) => unknown>;
  const [start, stop] = [host[begin], host[end]];
  if (!start || !stop) throw new Error(`${begin} is missing`);
  host[begin] = (call, ...rest) => {
    const id = start(
      (...values: unknown[]) => {
        waiting.delete(id);
        (call as (...values: unknown[]) => void)(...values);
      },
      ...rest,
    );
    waiting.add(id);
    return id;
  };
  host[end] = (id) => {
    waiting.delete(id);
    stop(id);
  };
}

export function prepare(): void {
  Object.assign(globalThis, { ResizeObserver: Observer, IS_REACT_ACT_ENVIRONMENT: true });
  Object.assign(globalThis, {
    DOMMatrixReadOnly: class {
      m22 = 1;
    },
  });
  window.matchMedia ??= () =>
    ({ matches: false, addEventListener() {}, removeEventListener() {} }) as never;
  counted("setTimeout", "clearTimeout");
  counted("requestAnimationFrame", "cancelAnimationFrame");
}

export interface Mounted {
  el: HTMLElement;
  leave: () => void;
}

/** Show one more view of a model, through a proxy of its own as a host does. */
export async function show(model: FakeModel): Promise<Mounted> {
  const el = document.body.appendChild(document.createElement("div"));
  let leave = () => {};
  await act(async () => {
    leave = lab.render({ model: model.proxy(), el });
  });
  return {
    el,
    leave: () => {
      act(() => leave());
      el.remove();
    },
  };
}

/** Let the frames that were asked for be drawn. */
export async function settle(milliseconds = 120): Promise<void> {
  await act(async () => {
    await new Promise((done) => setTimeout(done, milliseconds));
  });
}

/** The views that are on the page; `closeAll` takes them off. */
export const open: Mounted[] = [];
const ends: (() => void)[] = [];

export async function mount(page: Page): Promise<{ model: FakeModel; el: HTMLElement }> {
  const model = new FakeModel(page);
  ends.push(lab.initialize({ model: model.proxy() }));
  const mounted = await show(model);
  open.push(mounted);
  return { model, el: mounted.el };
}

export function closeAll(): void {
  for (const { leave } of open.splice(0)) leave();
  for (const end of ends.splice(0)) end();
}

export function buttonOf(el: HTMLElement, text: string): HTMLButtonElement {
  const found = [...el.querySelectorAll("button")].find((one) => one.textContent?.includes(text));
  if (!found) throw new Error(`no button ${text}`);
  return found;
}

export { lab };
