/** The graph: what is read from the document, and where it is drawn. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FlowGraph, GraphEdge, GraphNode } from "../src/documents";
import { viewOf } from "../src/fold";
import { layout, type Picture } from "../src/graph/layout";
import { liveOf, roundTimes, wasTaken } from "../src/graph/live";
import { executionText } from "../src/graph/measure";
import { loopPath } from "../src/graph/path";
import { ringTone } from "../src/graph/Ring";
import { lastGuard, shapeOf, shapeOfRun, sharedStart } from "../src/graph/shape";
import { eventOf } from "./fakes";

const file = join(__dirname, "../demo/logs/polling.graph.json");
const polling = JSON.parse(readFileSync(file, "utf8")) as FlowGraph;
const NONE: ReadonlySet<string> = new Set();

const hasId = (edges: GraphEdge[], id: string) => edges.some((each) => each.id === id);

const node = (name: string, change: Partial<GraphNode> = {}): GraphNode => ({
  id: `step:${name}`,
  kind: "step",
  name,
  parentId: "",
  start: false,
  condition: "",
  decision: null,
  settings: null,
  given: [],
  constants: [],
  timings: [],
  line: 0,
  column: 0,
  ...change,
});

const edge = (from: string, to: string, kind: GraphEdge["kind"] = "transition"): GraphEdge => ({
  id: `${kind}:${from}:${to}`,
  kind,
  from: `step:${from}`,
  to: `step:${to}`,
  label: "",
  condition: "",
});

const graphOf = (names: string[], edges: GraphEdge[]): FlowGraph => ({
  ...polling,
  nodes: names.map((name) => node(name)),
  edges,
});

const pictureOf = (graph: FlowGraph) => layout(shapeOf(graph, NONE));

function boxOf(picture: Picture, name: string) {
  const found = picture.boxes.find(({ box }) => box.name === name);
  if (!found) throw new Error(`no box ${name}`);
  return found;
}

/** Points along a path of lines and curves, near enough to see where it runs. */
function pointsOf(path: string): { x: number; y: number }[] {
  const numbers = path.match(/-?\d+(?:\.\d+)?/g)?.map(Number) ?? [];
  const points = [];
  for (let index = 0; index + 1 < numbers.length; index += 2) {
    points.push({ x: numbers[index] ?? 0, y: numbers[index + 1] ?? 0 });
  }
  return points;
}

describe("the shape", () => {
  it("of the polling Flow has its Steps, chips, Stream, cards and ways", () => {
    const { boxes, links } = shapeOf(polling, NONE);
    expect(boxes.map(({ name, start, polls }) => [name, start, polls])).toEqual([
      ["StartJob", true, false],
      ["AwaitJob", false, true],
      ["RecordJobWaitFailure", false, false],
    ]);
    const [start, wait] = boxes;
    expect(start?.outcomes.map(({ text }) => text)).toEqual(["go_to AwaitJob"]);
    expect(wait?.outcomes.map(({ guard, tone }) => [guard, tone])).toEqual([
      ["SUCCEEDED", "end"],
      ["FAILED", "fail"],
    ]);
    expect(wait?.chips.map(({ text, given }) => [text, given])).toEqual([
      ["10 min", true],
      ["30 s", true],
      ["3", true],
    ]);
    expect(start?.chips.map(({ text, given }) => [text, given])).toEqual([
      ["2 h", false],
      ["1 min", false],
      ["4 h", false],
    ]);
    expect(wait?.streams).toEqual(["JobProgress"]);
    expect(links.map(({ kind, from, to, label }) => [kind, from, to, label])).toEqual([
      ["transition", "step:StartJob", "step:AwaitJob", ""],
      ["failure_transition", "step:AwaitJob", "step:RecordJobWaitFailure", "Execute failure"],
    ]);
  });

  it("takes edges to what is not there for none", () => {
    const graph = graphOf(["A"], [edge("A", "Gone"), edge("Gone", "A")]);
    expect(shapeOf(graph, NONE).links).toEqual([]);
    expect(pictureOf(graph).boxes.length).toBe(1);
  });

  it("of a run without a graph has the Steps that the run came to", () => {
    const events = [
      eventOf("step_scheduled", 1, {
        step_type: "A",
        from_step_execution_id: "",
        recovery_error: null,
      }),
      eventOf(
        "step_scheduled",
        2,
        { step_type: "B", from_step_execution_id: "A-1", recovery_error: null },
        "B-1",
      ),
    ];
    const { boxes, links } = shapeOfRun(viewOf(events), NONE);
    expect(boxes.map(({ name }) => name)).toEqual(["A", "B"]);
    expect(links.map(({ from, to }) => [from, to])).toEqual([["step:A", "step:B"]]);
  });

  it.each([
    ["a is B", "a is B"],
    ["not (a is B) and a is C", "a is C"],
    ["not (f(x) and (y)) and not (z) and w", "w"],
    ["not (a)", "not (a)"],
    ["otherwise", "otherwise"],
    ["not (a", "not (a"],
  ])("reads the guard %j as %j", (whole, last) => {
    expect(lastGuard(whole)).toBe(last);
  });

  it("leaves out what guards share only up to a dot or space", () => {
    expect(sharedStart(["job.state is State.DONE", "job.state is State.DOWN"])).toBe(19);
    expect(sharedStart(["x"])).toBe(0);
    expect(sharedStart([])).toBe(0);
  });
});

