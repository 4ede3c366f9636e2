/** What stands below the Steps: what they use, the Flows they start, the RPCs that call theirs. */

import type { EdgeKind, FlowGraph, GraphNode } from "../documents";
import { shownName } from "../value";
import { LAYERS, type Layer } from "./layers";

export interface Thing {
  id: string;
  layer: Layer;
  name: string;
  /** What it is, in a few words. */
  about: string;
}

/** All that one Step or RPC does with one thing, as one line. */
export interface Tie {
  id: string;
  from: string;
  to: string;
  /** Whether something goes into what it leads to, and out of it. */
  into: boolean;
  outOf: boolean;
  label: string;
}

const VERBS: Partial<Record<EdgeKind, string>> = {
  transition: "starts",
  wait_condition: "waits",
  resource_read: "reads",
  resource_write: "writes",
  resource_publish: "publishes",
  resource_lock: "locks",
  subflow: "starts",
};
const INTO: ReadonlySet<EdgeKind> = new Set([
  "transition",
  "resource_write",
  "resource_publish",
  "subflow",
]);
const OUT_OF: ReadonlySet<EdgeKind> = new Set(["wait_condition", "resource_read", "subflow"]);

export function thingOf(node: GraphNode): Thing {
  const layer = node.kind as Layer;
  const { resource } = node;
  const map = resource?.map ? "Map" : "";
  const type = resource ? ` of ${shownName(resource.valueType, 24)}` : "";
  return { id: node.id, layer, name: node.name, about: `${LAYERS[layer].word}${map}${type}` };
}

export function tiesOf(graph: FlowGraph, steps: { id: string }[], things: Thing[]): Tie[] {
  const drawn = new Set(things.map(({ id }) => id));
  const known = new Set([...steps.map(({ id }) => id), ...drawn]);
  const ties = new Map<string, Tie>();
  for (const edge of graph.edges) {
    const verb = VERBS[edge.kind];
    const ends = known.has(edge.from) && known.has(edge.to);
    if (verb === undefined || !ends || !(drawn.has(edge.from) || drawn.has(edge.to))) continue;
    const id = `${edge.from} ${edge.to}`;
    const tie = ties.get(id) ?? {
      id,
      from: edge.from,
      to: edge.to,
      into: false,
      outOf: false,
      label: "",
    };
    ties.set(id, {
      ...tie,
      into: tie.into || INTO.has(edge.kind),
      outOf: tie.outOf || OUT_OF.has(edge.kind),
      label: tie.label ? `${tie.label}, ${verb}` : verb,
    });
  }
  return [...ties.values()];
}
