/** A FlowGraph as the boxes and links that are drawn: what it says of each Step, put together. */

import { written } from "../decisions";
import type { FlowGraph, GraphEdge, GraphNode, RunView } from "../documents";
import { duration } from "../duration";
import type { IconName } from "../lab/Icon";
import { shownName } from "../value";
import { SUBFLOW } from "../waits";
import { type Layer, layerOf } from "./layers";
import { type Thing, type Tie, thingOf, tiesOf } from "./things";

export type OutcomeTone = "go" | "end" | "fail" | "quiet" | "warn";

export interface Outcome {
  id: string;
  type: string;
  text: string;
  /** What it cancels and what must be empty, in words. */
  more: string;
  /** The guard without what it shares with the others; `condition` has it whole. */
  guard: string;
  condition: string;
  tone: OutcomeTone;
  /** Node ids. */
  targets: string[];
}

export interface Chip {
  icon: IconName;
  text: string;
  title: string;
  /** The Step sets it itself; else it is a default. */
  given: boolean;
}

export interface StepBox {
  id: string;
  name: string;
  /** What the run calls it. */
  type: string;
  known: boolean;
  start: boolean;
  chips: Chip[];
  streams: string[];
  /** What it waits for before it executes. */
  waits: string[];
  /** How those belong together, where there are several, and the same at length. */
  waitKind: string;
  waitTitle: string;
  outcomes: Outcome[];
  /** Whether it waits in rounds: it gets room for rounds, checkpoint and budget. */
  polls: boolean;
}

export interface Link {
  id: string;
  kind: "transition" | "failure_transition";
  from: string;
  to: string;
  outcome: string;
  label: string;
}

/** Steps with the ways between them; and, by layer, what they use and who calls the Flow. */
export interface Shape {
  boxes: StepBox[];
  links: Link[];
  things: Thing[];
  ties: Tie[];
}

const NO_LAYERS: ReadonlySet<Layer> = new Set();

const TONES: Record<string, OutcomeTone> = {
  goTo: "go",
  goToMany: "go",
  gracefulComplete: "end",
  forceComplete: "end",
  forceCompleteIfChannelsEmpty: "end",
  forceFail: "fail",
  deadEnd: "quiet",
};

const STEPS: ReadonlySet<string> = new Set(["step", "timeout_handler"]);
const WAYS: ReadonlySet<string> = new Set(["transition", "failure_transition"]);
const MOST_WAITS = 6;

export function shapeOf(
  graph: FlowGraph,
  polling: ReadonlySet<string>,
  layers: ReadonlySet<Layer> = NO_LAYERS,
): Shape {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const tops = graph.nodes.filter((node) => {
    return STEPS.has(node.kind) || (node.kind === "unknown" && !byId.has(node.parentId));
  });
  const boxes = tops.map((node) => boxOf(node, graph, byId, polling));
  const links = graph.edges
    .filter((edge) => WAYS.has(edge.kind))
    .map((edge) => linkOf(edge, byId))
    .filter((link) => link !== null);
  const drawn = graph.nodes.filter((node) => {
    const layer = layerOf(node.kind);
    return layer !== null && layers.has(layer);
  });
  const things = drawn.map(thingOf);
  return { boxes, links, things, ties: tiesOf(graph, boxes, things) };
}

function boxOf(
  node: GraphNode,
  graph: FlowGraph,
  byId: Map<string, GraphNode>,
  polling: ReadonlySet<string>,
): StepBox {
  const inside = graph.nodes.filter((other) => other.parentId === node.id);
  const decisions = inside.filter((other) => other.kind === "decision");
  const sleeps = node.constants.some((constant) => constant.feeds.includes("sleep"));
  return {
    id: node.id,
    name: node.name,
    type: node.id.startsWith("step:") ? node.id.slice("step:".length) : node.name,
    known: STEPS.has(node.kind),
    start: node.start,
    chips: chipsOf(node),
    streams: streamsOf(node, inside, graph, byId),
    waits: (node.waits ?? []).slice(0, MOST_WAITS),
    ...waitWords(inside.filter((other) => other.kind === "wait")),
    outcomes: outcomesOf(decisions, byId),
    polls: sleeps || node.given.includes("heartbeat_timeout") || polling.has(node.name),
  };
}

