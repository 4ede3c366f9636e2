// @vitest-environment jsdom
/** SubFlows in the page of the run that waits for them: their lanes, messages, log and results. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { act } from "react";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Event, Page, RunView, Signs } from "../src/documents";
import { viewOf } from "../src/fold";
import { unpackPage } from "../src/packing";
import { LabStore } from "../src/store";
import { subflowsOf } from "../src/subflows";
import { ALONE, lanesOf } from "../src/timeline/lanes";
import { whatAt, whatOf } from "../src/timeline/probe";
import { Transport } from "../src/transport";
import { buttonOf, closeAll, mount, prepare, settle } from "./dom";
import { eventOf, FakeTimers, pageOf } from "./fakes";

interface Family {
  first: Page;
  batch: { events: (Event | Signs)[]; children: Record<string, (Event | Signs)[]> };
  last: Page;
}

const FILE = join(__dirname, "../../tests/widgets/family.json");
const family = (): Family => JSON.parse(readFileSync(FILE, "utf8"));
const { actions, settings, runtime } = pageOf();
const whole = (page: Page): Page => ({ ...page, graph: null, actions, settings, runtime });
const last = () => unpackPage(whole(family().last));
const childOf = (page: Page, run: string) => page.children?.[run] as RunView;

beforeAll(prepare);
afterEach(closeAll);

describe("events of SubFlows", () => {
  it("are folded into the views that they name, as Python folds them", () => {
    const timers = new FakeTimers();
    const store = new LabStore(timers);
    const transport = new Transport(
      () => {},
      store,
      timers,
      () => "id",
    );
    const { first, batch } = family();
    transport.receive({ kind: "snapshot", seq: 1, page: whole(first) });
    expect(childOf(store.page as Page, "c0").message_count).toBe(1);
    transport.receive({ kind: "batch", seq: 2, now: 10, engine: [], ...batch });
    const [page, told] = [store.page as Page, last()];
    expect(page.view).toEqual(told.view);
    expect(childOf(page, "c0").messages).toEqual(childOf(told, "c0").messages);
    expect(childOf(page, "c0").steps["Pack-1"]?.subflows).toEqual(
      childOf(told, "c0").steps["Pack-1"]?.subflows,
    );
    expect(childOf(page, "c1")).toEqual(childOf(told, "c1"));
    // A child that the page does not know comes with the next snapshot.
    expect(page.children).not.toHaveProperty("g0");
  });
});

describe("what is known of a SubFlow", () => {
  it("is told by its own run, or else by what its parent was told", () => {
    const page = last();
    const step = page.view.steps["Poll-1"];
    if (!step) throw new Error("no Step");
    const rows = subflowsOf(step, page);
    expect(rows.map(({ name, status, began, ended }) => [name, status, began, ended])).toEqual([
      ["Parcel 0", "RUNNING", 1.5, null],
      ["Parcel 1", "FAILED", 0, 7.9],
      ["Parcel 2", "RUNNING", 1.5, null],
    ]);
    expect(rows.map(({ view }) => view?.run_id)).toEqual(["c0", "c1", undefined]);
  });
});

describe("the timeline", () => {
  const outline = (page: Page, opened: ReadonlyMap<string, boolean> = new Map()) => {
    const { lanes, children } = lanesOf(page.view, 10, { ...page, opened });
    const rows = [
      ...lanes.map(({ top, depth, id }) => ({ top, depth, id })),
      ...children.map(({ top, depth, subflow }) => ({ top, depth, id: `+${subflow.name}` })),
    ];
    return rows.sort((a, b) => a.top - b.top).map(({ depth, id }) => `${"  ".repeat(depth)}${id}`);
  };

  it("has the lanes of a SubFlow, and of its own, below the execution that waits", () => {
    expect(outline(last())).toEqual([
      "Poll-1",
      "  +Parcel 0",
      "  Pack-1",
      "    +Label",
      "    Poll-1",
      "  +Parcel 1",
      "  Poll-1",
      "  +Parcel 2",
    ]);
  });

  it("shows what the reader has opened, and of the others what runs or has failed", () => {
    expect(outline(last(), new Map([["c0", false]]))).not.toContain("  Pack-1");
    const page = last();
    const child = childOf(page, "c1");
    child.status = "COMPLETED";
    for (const told of Object.values(page.view.steps["Poll-1"]?.subflows ?? {})) {
      if (told.run_id === "c1") told.status = "COMPLETED";
    }
    expect(outline(page)).not.toContain("  Poll-1");
    expect(outline(page, new Map([["c1", true]]))).toContain("  Poll-1");
  });

  it("has no two lanes of one key, though Steps of two runs have one name", () => {
    const page = last();
    const { lanes, children } = lanesOf(page.view, 10, { ...ALONE, ...page });
    const keys = [...lanes, ...children].map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("draws a bounded number of a thousand busy SubFlows, and counts the others", () => {
    const page = last();
    const step = page.view.steps["Poll-1"];
    const child = childOf(page, "c0");
    const [told] = Object.values(step?.subflows ?? {});
    if (!step?.wait || !told) throw new Error("no wait");
    for (let run = 0; run < 20; run += 1)
      child.steps[`Pack-${run}`] = child.steps["Pack-1"] as never;
    step.wait.subflow_count = 1000;
    step.subflows = {};
    for (let run = 0; run < 64; run += 1) {
      step.subflows[`SubFlow:x-${run}`] = { ...told, run_id: `run-${run}`, status: "RUNNING" };
      if (run < 24) page.children = { ...page.children, [`run-${run}`]: child };
    }
    const { lanes, children, hints } = lanesOf(page.view, 10, { ...ALONE, ...page });
    expect(lanes.length).toBeLessThanOrEqual(41);
    expect(children.filter(({ depth }) => depth === 1)).toHaveLength(32);
    expect(hints.at(-1)?.text).toBe("and 968 more SubFlows; 1 of 1,000 have ended");
  });

  it("tells under the pointer of which SubFlow a lane is", () => {
    const page = last();
    const { lanes, children } = lanesOf(page.view, 10, { ...ALONE, ...page });
    const lane = lanes.find(({ id }) => id === "Pack-1");
    expect(whatAt(lane, 9, 0, 10)).toContain("0:09.0 · Parcel 0 Pack-1");
    expect(whatOf(children.at(-1), 2, 0)).toBe("0:02.0 · Parcel 2 running · SubFlow:flow-Poll-1-2");
  });

  it("is opened and closed by buttons that say what they are of", async () => {
    const { el } = await mount(whole(family().last));
    const list = el.querySelector('[aria-label="SubFlows"]');
    const first = list?.querySelector("button") as HTMLButtonElement;
    expect(first.getAttribute("aria-label")).toBe(
      "SubFlow Parcel 0, running, SubFlow:flow-Poll-1-0",
    );
    expect(first.getAttribute("aria-expanded")).toBe("true");
    first.focus();
    expect(document.activeElement).toBe(first);
    const names = () => [...el.querySelectorAll("text.dexnb-t-name")].map((one) => one.textContent);
    expect(names().join()).toContain("Pack-1");
    act(() => first.click());
    await settle();
    expect(first.getAttribute("aria-expanded")).toBe("false");
    expect(document.activeElement).toBe(first);
    expect(names().join()).not.toContain("Pack-1");
    // Of what nobody can read there is nothing to open.
    expect(list?.querySelectorAll("li")).toHaveLength(3);
    expect(list?.querySelectorAll("button")).toHaveLength(2);
  });

  it("says which SubFlow waits for code", async () => {
    const { el } = await mount(whole(family().last));
    const held = el.querySelector(".dexnb-t-sub-flow-held");
    expect(held?.textContent).toContain("waits for code");
    expect(held?.querySelector("title")?.textContent).toContain(
      "no Flow named Label is registered",
    );
  });
});

describe("the panes", () => {
  const textOf = async (page: Page, tab: string) => {
    const { el } = await mount(page);
    act(() => buttonOf(el, tab).click());
    return el.querySelector('[role="tabpanel"]') as HTMLElement;
  };

  it("have messages and log lines of SubFlows among the run's own, by time", async () => {
    const page = whole(family().last);
    const own = eventOf("stream_message", 5, { stream: "Own", value: '"between"' });
    page.view.messages = viewOf([own]).messages;
    page.view.message_count = 1;
    const stream = await textOf(page, "Stream");
    const rows = [...stream.querySelectorAll("li")].map((row) => row.textContent ?? "");
    expect(rows.map((row) => row.replace(/.*News|.*Own/, "").trim())).toEqual([
      "half packedPack-1 · attempt 1 of SubFlow:flow-Poll-1-0",
      "betweenA-1 · attempt 1",
      "packedPack-1 · attempt 1 of SubFlow:flow-Poll-1-0",
    ]);
    const log = await textOf(whole(family().last), "Log");
    expect(log.textContent).toContain("packed <i>it</i>");
    expect(log.querySelector("i")).toBeNull();
  });

  it("tell how each stands, with its error, and what it waits for", async () => {
    const state = await textOf(whole(family().last), "State");
    const rows = [...state.querySelectorAll("tbody tr")].map((row) =>
      [...row.children].map((cell) => cell.textContent?.trim()),
    );
    const call = (type: string, id: string) => `dexnb.lab(${type}, "${id}", runtime=runtime)`;
    expect(rows.slice(-4)).toEqual([
      [
        `Parcel 0 of Poll-1${call("Parcel", "SubFlow:flow-Poll-1-0")}`,
        "running",
        "Pack-1 waiting: Label running",
      ],
      [
        `Label of Pack-1${call("Label", "SubFlow:SubFlow:flow-Poll-1-0-Pack-1-0")}`,
        "running",
        "waits for code: no Flow named Label is registered in this process",
      ],
      [
        `Parcel 1 of Poll-1${call("Parcel", "SubFlow:flow-Poll-1-1")}`,
        "failed",
        "STEP_DECISION_FAILED: lost <b>on the way</b>",
      ],
      [`Parcel 2 of Poll-1${call("Parcel", "SubFlow:flow-Poll-1-2")}`, "running", ""],
    ]);
  });
});
