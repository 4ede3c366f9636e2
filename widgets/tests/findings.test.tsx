// @vitest-environment jsdom
/** The findings of a Flow: badges, filters, source and rule, by hand and by keys alone. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { act } from "react";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { FlowGraph, Json, Page } from "../src/documents";
import type { Excerpt, Finding, Lint, RulePage } from "../src/findingDocuments";
import { boxOf, flowFindings, placeText, worstOf } from "../src/findings";
import { newView } from "../src/fold";
import { sectionsOf } from "../src/panes/rulePage";
import { buttonOf, closeAll, mount, prepare, settle } from "./dom";
import { type FakeModel, pageOf } from "./fakes";

const read = (path: string) => JSON.parse(readFileSync(join(__dirname, path), "utf8"));
const graph = read("../demo/logs/polling.graph.json") as FlowGraph;
const { findings, lint, excerpt, rule } = read("../../tests/data/findings.json") as {
  findings: Finding[];
  lint: Lint;
  excerpt: Excerpt;
  rule: RulePage;
};

beforeAll(prepare);
afterEach(closeAll);

const page = (change: Partial<Page> = {}) =>
  pageOf({ graph, view: newView(), findings, lint, ...change });
const rows = (el: HTMLElement) => [...el.querySelectorAll<HTMLElement>(".dexnb-finding")];
const codes = (el: HTMLElement) => rows(el).map((row) => row.querySelector("b")?.textContent);
const badgeOf = (el: HTMLElement, step: string) =>
  el.querySelector<HTMLButtonElement>(`[data-id="step:${step}"] .dexnb-badge`);

async function opened(change: Partial<Page> = {}) {
  const mounted = await mount(page(change));
  act(() => buttonOf(mounted.el, "Findings").click());
  return mounted;
}

/** Answer the newest command of a name. */
async function answer(model: FakeModel, name: string, result: unknown, error = "") {
  const sent = model.sent.findLast((one) => one.kind === "command" && one.name === name);
  if (sent?.kind !== "command") throw new Error(`no command ${name}`);
  await act(async () => {
    const ok = error === "";
    model.say({ kind: "reply", id: sent.id, ok, state: "done", error, result: result as Json });
  });
  return sent.args;
}

describe("a finding as a document", () => {
  it("belongs to the box around its card, and its place reads as people write it", () => {
    const [window, blocking, , , whole] = findings as [Finding, Finding, Finding, Finding, Finding];
    expect([window, blocking, whole].map((one) => boxOf(one, graph))).toEqual([
      "step:AwaitJob",
      "step:AwaitJob",
      "",
    ]);
    expect(findings.map(({ place }) => placeText(place))).toEqual([
      "In [3]:12",
      "flows/polling.py:14",
      "flows/polling.py:19",
      "flows/polling.py:30",
      "",
    ]);
    expect(worstOf(findings.slice(2))).toBe("warning");
  });
});

describe("the pane", () => {
  it("lists what is found with code, name, place and what cannot be told", async () => {
    const { el } = await opened();
    expect(codes(el)).toEqual(["DX201", "DX302", "DX104", "DX403", "DX203"]);
    expect(rows(el)[0]?.textContent).toContain("In [3]:12");
    expect(rows(el).map((row) => row.textContent?.includes("cannot tell"))).toEqual([
      false,
      false,
      false,
      true,
      false,
    ]);
    expect(buttonOf(el, "Findings").textContent).toBe("Findings5");
    expect(el.querySelector('[role="tabpanel"]')?.textContent).toContain(
      "17 rules were asked about PollingFlow and its 3 Steps at 22:01:25 UTC.",
    );
  });

  it("shows text of others as text", async () => {
    const { el } = await opened();
    expect(el.querySelector("img")).toBeNull();
    expect(rows(el)[1]?.textContent).toContain("<img src=x");
    expect(rows(el)[1]?.textContent).toContain("\\u202e");
  });

  it("filters by severity", async () => {
    const { el } = await opened();
    act(() => buttonOf(el, "warnings").click());
    expect(codes(el)).toEqual(["DX104", "DX403"]);
    act(() => buttonOf(el, "all").click());
    expect(codes(el)).toHaveLength(5);
  });

  it("says what was checked where nothing was found, and why nothing could be", async () => {
    const said = (el: HTMLElement) => el.querySelector('[role="tabpanel"]')?.textContent;
    const none = await opened({ findings: [] });
    expect(said(none.el)).toContain("No findings. 17 rules were asked");
    const pending = await opened({ findings: [], lint: { ...lint, state: "pending" } });
    expect(said(pending.el)).toBe("The Flow is being linted…");
    const reason = "OSError: no such file";
    const failed = await opened({ findings: [], lint: { ...lint, state: "failed", reason } });
    expect(said(failed.el)).toBe(`Not linted ${reason}`);
    expect(failed.el.querySelector("header .dexnb-pill")?.textContent).toBe("Valid");
  });

  it("follows what Python says next", async () => {
    const { model, el } = await opened();
    await act(async () => {
      const rest = findings.slice(1, 2);
      model.say({ kind: "snapshot", seq: 1, page: page({ findings: structuredClone(rest) }) });
    });
    await settle();
    expect(codes(el)).toEqual(["DX302"]);
    expect(badgeOf(el, "AwaitJob")?.textContent).toBe("1");
    expect(badgeOf(el, "StartJob")).toBeNull();
  });

  it("leaves to the notes what is of the run", async () => {
    const of = findings[4] as Finding;
    const input: Finding = { ...of, code: "input", name: "other-input", message: "input 4 unused" };
    const { el } = await opened({ findings: [input] });
    expect(flowFindings(page({ findings: [input] }))).toEqual([]);
    expect(rows(el)).toEqual([]);
    act(() => buttonOf(el, "Notes").click());
    expect(el.querySelector('[role="tabpanel"]')?.textContent).toContain("input 4 unused");
  });
});

