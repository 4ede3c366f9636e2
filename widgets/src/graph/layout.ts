/**
 * Where each box and each link goes. The same graph always gives the same picture: sizes come
 * from the texts, order from the document, ranks from dagre.
 */

import { layout as dagreLayout, Graph } from "@dagrejs/dagre";
import { MANY, placeInColumns } from "./columns";
import { CARD_HEIGHT, measure, type Places } from "./measure";
import { type Box, bendsOf, loopPath, type Point, smoothPath } from "./path";
import type { Link, Shape, StepBox } from "./shape";
import { type PlacedThing, type PlacedTie, routeTies, shelve, sizeOf } from "./shelf";

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
  things: PlacedThing[];
  ties: PlacedTie[];
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
  const ways = [...shape.links, ...shape.ties].filter((way) => way.from !== way.to);
  const linked = new Set(ways.flatMap((way) => [way.from, way.to]));
  const sizes = new Map(shape.boxes.map((box) => [box.id, measure(box)]));
  const room = (id: string) => (looped.has(id) ? LOOP_ROOM : 0);
  const graph = ranked(shape, linked, sizes, room);
  const boxes = shape.boxes
    .filter((box) => linked.has(box.id))
    .map((box): PlacedBox => {
      const { x, y, width, height } = graph.node(box.id) as Box;
      const places = sizes.get(box.id) as Places;
      const corner = { x: x - width / 2, y: y - height / 2 + room(box.id) };
      return { box, places, ...corner, width: places.width, height: places.height };
    });
  const alone = shape.boxes.filter((box) => !linked.has(box.id));
  const { height = 0 } = linked.size > 0 ? (graph.graph() as { height?: number }) : {};
  boxes.push(...grid(alone, sizes, { room, top: height }));
  const things = placeThings(shape, linked, boxes, graph);
  const placed = new Map<string, Box>([
    ...boxes.map((box): [string, Box] => [box.box.id, box]),
    ...things.map((thing): [string, Box] => [thing.thing.id, thing]),
  ]);
  const rights = boxes.map((box) => box.x + box.width + room(box.box.id));
  return {
    boxes,
    links: routes(shape.links, boxes, graph),
    things,
    ties: routeTies(shape.ties, placed, (tie) => innerPoints(graph, tie)),
    width: Math.max(0, ...rights, ...things.map((thing) => thing.x + thing.width)),
    height: Math.max(0, ...[...boxes, ...things].map((box) => box.y + box.height)),
  };
}

function placeThings(
  shape: Shape,
  linked: ReadonlySet<string>,
  boxes: PlacedBox[],
  graph: Graph,
): PlacedThing[] {
  const tied = shape.things
    .filter(({ id }) => linked.has(id))
    .map((thing): PlacedThing => {
      const { x, y, width, height } = graph.node(thing.id) as Box;
      return { thing, x: x - width / 2, y: y - height / 2, width, height };
    });
  const all = [...boxes, ...tied];
  const right = Math.max(8, ...all.map(({ x, width }) => x + width));
  const top = Math.max(0, ...all.map(({ y, height }) => y + height));
  const rest = shape.things.filter(({ id }) => !linked.has(id));
  return [...tied, ...shelve(rest, { left: 8, right, top })];
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

function ranked(
  shape: Shape,
  linked: ReadonlySet<string>,
  sizes: Map<string, Places>,
  room: (id: string) => number,
): Graph {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    rankdir: "LR",
    nodesep: BOX_GAP,
    ranksep: RANK_GAP,
    edgesep: 18,
    marginx: 8,
    marginy: 8,
  });
  for (const box of shape.boxes.filter(({ id }) => linked.has(id))) {
    const { width, height } = sizes.get(box.id) as Places;
    graph.setNode(box.id, { width: width + room(box.id), height: height + room(box.id) });
  }
  for (const thing of shape.things.filter(({ id }) => linked.has(id))) {
    graph.setNode(thing.id, sizeOf(thing));
  }
  for (const way of [...shape.links, ...shape.ties]) {
    if (way.from === way.to || !graph.hasNode(way.from) || !graph.hasNode(way.to)) continue;
    const label = way.label ? { width: way.label.length * 5.4, height: 16, labelpos: "c" } : {};
    graph.setEdge(way.from, way.to, label, way.id);
  }
  if (graph.nodeCount() > MANY) placeInColumns(graph, RANK_GAP, BOX_GAP);
  else dagreLayout(graph);
  return graph;
}

/** Where dagre bends a link between the two boxes. */
function innerPoints(graph: Graph, link: Pick<Link, "id" | "from" | "to">): Point[] {
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

function leaveAt(link: Link, source: PlacedBox): number {
  const card = source.places.cards.find(({ outcome }) => outcome.id === link.outcome);
  if (card) return source.y + card.y + CARD_HEIGHT / 2;
  return source.y + source.places.live + 12;
}

function mean(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}
