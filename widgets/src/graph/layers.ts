/** Which kinds of nodes beside the Steps are drawn: the reader's choice, remembered. */

import { useSyncExternalStore } from "react";
import type { FlowGraph, NodeKind } from "../documents";

export type Layer = "rpc" | "subflow" | "channel" | "attribute" | "stream";

export const LAYERS: Record<Layer, { word: string; words: string }> = {
  rpc: { word: "RPC", words: "RPCs" },
  subflow: { word: "SubFlow", words: "SubFlows" },
  channel: { word: "Channel", words: "Channels" },
  attribute: { word: "Attribute", words: "Attributes" },
  stream: { word: "Stream", words: "Streams" },
};

/** Attributes and Streams are what most Steps touch: many lines that say little. */
const AT_FIRST: readonly Layer[] = ["rpc", "subflow", "channel"];
const KEY = "dexnb.graph.layers";

export function layerOf(kind: NodeKind): Layer | null {
  return kind in LAYERS ? (kind as Layer) : null;
}

/** How many nodes each layer of a graph has; layers without any are left out. */
export function countsOf(graph: FlowGraph): [Layer, number][] {
  return (Object.keys(LAYERS) as Layer[])
    .map((layer): [Layer, number] => [
      layer,
      graph.nodes.filter(({ kind }) => kind === layer).length,
    ])
    .filter(([, count]) => count > 0);
}

/** What was chosen last, on this page or one before; a page may have no storage at all. */
function remembered(): ReadonlySet<Layer> {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(KEY) ?? "null");
    if (!Array.isArray(kept)) return new Set(AT_FIRST);
    return new Set(kept.filter((name): name is Layer => Object.hasOwn(LAYERS, String(name))));
  } catch {
    return new Set(AT_FIRST);
  }
}

let chosen: ReadonlySet<Layer> | null = null;
const watchers = new Set<() => void>();

export function chosenLayers(): ReadonlySet<Layer> {
  chosen ??= remembered();
  return chosen;
}

export function toggleLayer(layer: Layer): void {
  const next = new Set(chosenLayers());
  if (!next.delete(layer)) next.add(layer);
  chosen = next;
  try {
    window.localStorage.setItem(KEY, JSON.stringify([...next].sort()));
  } catch {
    // Then the choice lasts as long as the page.
  }
  for (const tell of watchers) tell();
}

/** Forget what this page knows, so that the next look reads what was stored. */
export function forgetLayers(): void {
  chosen = null;
}

export function useLayers(): ReadonlySet<Layer> {
  return useSyncExternalStore((tell) => {
    watchers.add(tell);
    return () => watchers.delete(tell);
  }, chosenLayers);
}