const TOGETHER: Record<string, string> = {
  allOf: "all of",
  anyOf: "any of",
  anyComboOf: "any combination of",
  skipWaitImmediately: "no wait",
  unknown: "unknown",
};

function waitWords(cards: GraphNode[]): { waitKind: string; waitTitle: string } {
  const title = cards.map(({ wait, condition }) => {
    const labels = wait?.conditions.map(({ label }) => label).join(", ") ?? "";
    const kind = TOGETHER[wait?.type ?? ""] ?? "";
    const guard = condition && cards.length > 1 ? ` if ${condition}` : "";
    return `${[kind, labels].filter(Boolean).join(" ")}${guard}`;
  });
  const [first] = cards;
  const alone = (first?.wait?.conditions.length ?? 0) > 1 || first?.wait?.type === "unknown";
  const kind = alone ? (TOGETHER[first?.wait?.type ?? ""] ?? "") : "";
  return {
    waitKind: cards.length > 1 ? `? one of ${cards.length} waits` : kind,
    waitTitle: title.join("; or "),
  };
}

function chipsOf({ settings, given }: GraphNode): Chip[] {
  if (settings === null) return [];
  const set = (name: string) => given.includes(name);
  const { retry } = settings;
  const attempts = retry.maximum_attempts;
  const retryGiven = Object.keys(retry).some(set);
  const said = (own: boolean) => (own ? "" : " (default)");
  const method = set("execute_method_timeout");
  const beat = set("heartbeat_timeout");
  return [
    {
      icon: "clock",
      text: duration(settings.execute_method_timeout),
      title: `execute_method_timeout: one attempt at most${said(method)}`,
      given: method,
    },
    {
      icon: "heart",
      text: duration(settings.heartbeat_timeout),
      title: `heartbeat_timeout: silence at most${said(beat)}`,
      given: beat,
    },
    {
      icon: "again",
      text: attempts > 0 ? `${attempts}` : duration(retry.total_duration),
      title:
        `execute_retry: ${attempts > 0 ? `${attempts} attempts` : "no limit of attempts"}, ` +
        `no retry after ${duration(retry.total_duration)}${said(retryGiven)}`,
      given: retryGiven,
    },
  ];
}

function streamsOf(
  node: GraphNode,
  inside: GraphNode[],
  graph: FlowGraph,
  byId: Map<string, GraphNode>,
): string[] {
  const own = new Set([node.id, ...inside.map((other) => other.id)]);
  const names = graph.edges
    .filter((edge) => own.has(edge.from) && byId.get(edge.to)?.kind === "stream")
    .map((edge) => byId.get(edge.to)?.name ?? "");
  return [...new Set(names)].filter(Boolean).slice(0, 4);
}

function outcomesOf(nodes: GraphNode[], byId: Map<string, GraphNode>): Outcome[] {
  const guards = nodes.map((node) => lastGuard(node.condition));
  const shared = sharedStart(guards.filter((guard) => guard !== "" && guard !== "otherwise"));
  return nodes.map((node, index) => {
    const guard = guards[index] ?? "";
    const type = node.decision?.type ?? (node.kind === "unknown" ? "unknown" : node.name);
    const targets = node.decision?.targets ?? [];
    const names = targets.map((id) => byId.get(id)?.name ?? "Unknown");
    const text = [node.kind === "unknown" ? "Unknown" : written(type), ...names].join(" ");
    return {
      id: node.id,
      type,
      text: shownName(text, 34),
      more: moreOf(node, byId),
      guard: shownName(guard === "otherwise" ? guard : guard.slice(shared), 30),
      condition: node.condition,
      tone: TONES[type] ?? "warn",
      targets,
    };
  });
}

