/**
 * Columns for graphs that are too large for dagre, which takes seconds where ways span hundreds of
 * ranks: each box in the column of the longest way to it, without a care for crossings.
 */

import type { Graph } from "@dagrejs/dagre";

/** Boxes after which columns take dagre's place. */
export const MANY = 150;

interface Placed {
  x: number;
  y: number;
  width: number;
  height: number;
}

export function placeInColumns(graph: Graph, rankGap: number, boxGap: number): void {
  const columns = columnsOf(graph);
  const tall = (column: string[]) =>
    column.reduce((sum, id) => sum + (graph.node(id) as Placed).height + boxGap, -boxGap);
  const height = Math.max(0, ...columns.map(tall));
  let x = 0;
  for (const column of columns) {
    const width = Math.max(...column.map((id) => (graph.node(id) as Placed).width));
    let y = (height - tall(column)) / 2;
    for (const id of column) {
      const node = graph.node(id) as Placed;
      Object.assign(node, { x: x + width / 2, y: y + node.height / 2 });
      y += node.height + boxGap;
    }
    x += width + rankGap;
  }
  Object.assign(graph.graph() as object, { width: x - rankGap, height });
}

function columnsOf(graph: Graph): string[][] {
  const forward = forwardOf(graph);
  const waits = new Map(graph.nodes().map((id) => [id, 0]));
  for (const target of [...forward.values()].flat())
    waits.set(target, (waits.get(target) ?? 0) + 1);
  const ready = graph.nodes().filter((id) => waits.get(id) === 0);
  const ranks = new Map(graph.nodes().map((id) => [id, 0]));
  for (const id of ready) {
    for (const target of forward.get(id) ?? []) {
      ranks.set(target, Math.max(ranks.get(target) ?? 0, (ranks.get(id) ?? 0) + 1));
      const left = (waits.get(target) ?? 0) - 1;
      waits.set(target, left);
      if (left === 0) ready.push(target);
    }
  }
  const columns: string[][] = [];
  for (const id of graph.nodes()) {
    const rank = ranks.get(id) ?? 0;
    columns[rank] ??= [];
    columns[rank].push(id);
  }
  return columns.filter(Boolean);
}

interface Visit {
  id: string;
  targets: string[];
}

/** The ways without those that lead back to a box on the path to them. */
function forwardOf(graph: Graph): Map<string, string[]> {
  const forward = new Map<string, string[]>(graph.nodes().map((id) => [id, []]));
  const done = new Set<string>();
  for (const root of graph.nodes()) if (!done.has(root)) follow(graph, root, forward, done);
  return forward;
}

function follow(
  graph: Graph,
  root: string,
  forward: Map<string, string[]>,
  done: Set<string>,
): void {
  const visit = (id: string): Visit => ({ id, targets: graph.successors(id) ?? [] });
  const path = [visit(root)];
  const onPath = new Set([root]);
  for (let last = path.at(-1); last; last = path.at(-1)) {
    const target = last.targets.shift();
    if (target === undefined) {
      path.pop();
      onPath.delete(last.id);
      done.add(last.id);
    } else if (!onPath.has(target)) {
      forward.get(last.id)?.push(target);
      if (done.has(target)) continue;
      path.push(visit(target));
      onPath.add(target);
    }
  }
}