describe("the layout", () => {
  it("is the same every time", () => {
    const once = JSON.stringify(pictureOf(polling));
    for (let time = 0; time < 3; time += 1) {
      expect(JSON.stringify(pictureOf(structuredClone(polling)))).toBe(once);
    }
  });

  it("goes from left to right and lets no boxes overlap", () => {
    const names = Array.from({ length: 12 }, (_, index) => `S${index}`);
    const edges = names
      .slice(1)
      .map((name, index) => edge(names[Math.floor(index / 2)] ?? "", name));
    const picture = pictureOf(graphOf(names, edges));
    for (const one of picture.boxes) {
      for (const other of picture.boxes) {
        if (one === other) continue;
        const apart =
          one.x + one.width <= other.x ||
          other.x + other.width <= one.x ||
          one.y + one.height <= other.y ||
          other.y + other.height <= one.y;
        expect(apart).toBe(true);
      }
    }
    expect(boxOf(picture, "S0").x).toBeLessThan(boxOf(picture, "S1").x);
  });

  it("puts hundreds of boxes into columns, without an overlap and soon", () => {
    const names = Array.from({ length: 500 }, (_, index) => `S${index}`);
    const on = names.slice(1).map((name, index) => edge(names[index] ?? "", name));
    const away = names.slice(0, 200).map((name, index) => edge(name, `S${(index * 7 + 3) % 500}`));
    const picture = pictureOf(graphOf(names, [...on, ...away.filter(({ id }) => !hasId(on, id))]));
    expect(picture.boxes).toHaveLength(500);
    const columns = new Map<number, { y: number; end: number }[]>();
    for (const { x, y, width, height } of picture.boxes) {
      const column = columns.get(x + width / 2) ?? [];
      columns.set(x + width / 2, [...column, { y, end: y + height }]);
    }
    for (const column of columns.values()) {
      const ordered = column.sort((one, other) => one.y - other.y);
      ordered.slice(1).forEach((box, index) => {
        expect(box.y).toBeGreaterThanOrEqual(ordered[index]?.end ?? 0);
      });
    }
    expect(boxOf(picture, "S0").x).toBeLessThan(boxOf(picture, "S499").x);
  });

  it("lets ways enter at different places of a side, none at its corner", () => {
    const names = ["A", "B", "C", "End"];
    const ways = names.slice(0, 3).map((name) => edge(name, "End"));
    for (const graph of [polling, graphOf(names, ways)]) {
      const picture = pictureOf(graph);
      const ends = picture.links.map(({ link, path }) => {
        const box = picture.boxes.find((one) => one.box.id === link.to);
        const y = pointsOf(path).at(-1)?.y ?? 0;
        expect(y).toBeGreaterThanOrEqual((box?.y ?? 0) + 20);
        expect(y).toBeLessThanOrEqual((box?.y ?? 0) + (box?.height ?? 0) - 20);
        return `${link.to} ${y}`;
      });
      expect(new Set(ends).size).toBe(picture.links.length);
    }
  });

  it("draws a way back to an earlier Step, and boxes that nothing leads to", () => {
    const edges = [edge("A", "B"), edge("B", "C"), edge("C", "A")];
    const picture = pictureOf(graphOf(["A", "B", "C", "Alone"], edges));
    expect(picture.boxes.length).toBe(4);
    expect(picture.links.length).toBe(3);
    expect(picture.links.every(({ path }) => !path.includes("NaN"))).toBe(true);
    expect(boxOf(picture, "Alone").y).toBeGreaterThan(boxOf(picture, "A").y);
  });

  it("draws a way from a Step to itself outside its box", () => {
    const picture = pictureOf(graphOf(["A", "B"], [edge("A", "A"), edge("A", "B")]));
    const box = boxOf(picture, "A");
    const loop = picture.links.find(({ link }) => link.from === link.to);
    const points = pointsOf(loop?.path ?? "");
    expect(points.length).toBeGreaterThan(6);
    for (const { x, y } of points) {
      const inside = x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
      expect(inside).toBe(false);
    }
    expect(Math.min(...points.map(({ y }) => y))).toBeGreaterThanOrEqual(0);
    expect(Math.max(...points.map(({ x }) => x))).toBeLessThan(boxOf(picture, "B").x);
  });

  it("keeps a loop outside boxes of every size", () => {
    for (const width of [80, 150, 400]) {
      const box = { x: 10, y: 40, width, height: 60 };
      for (const { x, y } of pointsOf(loopPath(box, 18).path)) {
        expect(x > 10 && x < 10 + width && y > 40 && y < 100).toBe(false);
      }
    }
  });
});

