/** How large things are, where those stand that nothing is tied to, and how the others are tied. */

import { shownName } from "../value";
import { type Box, bendsOf, droopPath, type Point, smoothPath } from "./path";
import type { Thing, Tie } from "./things";

export interface PlacedThing extends Box {
  thing: Thing;
}

export interface PlacedTie {
  tie: Tie;
  path: string;
  label: Point;
}

export const THING_HEIGHT = 38;
const GAP = 18;
const ROW_GAP = 24;
const EDGE = 9;
const SPREAD = 13;

export function nameOfThing(thing: Thing): string {
  return shownName(thing.name, 28);
}

export function sizeOf(thing: Thing): { width: number; height: number } {
  const name = [...nameOfThing(thing)].length * 6.9 + 44;
  const width = Math.ceil(Math.max(110, name, [...thing.about].length * 5.6 + 44));
  return { width, height: THING_HEIGHT };
}

/** Those that nothing is tied to stand side by side below the rest, in rows of its width. */
export function shelve(things: Thing[], { left, right, top }: Record<Side, number>): PlacedThing[] {
  const placed: PlacedThing[] = [];
  let [x, y] = [left, top + ROW_GAP];
  for (const thing of things) {
    const size = sizeOf(thing);
    if (x > left && x + size.width > right) {
      x = left;
      y += THING_HEIGHT + GAP;
    }
    placed.push({ thing, x, y, ...size });
    x += size.width + GAP;
  }
  return placed;
}

type Side = "left" | "right" | "top";

/** Lines from side to side, or upright between what stands above each other. */
export function routeTies(
  ties: Tie[],
  boxes: ReadonlyMap<string, Box>,
  inner: (tie: Tie) => Point[],
): PlacedTie[] {
  const taken = new Map<string, number[]>();
  return ties.flatMap((tie) => {
    const [from, to] = [boxes.get(tie.from), boxes.get(tie.to)];
    if (!from || !to) return [];
    if (from.x < to.x + to.width && to.x < from.x + from.width) return [upright(tie, from, to)];
    const forward = from.x < to.x;
    const start = {
      x: forward ? from.x + from.width : from.x,
      y: levelAt(`${tie.from} ${forward}`, from, to, taken),
    };
    const end = {
      x: forward ? to.x : to.x + to.width,
      y: levelAt(`${tie.to} ${!forward}`, to, { ...from, y: start.y, height: 0 }, taken),
    };
    const bends = bendsOf(start, end, inner(tie));
    const middle = bends[Math.floor(bends.length / 2)];
    const label = middle ?? { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
    return [{ tie, path: smoothPath([start, ...bends, end]), label }];
  });
}

function upright(tie: Tie, from: Box, to: Box): PlacedTie {
  const low = Math.max(from.x, to.x);
  const x = (low + Math.min(from.x + from.width, to.x + to.width)) / 2;
  const down = from.y < to.y;
  const start = { x, y: down ? from.y + from.height : from.y };
  const end = { x, y: down ? to.y : to.y + to.height };
  return { tie, path: droopPath(start, end), label: { x, y: (start.y + end.y) / 2 } };
}

/** As level with the other end as a side allows, beside the lines that are there already. */
function levelAt(key: string, own: Box, other: Box, taken: Map<string, number[]>): number {
  const [low, high] = [own.y + EDGE, own.y + own.height - EDGE];
  const wanted = Math.min(Math.max(other.y + other.height / 2, low), high);
  const others = taken.get(key) ?? [];
  const free = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6]
    .map((step) => wanted + step * SPREAD)
    .find((y) => y >= low && y <= high && others.every((used) => Math.abs(used - y) >= SPREAD));
  const y = free ?? wanted;
  taken.set(key, [...others, y]);
  return y;
}
