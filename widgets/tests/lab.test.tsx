// @vitest-environment jsdom
/** The Lab as a host mounts it: text from outside stays text, and nothing stays behind. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { act } from "react";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Event, FlowGraph, Knob } from "../src/documents";
import { newView, viewOf } from "../src/fold";
import { buttonOf, closeAll, mount, open, pendingTimers, prepare, settle, show } from "./dom";
import { eventOf, FakeModel, pageOf } from "./fakes";

const LOGS = join(__dirname, "../demo/logs");
const graph = JSON.parse(readFileSync(join(LOGS, "polling.graph.json"), "utf8")) as FlowGraph;
const log = readFileSync(join(LOGS, "retry.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Event);

const EVIL = '<img src=x onerror="window.hit=1"><script>window.hit=2</script>';
const KNOB: Knob = {
  name: "POLL_INTERVAL",
  label: "POLL_INTERVAL",
  unit: "s",
  value: 2,
  default: 2,
  minimum: 0.1,
  maximum: 40,
  step: 0.1,
  live: true,
  note: "at most 40 s",
  legal: true,
  error: "",
};

function type(field: HTMLInputElement, value: string): void {
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
  act(() => {
    set?.call(field, value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

beforeAll(prepare);
afterEach(closeAll);

describe("the Lab", () => {
  it("shows every pane from the model's first page, before any message", async () => {
    const { el } = await mount(pageOf({ graph, view: viewOf(log), knobs: [KNOB] }));
    for (const text of ["PollingFlow", "Valid", "Completed", "AwaitJob", "AwaitJob-1", "x.db"]) {
      expect(el.textContent).toContain(text);
    }
    const regions = [...el.querySelectorAll("section")].map((one) =>
      one.getAttribute("aria-label"),
    );
    expect(regions).toEqual([
      "Lab of PollingFlow",
      "Definition graph",
      "What the run tells",
      "Knobs",
      "Timeline",
    ]);
  });

  it("leaves the model's own state as it was", async () => {
    const page = pageOf();
    const { model } = await mount(page);
    const before = JSON.stringify(page);
    const beat = eventOf("heartbeat", 12, { checkpoint: null, cleared: false });
    await act(async () => model.say({ kind: "snapshot", seq: 1, page: pageOf() }));
    await act(async () => {
      model.say({ kind: "batch", seq: 2, now: 12, events: [beat], engine: [] });
    });
    expect(JSON.stringify(page)).toBe(before);
  });

  it("shares one session among views that have a proxy each", async () => {
    const { model, el } = await mount(pageOf());
    open.push(await show(model));
    const second = open[1]?.el as HTMLElement;
    expect(model.kinds()).toEqual(["ready", "ready"]);
    expect(model.calls.get("msg:custom")?.size).toBe(1);
    await act(async () => {
      model.say({ kind: "snapshot", seq: 1, page: pageOf({ title: "Renamed" }) });
    });
    await settle();
    expect(el.textContent).toContain("Renamed");
    expect(second.textContent).toContain("Renamed");
    act(() => open.shift()?.leave());
    await act(async () => {
      model.say({ kind: "snapshot", seq: 2, page: pageOf({ title: "Again" }) });
    });
    await settle();
    expect(second.textContent).toContain("Again");
  });

  it("works in a host that calls no initialize", async () => {
    const model = new FakeModel(pageOf());
    const mounted = await show(model);
    expect(mounted.el.textContent).toContain("PollingFlow");
    mounted.leave();
    expect(model.calls.get("msg:custom")?.size).toBe(0);
  });

  it("leaves no timer and no listener after its clean-up, in the middle of a run", async () => {
    const page = () => pageOf({ graph, view: viewOf(log.slice(0, 40)), knobs: [KNOB] });
    const { model, el } = await mount(page());
    await act(async () => model.say({ kind: "snapshot", seq: 1, page: page() }));
    await settle();
    type(el.querySelector('input[type="number"]') as HTMLInputElement, "3");
    act(() => buttonOf(el, "Stop").click());
    expect(pendingTimers()).toBeGreaterThan(0);
    closeAll();
    await settle(30);
    expect(pendingTimers()).toBe(0);
    expect(model.calls.get("msg:custom")?.size).toBe(0);
    expect(document.body.querySelector(".dexnb")).toBeNull();
  });

  it("sends what the buttons say", async () => {
    const { model, el } = await mount(pageOf({ view: newView() }));
    act(() => buttonOf(el, "Stop").click());
    act(() => buttonOf(el, "×10").click());
    const sent = model.sent.filter((message) => message.kind === "command");
    expect(sent.map(({ name, args }) => [name, args])).toEqual([
      ["stop", {}],
      ["set_speed", { factor: 10 }],
    ]);
  });

  it("marks whatever takes the focus, so that its keys are no shortcuts of the notebook", async () => {
    const { el } = await mount(pageOf({ graph, view: viewOf(log), knobs: [KNOB] }));
    const focusable = el.querySelectorAll<HTMLElement>("button, input, a, [tabindex]");
    expect(focusable.length).toBeGreaterThan(12);
    for (const one of focusable) {
      one.focus();
      if (document.activeElement === one) {
        expect(one.dataset.lmSuppressShortcuts).toBe("true");
      }
    }
  });

  it("keeps plain keys, lets chords pass, and gives the focus back on Escape", async () => {
    const { el } = await mount(pageOf());
    const cell = document.body.appendChild(document.createElement("div"));
    cell.className = "jp-Cell";
    cell.tabIndex = -1;
    cell.append(el);
    const heard: string[] = [];
    cell.addEventListener("keydown", (event) => heard.push(event.key));
    const tab = el.querySelector('[role="tab"]') as HTMLElement;
    tab.focus();
    for (const init of [
      { key: "b" },
      { key: "x" },
      { key: "s", ctrlKey: true },
      { key: "Escape" },
    ]) {
      act(() => {
        tab.dispatchEvent(new KeyboardEvent("keydown", { ...init, bubbles: true }));
      });
    }
    expect(heard).toEqual(["s"]);
    expect(document.activeElement).toBe(cell);
    cell.remove();
  });

  it("says nothing of deleting or moving in the graph", async () => {
    const { el } = await mount(pageOf({ graph, view: viewOf(log) }));
    expect(el.innerHTML.toLowerCase()).not.toMatch(/delete|remove|to move/);
  });
});

describe("text from outside", () => {
  it("stays text in every pane", async () => {
    const rows = { time: 1, step: EVIL, attempt: 1 };
    const view = viewOf(log.slice(0, 40));
    const step = view.steps["AwaitJob-1"];
    Object.assign(view, { flow_id: EVIL, error_type: EVIL, error_message: EVIL });
    view.messages.push({ ...rows, stream: EVIL, value: JSON.stringify(EVIL) });
    view.log.push({ ...rows, source: EVIL, line: EVIL });
    view.notes.push({ ...rows, kind: EVIL, text: EVIL });
    if (step) {
      view.steps[`${EVIL}-1`] = structuredClone(step);
      Object.assign(step.attempts[0] ?? {}, {
        checkpoint: JSON.stringify(EVIL),
        failure: { error_type: EVIL, detail: EVIL, last_error: null },
        ended_at: 1_767_225_640,
      });
    }
    const bad = structuredClone(graph);
    for (const node of bad.nodes) Object.assign(node, { name: EVIL, condition: EVIL });
    bad.diagnostics.push({ code: EVIL, severity: "error", message: EVIL, line: 1 });
    const knob = { ...KNOB, label: EVIL, note: EVIL, error: EVIL, legal: false };
    const { el } = await mount(
      pageOf({
        title: EVIL,
        graph: bad,
        view,
        knobs: [knob],
        runtime: { name: EVIL, clock: `scaled:${EVIL}`, state: "open" },
      }),
    );
    for (const tab of ["Stream", "Log", "Dispatcher", "Notes"]) {
      act(() => buttonOf(el, tab).click());
      expect(el.querySelector("img, script")).toBeNull();
      expect(el.querySelectorAll("a").length).toBeLessThanOrEqual(1);
    }
    expect((window as unknown as { hit?: number }).hit).toBeUndefined();
    expect(el.textContent).toContain("<img src=x");
  });

  it("is cut where it is long", async () => {
    const view = viewOf(log.slice(0, 40));
    view.log.push({ time: 1, step: "A-1", attempt: 1, source: "print", line: "y".repeat(1e6) });
    view.log_count += 1;
    view.messages.push({ time: 1, step: "A-1", attempt: 1, stream: "s", value: "z".repeat(1e6) });
    const { el } = await mount(pageOf({ view, title: "t".repeat(1e5) }));
    act(() => buttonOf(el, "Log").click());
    expect(el.innerHTML.length).toBeLessThan(60_000);
    expect(el.textContent).toContain("more characters");
  });
});

describe("a knob", () => {
  const field = (el: HTMLElement) => el.querySelector('input[type="number"]') as HTMLInputElement;
  const commands = (model: FakeModel) => model.sent.filter((one) => one.kind === "command");

  it("sends the last of several quick changes, once", async () => {
    const { model, el } = await mount(pageOf({ knobs: [KNOB] }));
    for (const value of ["3", "4", "5"]) type(field(el), value);
    expect(commands(model)).toEqual([]);
    await settle(250);
    expect(commands(model).map((one) => one.args)).toEqual([
      { name: "POLL_INTERVAL", value: 5, live: true },
    ]);
  });

  it("that gets what is not legal says so and sends nothing", async () => {
    const { model, el } = await mount(pageOf({ knobs: [KNOB] }));
    type(field(el), "99");
    await settle(250);
    expect(commands(model)).toEqual([]);
    expect(el.querySelector('[role="alert"]')?.textContent).toBe(
      "POLL_INTERVAL: 1 min 39 s is out of range; give 100 ms to 40 s; 2 s stays in force",
    );
  });

  it("springs back with the reason when the value is refused", async () => {
    const { model, el } = await mount(pageOf({ knobs: [KNOB] }));
    type(field(el), "30");
    await settle(250);
    const [command] = commands(model);
    expect(field(el).value).toBe("30");
    await act(async () => {
      model.say({
        kind: "reply",
        id: command?.id ?? "",
        ok: false,
        state: "done",
        error: "POLL_INTERVAL is 30 s: no round fits",
        result: null,
      });
    });
    await settle();
    expect(field(el).value).toBe("2");
    expect(el.querySelector('[role="alert"]')?.textContent).toBe(
      "POLL_INTERVAL is 30 s: no round fits; 2 s stays in force",
    );
  });

  it("that was turned goes back to the code's value by one button", async () => {
    const { model, el } = await mount(pageOf({ knobs: [{ ...KNOB, value: 7 }] }));
    const reset = el.querySelector('[aria-label="Reset POLL_INTERVAL to the code\'s 2 s"]');
    act(() => (reset as HTMLElement).click());
    await settle(250);
    expect(commands(model).map((one) => one.args)).toEqual([
      { name: "POLL_INTERVAL", value: 2, live: true },
    ]);
    const untouched = await mount(pageOf({ knobs: [KNOB] }));
    expect(untouched.el.querySelector(".dexnb-reset")).toBeNull();
  });

  it("keeps an accepted value until the next snapshot says the same", async () => {
    const { model, el } = await mount(pageOf({ knobs: [KNOB] }));
    type(field(el), "7");
    await settle(250);
    const id = commands(model)[0]?.id ?? "";
    await act(async () => {
      model.say({ kind: "reply", id, ok: true, state: "done", error: "", result: null });
    });
    await settle();
    expect(field(el).value).toBe("7");
  });
});