describe("a Step's state", () => {
  const started = (time: number, attempt = 1) => ({
    ...eventOf("attempt_started", time, {
      first_attempt_at: 0,
      checkpoint: null,
      execute_method_timeout: 600,
      heartbeat_timeout: 30,
      maximum_attempts: 3,
      total_duration: 600,
    }),
    attempt,
  });
  const flow = eventOf("flow_started", 0, { flow_type: "F", overrides: {} }, "");
  const plan = eventOf("step_scheduled", 0, {
    step_type: "A",
    from_step_execution_id: "",
    recovery_error: null,
  });
  const failed = eventOf("attempt_ended", 9, {
    failure: { error_type: "builtins.ValueError", detail: "x", last_error: null },
  });
  const stateAfter = (...events: ReturnType<typeof eventOf>[]) => {
    return liveOf(viewOf([flow, ...events]), "A", 10);
  };

  it("goes from not reached to waiting, running, backing off, failed", () => {
    expect(stateAfter().state).toBe("idle");
    expect(stateAfter(plan).state).toBe("waiting");
    expect(stateAfter(plan, started(1)).text).toBe("running · 9.0 s");
    const retry = eventOf("retry_scheduled", 9, { attempt: 2, delay: 4 });
    expect(stateAfter(plan, started(1), failed, retry).text).toBe("attempt 2 in 3.0 s");
    const end = eventOf("step_failed", 9);
    expect(stateAfter(plan, started(1), failed, end).text).toBe("failed: ValueError");
  });

  it("tells done, cancelled and ended with the run apart", () => {
    const done = eventOf("step_completed", 9, { decision: { kind: "next" } });
    const live = stateAfter(plan, started(1), done);
    expect(live.text).toBe("done in 8.0 s");
    expect(wasTaken(live, { type: "goTo", targets: ["step:B"] }, [["A", "B", "transition"]])).toBe(
      true,
    );
    expect(wasTaken(live, { type: "goTo", targets: ["step:C"] }, [["A", "B", "transition"]])).toBe(
      false,
    );
    expect(stateAfter(plan, eventOf("step_cancelled", 5)).state).toBe("cancelled");
    const stop = { status: "TERMINATED", error_type: "", error_message: "" };
    expect(stateAfter(plan, started(1), eventOf("flow_closed", 9, stop, "")).state).toBe(
      "cancelled",
    );
  });

  it("counts the round that goes on up to now", () => {
    const call = eventOf("round_call", 2, { line: 8, what: "get" });
    const sleep = eventOf("round_sleep", 4, { line: 9, what: "sleep" });
    const { attempt } = stateAfter(plan, started(1), call, sleep);
    expect(attempt && roundTimes(attempt, 10)).toEqual({
      rounds: 1,
      phase: "sleep",
      call: 2,
      sleep: 6,
    });
  });

  it.each([
    [0, "done"],
    [20, "done"],
    [20.1, "warn"],
    [30, "fail"],
  ])("has the heartbeat ring after %s s of 30 in the tone %s", (age, tone) => {
    expect(ringTone(age, 30, 10)).toBe(tone);
  });
});

describe("the state of a box", () => {
  it("names the execution in as many words as there is room", () => {
    const state = "running · 8 s";
    expect(executionText(state, 1, 180)).toBe("");
    expect(executionText(state, 2, 180)).toBe(" · #2");
    expect(executionText(state, 2, 290)).toBe(" · execution 2");
    const [box] = pictureOf(graphOf(["A"], [])).boxes;
    const width = box?.width ?? 0;
    const letters = `${state}${executionText(state, 12, width)}`.length;
    expect(letters * 6.3 + 16).toBeLessThanOrEqual(width - 24);
  });
});
