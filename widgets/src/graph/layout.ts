/**
 * Where each box and each link goes. The same graph always gives the same picture: sizes come
 * from the texts, order from the document, ranks from dagre.
 */

import { layout as dagreLayout, Graph } from "@dagrejs/dagre";
import { CARD_HEIGHT, measure, type Places } from "./measure";
import { type Box, loopPath, type Point, smoothPath } from "./path";
import type { Link, Shape, StepBox } from "./shape";

export interface PlacedBox extends Box {
  box: StepBox;
  places: Places;
}

export interface PlacedLink {
  link: Link;
  path: string;
  label: Point;
}

export interface Picture {
  boxes: PlacedBox[];
  links: PlacedLink[];
  width: number;
  height: number;
}

const LOOP_ROOM = 42;
const RANK_GAP = 38;
const BOX_GAP = 30;
const CORNER = 24;
const ENTRY_GAP = 16;

/** Boxes that no link joins to another stand side by side below the others. */
const ALONE_ACROSS = 4;

export function layout(shape: Shape): Picture {
  const looped = new Set(shape.links.filter((l) => l.from === l.to).map((l) => l.from));
  const linked = new Set(shape.links.filter((l) => l.from !== l.to).flatMap((l) => [l.from, l.to]));
  const sizes = new Map(shape.boxes.map((box) => [box.id, measure(box)]));
  const together = shape.boxes.filter((box) => linked.has(box.id));
  const graph = ranked({ boxes: together, links: shape.links }, sizes, looped);
  const room = (id: string) => (looped.has(id) ? LOOP_ROOM : 0);
  const boxes = together.map((box): PlacedBox => {
    const { x, y, width, height } = graph.node(box.id) as Box;
    const places = sizes.get(box.id) as Places;
    const corner = { x: x - width / 2, y: y - height / 2 + room(box.id) };
    return { box, places, ...corner, width: places.width, height: places.height };
  });
  const size = graph.graph() as { width?: number; height?: number };
  const alone = shape.boxes.filter((box) => !linked.has(box.id));
  boxes.push(...grid(alone, sizes, { room, top: together.length > 0 ? (size.height ?? 0) : 0 }));
  const links = routes(shape.links, boxes, graph);
  return {
    boxes,
    links,
    width: Math.max(0, ...boxes.map((box) => box.x + box.width + room(box.box.id))),
    height: Math.max(0, ...boxes.map((box) => box.y + box.height)),
  };
}

function grid(
  alone: StepBox[],
  sizes: Map<string, Places>,
  { room, top }: { room: (id: string) => number; top: number },
): PlacedBox[] {
  const placed: PlacedBox[] = [];
  let y = top + BOX_GAP / 2;
  for (let start = 0; start < alone.length; start += ALONE_ACROSS) {
    const row = alone.slice(start, start + ALONE_ACROSS);
    const above = Math.max(...row.map((box) => room(box.id)));
    let x = 8;
    for (const box of row) {
      const places = sizes.get(box.id) as Places;
      placed.push({ box, places, x, y: y + above, width: places.width, height: places.height });
      x += places.width + room(box.id) + BOX_GAP;
    }
    y += above + Math.max(...row.map((box) => sizes.get(box.id)?.height ?? 0)) + BOX_GAP;
  }
  return placed;
}

function routes(links: Link[], boxes: PlacedBox[], graph: Graph): PlacedLink[] {
  const byId = new Map(boxes.map((placed) => [placed.box.id, placed]));
  const entries = new Map<string, number[]>();
  return links
    .filter((link) => byId.has(link.from) && byId.has(link.to))
    .map((link) => {
      const inner = link.from === link.to ? [] : innerPoints(graph, link);
      return route(link, byId, inner, entries);
    });
}

function ranked(shape: Shape, sizes: Map<string, Places>, looped: ReadonlySet<string>): Graph {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    rankdir: "LR",
    nodesep: BOX_GAP,
    ranksep: RANK_GAP,
    edgesep: 18,
    marginx: 8,
    marginy: 8,
  });
  for (const box of shape.boxes) {
    const { width, height } = sizes.get(box.id) as Places;
    const room = looped.has(box.id) ? LOOP_ROOM : 0;
    graph.setNode(box.id, { width: width + room, height: height + room });
  }
  for (const link of shape.links) {
    if (link.from === link.to || !graph.hasNode(link.from) || !graph.hasNode(link.to)) continue;
    const label = link.label ? { width: link.label.length * 5.4, height: 16, labelpos: "c" } : {};
    graph.setEdge(link.from, link.to, label, link.id);
  }
  dagreLayout(graph);
  return graph;
}

/** Where dagre bends a link between the two boxes. */
function innerPoints(graph: Graph, link: Link): Point[] {
  const edge = graph.edge({ v: link.from, w: link.to, name: link.id }) as { points?: Point[] };
  return (edge?.points ?? []).slice(1, -1);
}

function route(
  link: Link,
  boxes: Map<string, PlacedBox>,
  inner: Point[],
  entries: Map<string, number[]>,
): PlacedLink {
  const source = boxes.get(link.from) as PlacedBox;
  const target = boxes.get(link.to) as PlacedBox;
  if (source === target) {
    const loop = loopPath(source, 30);
    return { link, ...loop };
  }
  const forward = target.x >= source.x + source.width;
  const start = { x: forward ? source.x + source.width : source.x, y: leaveAt(link, source) };
  const taken = entries.get(link.to) ?? [];
  const end = {
    x: forward ? target.x : target.x + target.width,
    y: enterAt(start.y, target, taken),
  };
  entries.set(link.to, [...taken, end.y]);
  const bends = bendsOf(start, end, inner);
  const middle = bends[Math.floor(bends.length / 2)] ?? mean(start, end);
  return { link, path: smoothPath([start, ...bends, end]), label: middle };
}

/** As level as the side allows, away from its corners and from the links that end there already. */
function enterAt(level: number, target: Box, taken: number[]): number {
  const [top, bottom] = [target.y + CORNER, target.y + target.height - CORNER];
  const wanted = Math.min(Math.max(level, top), bottom);
  const places = [0, 1, -1, 2, -2, 3, -3].map((step) => wanted + step * ENTRY_GAP);
  const free = places.find((y) => {
    return y >= top && y <= bottom && taken.every((other) => Math.abs(other - y) >= ENTRY_GAP);
  });
  return free ?? wanted;
}

/** Neighbours are joined by one sweep; farther ones go round what is between, as dagre found. */
function bendsOf(start: Point, end: Point, inner: Point[]): Point[] {
  const forward = end.x >= start.x;
  const between = inner.filter((point) => {
    return forward
      ? point.x > start.x + 8 && point.x < end.x - 8
      : point.x < start.x - 8 && point.x > end.x + 8;
  });
  return between.length > 1 ? between : [];
}

function leaveAt(link: Link, source: PlacedBox): number {
  const card = source.places.cards.find(({ outcome }) => outcome.id === link.outcome);
  if (card) return source.y + card.y + CARD_HEIGHT / 2;
  return source.y + source.places.live + 12;
}

function mean(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}