describe("an open finding", () => {
  it("shows the marked line of its source, and marks its box in the graph", async () => {
    const { model, el } = await opened();
    act(() => rows(el)[0]?.querySelector("button")?.click());
    expect(el.querySelector('[data-id="step:AwaitJob"] .dexnb-chosen')).not.toBeNull();
    const args = await answer(model, "source_of", excerpt);
    expect(args).toEqual({ place: findings[0]?.place });
    const marked = [...el.querySelectorAll(".dexnb-marked")].map((one) => one.textContent);
    expect(marked).toEqual(["12    await asyncio.sleep(55)"]);
    expect(rows(el)[0]?.textContent).toContain("turn POLL_INTERVAL to at most 50 s");
    act(() => rows(el)[0]?.querySelector("button")?.click());
    expect(el.querySelector(".dexnb-source-lines")).toBeNull();
  });

  it("says why its source cannot be shown, once", async () => {
    const { model, el } = await opened();
    act(() => rows(el)[0]?.querySelector("button")?.click());
    await answer(model, "source_of", null, "the source of In [3] is not known here");
    await settle();
    expect(rows(el)[0]?.textContent).toContain("is not known here");
    expect(el.querySelector("footer")?.textContent).not.toContain("is not known");
  });

  it("asks for no source where no place is known", async () => {
    const { model, el } = await opened();
    act(() => rows(el)[4]?.querySelector("button")?.click());
    expect(model.kinds()).not.toContain("command");
  });

  it("explains its rule, and tells of a fix", async () => {
    const { model, el } = await opened();
    act(() => rows(el)[2]?.querySelector("button")?.click());
    expect(rows(el)[2]?.textContent).toContain(
      "dexnb lint --fix can make the call wait at most CALL_TIMEOUT.",
    );
    act(() => buttonOf(el, "What DX104 means").click());
    expect(await answer(model, "explain", rule)).toEqual({ code: "DX104" });
    const titles = [...el.querySelectorAll(".dexnb-rule h4")].map((one) => one.textContent);
    expect(titles).toEqual(["What", "Why", "Instead"]);
    expect(el.querySelector(".dexnb-rule pre")?.textContent).toBe(
      "POLL_INTERVAL = timedelta(seconds=40)\n\nCALL_TIMEOUT = timedelta(seconds=10)",
    );
  });

  it("stays open when the view is mounted anew", async () => {
    const { el } = await opened();
    act(() => rows(el)[0]?.querySelector("button")?.click());
    act(() => buttonOf(el, "Log").click());
    act(() => buttonOf(el, "Findings").click());
    expect(rows(el)[0]?.querySelector("button")?.getAttribute("aria-expanded")).toBe("true");
  });
});

describe("a badge", () => {
  it("counts by the worst, names the codes, and lists its own with the focus there", async () => {
    const { el } = await mount(page());
    const badge = badgeOf(el, "AwaitJob");
    expect(badge?.textContent).toBe("3");
    expect(badge?.className).toContain("dexnb-badge-error");
    expect(badge?.getAttribute("aria-label")).toBe(
      "AwaitJob: 3 findings: DX201 window-rule, DX302 blocking-call, DX403 unknown-target",
    );
    act(() => badge?.click());
    await settle(30);
    expect(codes(el)).toEqual(["DX201", "DX302", "DX403"]);
    expect(document.activeElement).toBe(rows(el)[0]?.querySelector("button"));
    act(() => buttonOf(el, "only AwaitJob").click());
    expect(codes(el)).toHaveLength(5);
  });

  it("is for the whole Flow in the header, which opens the list", async () => {
    const { el } = await mount(page());
    act(() => buttonOf(el, "Needs attention").click());
    expect(codes(el)).toHaveLength(5);
  });

  it("is missing where nothing was found", async () => {
    const { el } = await mount(page({ findings: [] }));
    expect(el.querySelector(".dexnb-badge")).toBeNull();
  });
});

describe("a rule's page", () => {
  it("is its summary, then sections of paragraphs and code", () => {
    expect(sectionsOf(rule.page).map(({ title, blocks }) => [title, blocks.length])).toEqual([
      ["", 1],
      ["What", 1],
      ["Why", 1],
      ["Instead", 3],
    ]);
    expect(sectionsOf(rule.page)[1]?.blocks[0]?.text).toBe(
      "The interval and the call timeout of a poll are together more than heartbeat_timeout less " +
        "the margin.",
    );
  });
});
