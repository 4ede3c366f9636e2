// @vitest-environment jsdom
/** What the page tells its user: what must not be missed, and why a button does nothing. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { act } from "react";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Event, FlowGraph } from "../src/documents";
import type { Finding } from "../src/findingDocuments";
import { needsAttention } from "../src/findings";
import { apply, newView, viewOf } from "../src/fold";
import { buttonOf, closeAll, mount, prepare, settle } from "./dom";
import { eventOf, pageOf } from "./fakes";

const LOGS = join(__dirname, "../demo/logs");
const graph = JSON.parse(readFileSync(join(LOGS, "polling.graph.json"), "utf8")) as FlowGraph;
const log = readFileSync(join(LOGS, "retry.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Event);

beforeAll(prepare);
afterEach(closeAll);

describe("a button that does nothing now", () => {
  const titleOf = (el: HTMLElement, text: string) => {
    const button = buttonOf(el, text);
    return [button.getAttribute("aria-disabled"), button.title];
  };

  it("sends nothing, keeps the focus and says why", async () => {
    const { model, el } = await mount(pageOf());
    const speed = buttonOf(el, "×10");
    speed.focus();
    act(() => speed.click());
    expect(model.kinds()).not.toContain("command");
    expect(document.activeElement).toBe(speed);
    expect(titleOf(el, "×10")).toEqual([
      "true",
      "Stop the run first: the speed is chosen before a run starts",
    ]);
  });

  it.each([
    [true, false, "No run is open"],
    [false, false, "No jobs are known: give dexnb.lab(..., jobs=...)"],
  ])("says whether jobs are known (%s)", async (jobs, complete_job, why) => {
    const actions = { ...pageOf().actions, jobs, complete_job };
    const { el } = await mount(pageOf({ actions, view: newView() }));
    expect(titleOf(el, "Complete job")).toEqual(["true", why]);
  });

  it("leaves one way to start: Run before the first run, Re-run behind each", async () => {
    const actions = { ...pageOf().actions, stop: false };
    const before = await mount(pageOf({ actions: { ...actions, rerun: false }, view: newView() }));
    expect(titleOf(before.el, "Re-run")).toEqual(["true", "There was no run yet: Run starts one"]);
    const { el } = await mount(pageOf({ actions: { ...actions, run: false }, view: viewOf(log) }));
    const run = [...el.querySelectorAll("button")].find((one) => one.textContent === " Run");
    expect(run?.getAttribute("aria-disabled")).toBe("true");
    expect(buttonOf(el, "Re-run").className).toContain("primary");
    expect(titleOf(el, "Re-run")[0]).toBe("false");
  });
});

describe("what must not be missed", () => {
  const notice = (el: HTMLElement) => el.querySelector(".dexnb-notice")?.textContent ?? "";

  it("is the output of a run that has ended", async () => {
    const outputs = [{ step: "AwaitJob-1", value: '{"total":42}' }];
    const { el } = await mount(pageOf({ view: viewOf(log), outputs }));
    expect(notice(el)).toBe('Output{"total": 42} AwaitJob-1');
  });

  it("is the error of a run that failed, also counted at the notes", async () => {
    const view = viewOf(log.slice(0, -1));
    Object.assign(view, { status: "FAILED", closed_at: view.time });
    Object.assign(view, { error_type: "STEP_DECISION_FAILED", error_message: "no build" });
    const { el } = await mount(pageOf({ view }));
    expect(notice(el)).toBe("STEP_DECISION_FAILEDno build");
    expect(buttonOf(el, "Notes").textContent).toBe("Notes1");
  });

  it("is what became of a button that was refused, until it is put away", async () => {
    const actions = { ...pageOf().actions, stop: true };
    const { model, el } = await mount(pageOf({ actions }));
    act(() => buttonOf(el, "Stop").click());
    const sent = model.sent.find((one) => one.kind === "command");
    const reply = { kind: "reply", state: "done", result: null } as const;
    await act(async () => {
      model.say({ ...reply, id: sent?.id ?? "", ok: false, error: "the store is gone" });
    });
    await settle();
    expect(el.querySelector('[role="alert"]')?.textContent).toContain("Stop: the store is gone");
    expect(el.querySelector("footer")?.textContent).not.toContain("gone");
    act(() => (el.querySelector('[aria-label^="Dismiss"]') as HTMLElement).click());
    await settle();
    expect(notice(el)).toBe("");
  });
});

describe("a Stream pane", () => {
  it("of a Flow without Streams says so", async () => {
    const none = { ...graph, nodes: graph.nodes.filter(({ kind }) => kind !== "stream") };
    const { el } = await mount(pageOf({ graph: none }));
    const hint = () => el.querySelector('[role="tabpanel"]')?.textContent;
    expect(hint()).toBe("This Flow has no Streams.");
  });
});

describe("attention", () => {
  const badge = (el: HTMLElement) => el.querySelector("header .dexnb-pill")?.textContent?.trim();

  it("is called for by a window that is broken at the outset", async () => {
    const message = "AwaitJob breaks the window rule: lower it to 40 s";
    const place = { path: "", cell: "", line: 0, column: 0, end_line: 0, end_column: 0 };
    const rule = {
      code: "DX201",
      name: "window-rule",
      severity: "error",
      verdict: "found",
    } as const;
    const of = { flow: "PollingFlow", node: "step:AwaitJob", place, hint: "", fix: null };
    const findings: Finding[] = [{ ...rule, ...of, message }];
    const { el } = await mount(pageOf({ graph, view: newView(), findings }));
    expect(badge(el)).toBe("Needs attention");
    act(() => buttonOf(el, "Findings").click());
    expect(el.querySelector('[role="tabpanel"]')?.textContent).toContain(message);
  });

  it("is called for by a Step that fails again and again, with its cause and the way out", async () => {
    const failure = { error_type: "jobs.JobUnavailable", detail: "it is down", last_error: null };
    const view = viewOf([
      eventOf("flow_started", 0, { flow_type: "F", overrides: {} }, ""),
      eventOf("step_scheduled", 0, {
        step_type: "A",
        from_step_execution_id: "",
        recovery_error: null,
      }),
    ]);
    const page = pageOf({ graph, view });
    const attempt = (number: number, at: number) => {
      const limits = {
        execute_method_timeout: 600,
        heartbeat_timeout: 30,
        maximum_attempts: 0,
        total_duration: 14400,
      };
      const begin = { ...limits, first_attempt_at: 0, checkpoint: null };
      apply(view, { ...eventOf("attempt_started", at, begin), attempt: number });
      apply(view, { ...eventOf("attempt_ended", at + 1, { failure }), attempt: number });
    };
    attempt(1, 1);
    expect(needsAttention(page)).toBe(false);
    attempt(2, 3);
    const { el } = await mount(page);
    expect(badge(el)).toBe("Needs attention");
    act(() => buttonOf(el, "Notes").click());
    const said = el.querySelector('[role="tabpanel"]')?.textContent ?? "";
    for (const part of [
      "A-1 has failed 2 times in a row, last with JobUnavailable: it is down.",
      "maximum_attempts is 0, no limit: retries go on for 4 h.",
      "run its cell again",
    ]) {
      expect(said).toContain(part);
    }
  });
});
