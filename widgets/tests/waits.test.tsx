// @vitest-environment jsdom
/** Waits, Channels, Attributes, locks, branches and SubFlows as the page shows them. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { act } from "react";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Event, FlowGraph, Page, RunView } from "../src/documents";
import { newView, viewOf } from "../src/fold";
import { liveOf } from "../src/graph/live";
import { shapeOf, shapeOfRun } from "../src/graph/shape";
import { standingOf } from "../src/lab/status";
import { labCall, subflowsOf } from "../src/subflows";
import { lanesOf, tellsAttempts } from "../src/timeline/lanes";
import { whatAt } from "../src/timeline/probe";
import { executionName, heldText, waitText } from "../src/waits";
import { buttonOf, closeAll, mount, prepare } from "./dom";
import { pageOf } from "./fakes";

const LOGS = join(__dirname, "../demo/logs");
const log = readFileSync(join(LOGS, "shop.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Event);
const graph = JSON.parse(readFileSync(join(LOGS, "shop.graph.json"), "utf8")) as FlowGraph;
const BEGIN = log[0]?.time ?? 0;

const viewAt = (seconds: number) => viewOf(log.filter(({ time }) => time <= BEGIN + seconds));
const stepOf = (view: RunView, id: string) => {
  const step = view.steps[id];
  if (!step) throw new Error(`no ${id}`);
  return step;
};
const pageAt = (seconds: number, change: Partial<Page> = {}) =>
  pageOf({ graph, view: viewAt(seconds), now: BEGIN + seconds, ...change });

const EVIL = '<img src=x onerror="window.hit=1">\u202e';

beforeAll(prepare);
afterEach(closeAll);

describe("what holds a Step up", () => {
  const cases: [seconds: number, id: string, words: string][] = [
    [0.5, "Collect-1", ""],
    [5, "Collect-1", "waiting: orders 0 of 2, timer closing 3:56 left"],
    [30, "Collect-1", "waiting: orders 1 of 2, timer closing 3:31 left"],
    [48, "Collect-1", ""],
    [50, "Reserve-1", ""],
    [50, "Reserve-2", "queued for lock stock"],
    [50, "Ship-1", "waiting: Parcel running, timer slow 2:29 left"],
    [120, "Reserve-2", ""],
  ];
  it.each(cases)("after %d s of %s is %o", (seconds, id, words) => {
    const view = viewAt(seconds);
    expect(heldText(stepOf(view, id), view, BEGIN + seconds)).toBe(words);
  });

  it("is a start that is delayed, for as long as it is", () => {
    const path = join(__dirname, "../../tests/data/timed_out.jsonl");
    const events = readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Event);
    const begin = events[0]?.time ?? 0;
    const early = viewOf(events.filter(({ time }) => time < begin + 5));
    expect(heldText(stepOf(early, "Unsure-1"), early, begin + 2)).toBe("begins in 0:03");
    expect(liveOf(early, "Unsure", begin + 2).text).toBe("begins in 0:03");
    expect(lanesOf(early, begin + 2).lanes[0]?.sub).toBe("begins in 0:03");
    const later = viewOf(events.filter(({ time }) => time <= begin + 6));
    expect(heldText(stepOf(later, "Unsure-1"), later, begin + 6)).toBe("");
  });

  it("is told of the past as what became of it", () => {
    const view = viewOf(log);
    const became = ["Collect-1", "Bill-1", "Bill-2", "Ship-1"].map((id) => {
      return waitText(stepOf(view, id), view, BEGIN + 500);
    });
    expect(became).toEqual([
      "orders consumed",
      "timer reminder fired",
      "payments consumed",
      "Parcel completed",
    ]);
  });

  it("is told for the first few of many conditions", () => {
    const view = viewAt(30);
    const step = stepOf(view, "Collect-1");
    const { wait } = step;
    const first = wait?.conditions[0];
    if (!wait || !first) throw new Error("no wait");
    wait.conditions = Array.from({ length: 50 }, () =>
      first.kind === "channel"
        ? first
        : { ...first, kind: "channel", label: "orders", need: 2, due_at: null },
    );
    wait.count = 800;
    expect(waitText(step, view, BEGIN + 30)).toMatch(/^(orders 1 of 2, ){4}796 more$/);
  });
});

describe("the graph", () => {
  it("says what a Step waits for, and how many executions do what", () => {
    const words = (seconds: number, type: string) =>
      liveOf(viewAt(seconds), type, BEGIN + seconds).text;
    expect(words(0.5, "Collect")).toMatch(/^wait_for · /);
    expect(words(30, "Collect")).toBe("waiting: orders 1 of 2, timer closing 3:31 left");
    expect(words(50, "Reserve")).toBe("1 running, 1 queued");
    expect(words(80, "Reserve")).toMatch(/^running · /);
    expect(liveOf(viewAt(50), "Reserve", BEGIN + 50).state).toBe("running");
  });

  it("has a box for the handler of a timeout, by the name that a run gives it", () => {
    const [first] = graph.nodes;
    if (!first) throw new Error("no node");
    const id = "step:sys:timeout_handler";
    const node = { ...first, id, kind: "timeout_handler" as const, name: "handle_timeout" };
    const { boxes } = shapeOf({ ...graph, nodes: [...graph.nodes, node] }, new Set());
    const box = boxes.find((one) => one.id === id);
    expect(box).toMatchObject({ name: "handle_timeout", type: "sys:timeout_handler", known: true });
  });

  it("shows the conditions that the source tells, and starts of SubFlows nowhere", () => {
    const { boxes } = shapeOf(graph, new Set());
    expect(boxes.find(({ name }) => name === "Collect")?.waits).toEqual([
      "orders at least 2",
      "timer 4 min",
    ]);
    const names = shapeOfRun(viewOf(log), new Set()).boxes.map(({ name }) => name);
    expect(names).toEqual(["Collect", "Reserve", "Bill", "Ship"]);
  });
});

describe("the timeline", () => {
  it("has one lane per execution, and rows of SubFlows below their parent's", () => {
    const view = viewAt(80);
    const { lanes, children, hidden, height } = lanesOf(view, BEGIN + 80);
    expect(lanes.map(({ id }) => id)).toEqual([
      "Collect-1",
      "Reserve-1",
      "Reserve-2",
      "Bill-1",
      "Ship-1",
    ]);
    expect(hidden).toBe(0);
    const [row] = children;
    expect(row?.subflow).toMatchObject({
      ...{ flowId: "SubFlow:shop-1-Ship-1-0", status: "RUNNING", type: "Parcel", view: null },
    });
    expect(row?.open).toBe(false);
    expect(row?.top).toBe(lanes.at(-1)?.bottom);
    expect(height).toBeGreaterThan(row?.bottom ?? 0);
  });

  it("tells attempts of wait_for apart from those of execute", () => {
    const { lanes } = lanesOf(viewAt(0.5), BEGIN + 0.5);
    expect(lanes[0]?.sub).toBe("wait_for");
    expect(tellsAttempts(stepOf(viewAt(0.5), "Collect-1"))).toBe(true);
    expect(lanesOf(viewAt(30), BEGIN + 30).lanes[0]?.sub).toBe("waiting");
    expect(lanesOf(viewAt(50), BEGIN + 50).lanes[2]?.sub).toBe("queued for lock stock");
  });

  it("tells under the pointer what was waited for", () => {
    const [lane] = lanesOf(viewAt(30), BEGIN + 30).lanes;
    const words = whatAt(lane, BEGIN + 10, BEGIN, BEGIN + 30);
    expect(words).toBe("0:10.0 · Collect-1 · waits for orders 1 of 2, timer closing 3:31 left");
    expect(whatAt(lane, BEGIN + 0.5, BEGIN, BEGIN + 30)).toContain("wait_for");
  });

  it("draws waits, queues, timers and SubFlows", async () => {
    const { el } = await mount(pageAt(60));
    expect(el.querySelectorAll(".dexnb-t-wait")).toHaveLength(3);
    expect(el.querySelectorAll(".dexnb-t-queue")).toHaveLength(1);
    expect(el.querySelector(".dexnb-t-sub-flow title")?.textContent).toContain(
      'dexnb.lab(Parcel, "SubFlow:shop-1-Ship-1-0", runtime=runtime)',
    );
    expect(el.querySelector(".dexnb-timeline")?.textContent).toContain("wait_for");
  });
});

describe("how the run stands", () => {
  it("is Waiting when every Step waits", () => {
    expect(standingOf(pageAt(30)).text).toBe("Waiting");
    expect(standingOf(pageAt(50)).text).toBe("Running");
  });
});

describe("the State pane", () => {
  const textAt = async (page: Page) => {
    const { el } = await mount(page);
    act(() => buttonOf(el, "State").click());
    const pane = el.querySelector('[role="tabpanel"]');
    return { el, text: pane?.textContent ?? "" };
  };

  it("shows Attributes, Channels, locks and SubFlows as they are", async () => {
    const { el, text } = await textAt(pageAt(50));
    const rows = [...el.querySelectorAll(".dexnb-kept tbody tr")].map((row) =>
      [...row.children].map((cell) => cell.textContent?.trim()),
    );
    expect(rows).toContainEqual(["stock", "17"]);
    expect(rows).toContainEqual(["state", "selling"]);
    expect(rows).toContainEqual(["notes/opened by", "the demo"]);
    expect(rows).toContainEqual(["orders", "0 of 2 published", '{"item": "kettle", "count": 1}']);
    expect(rows).toContainEqual(["stock", "Reserve-1"]);
    expect(rows).toContainEqual(["Reserve-2", "queued for lock stock"]);
    expect(text).toContain('dexnb.lab(Parcel, "SubFlow:shop-1-Ship-1-0", runtime=runtime)');
  });

  it("says so where there is nothing yet", async () => {
    const { text } = await textAt(pageOf({ view: { ...newView(), status: "RUNNING" } }));
    expect(text).toContain("no Attributes");
  });

  it("shows names and values from outside as text, bounded", async () => {
    const view = viewAt(50);
    view.attributes = { [EVIL]: EVIL, "x%2": { a: EVIL }, long: "y".repeat(1e6) };
    for (let n = 0; n < 200; n += 1) view.attributes[`many/${n}`] = n;
    view.channels = { [EVIL]: { pending: 1, published: 1, newest: [EVIL], ids: [1] } };
    view.locks = { [EVIL]: EVIL };
    const ship = stepOf(view, "Ship-1");
    const [told] = Object.values(ship.subflows);
    if (!told) throw new Error("no SubFlow");
    const evil = { status: EVIL, flow_type: EVIL, error_type: EVIL, error_message: EVIL };
    ship.subflows = { [EVIL]: { ...told, ...evil, outputs: [EVIL] } };
    for (const one of ship.wait?.conditions ?? []) Object.assign(one, { label: EVIL });
    const { el, text } = await textAt(pageOf({ graph, view, now: BEGIN + 50 }));
    expect(el.querySelector("img")).toBeNull();
    expect((window as unknown as { hit?: number }).hit).toBeUndefined();
    expect(text).toContain("103 more, changed earlier");
    expect(text).toContain("an RPC");
    expect(el.innerHTML).not.toContain("\u202e");
    expect(el.innerHTML.length).toBeLessThan(200_000);
  });

  it("takes a page that was saved when no more was known of a SubFlow than its status", async () => {
    const view = viewAt(50);
    stepOf(view, "Ship-1").subflows = { "SubFlow:shop-1-Ship-1-0": "COMPLETED" } as never;
    const { text } = await textAt(pageOf({ view }));
    expect(text).toContain("Parcel of Ship-1");
    expect(text).toContain("completed");
  });

  it("takes a page that was saved before there was such state", async () => {
    const { attributes, channels, published, locks, ...old } = viewAt(50);
    for (const step of Object.values(old.steps)) {
      const fields = step as unknown as Record<string, unknown>;
      for (const name of ["method", "state", "locks", "wait", "subflows"]) delete fields[name];
      for (const attempt of step.attempts) Reflect.deleteProperty(attempt, "method");
    }
    const { el } = await mount(pageOf({ view: old as unknown as RunView }));
    expect(el.textContent).toContain("Reserve-2");
  });
});

describe("names", () => {
  it("of internal Steps are words, and a SubFlow's Lab is a call", () => {
    expect(executionName("sys:timeout_handler-1", 40)).toBe("handle_timeout");
    expect(executionName("sys:subflow-3", 40)).toBe("start of SubFlow 3");
    expect(executionName("Bill-1", 40)).toBe("Bill-1");
    const [row] = subflowsOf(stepOf(viewAt(50), "Ship-1"), {});
    if (!row) throw new Error("no SubFlow");
    expect(labCall({ ...row, type: "" })).toBe(
      'dexnb.lab(TheFlow, "SubFlow:shop-1-Ship-1-0", runtime=runtime)',
    );
  });
});
