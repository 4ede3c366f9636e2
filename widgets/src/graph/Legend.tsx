/** The layers of the graph, each to be shown or not. */

import type { FlowGraph } from "../documents";
import { KEEPS_KEYS } from "../lab/context";
import { Icon } from "../lab/Icon";
import { countsOf, LAYERS, toggleLayer, useLayers } from "./layers";
import { THING_ICONS } from "./ThingNode";

export function Legend({ graph }: { graph: FlowGraph }) {
  const shown = useLayers();
  const layers = countsOf(graph);
  if (layers.length === 0) return null;
  return (
    <div className="dexnb-legend" role="toolbar" aria-label="Layers of the graph">
      {layers.map(([layer, count]) => {
        const { word, words } = LAYERS[layer];
        const on = shown.has(layer);
        return (
          <button
            key={layer}
            type="button"
            aria-pressed={on}
            className={on ? "dexnb-layer dexnb-layer-on" : "dexnb-layer"}
            title={`${on ? "Hide" : "Show"} ${words}`}
            onClick={() => toggleLayer(layer)}
            {...KEEPS_KEYS}
          >
            <Icon name={THING_ICONS[layer]} size={11} /> {count} {count === 1 ? word : words}
          </button>
        );
      })}
    </div>
  );
}