function moreOf({ decision }: GraphNode, byId: Map<string, GraphNode>): string {
  const name = (id: string) => shownName(byId.get(id)?.name ?? "Unknown", 60);
  const checked = (decision?.checkedChannels ?? []).map(name);
  const cancelled = (decision?.cancellations ?? []).map(({ stepId, scope }) => {
    return scope === "siblings" ? `${name(stepId)} (siblings)` : name(stepId);
  });
  return [
    cancelled.length > 0 && `cancels ${cancelled.join(", ")}`,
    checked.length > 0 && `if ${checked.join(", ")} is empty`,
  ]
    .filter(Boolean)
    .join("; ");
}

/** The guard without the negations of those before it: `not (a) and b` is read as `b` in a row. */
export function lastGuard(condition: string): string {
  let rest = condition;
  while (rest.startsWith("not (")) {
    const end = closing(rest, 4);
    if (!rest.startsWith(" and ", end + 1)) return rest;
    rest = rest.slice(end + 6);
  }
  return rest;
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let index = open; index < text.length; index += 1) {
    if (text[index] === "(") depth += 1;
    if (text[index] === ")") depth -= 1;
    if (depth === 0) return index;
  }
  return text.length;
}

/** Length of what all guards begin with, up to the last dot or space, if there are several. */
export function sharedStart(guards: string[]): number {
  const [first = "", ...others] = guards;
  if (others.length === 0) return 0;
  let length = 0;
  while (length < first.length && others.every((guard) => guard[length] === first[length])) {
    length += 1;
  }
  return Math.max(first.lastIndexOf(".", length - 1), first.lastIndexOf(" ", length - 1)) + 1;
}

function linkOf(edge: GraphEdge, byId: Map<string, GraphNode>): Link | null {
  const source = byId.get(edge.from);
  const target = byId.get(edge.to);
  if (!source || !target || source.kind === "rpc") return null;
  const from = frameOf(source, byId);
  const to = frameOf(target, byId);
  const failed = edge.kind === "failure_transition";
  return {
    id: edge.id,
    kind: failed ? "failure_transition" : "transition",
    from,
    to,
    outcome: outcomeOf(source, target, from, byId),
    label: shownName(edge.label || (failed ? "Execute failure" : ""), 40),
  };
}

/** The card that a link leaves from: the first decision of the Step that names the target. */
function outcomeOf(
  source: GraphNode,
  target: GraphNode,
  frame: string,
  byId: Map<string, GraphNode>,
): string {
  if (source.id !== frame) return source.id;
  for (const node of byId.values()) {
    if (node.parentId === frame && node.decision?.targets.includes(target.id)) return node.id;
  }
  return "";
}

function frameOf(node: GraphNode, byId: Map<string, GraphNode>): string {
  return node.parentId && byId.has(node.parentId) ? node.parentId : node.id;
}

/** What can be drawn of a run whose Flow's shape is not known: the Steps it has come to. */
export function shapeOfRun(view: RunView, polling: ReadonlySet<string>): Shape {
  const types = Object.values(view.steps).map((step) => step.step_type);
  const names = [...new Set(types)].filter((type) => type !== SUBFLOW);
  const boxes = names.map((name, index) => ({
    id: `step:${name}`,
    name,
    type: name,
    known: true,
    start: index === 0,
    chips: [],
    streams: [],
    waits: [],
    waitKind: "",
    waitTitle: "",
    outcomes: [],
    polls: polling.has(name),
  }));
  const shown = view.taken.filter(([from, to]) => names.includes(from) && names.includes(to));
  const links = shown.map(([from, to, kind], index) => ({
    id: `edge:${index}`,
    kind,
    from: `step:${from}`,
    to: `step:${to}`,
    outcome: "",
    label: kind === "failure_transition" ? "Execute failure" : "",
  }));
  return { boxes, links, things: [], ties: [] };
}
