/** What a Step or an RPC does with a thing, as one thin line. */

import { type Edge, EdgeLabelRenderer, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import type { PlacedTie } from "./shelf";

export type TieEdgeType = Edge<{ placed: PlacedTie; marks: string }, "tie">;

export const TieEdge = memo(function TieEdge({ data }: EdgeProps<TieEdgeType>) {
  if (!data) return null;
  const { tie, path, label } = data.placed;
  const head = `url(#${data.marks}-tie)`;
  return (
    <>
      <path
        className={tie.into || tie.outOf ? "dexnb-tie" : "dexnb-tie dexnb-tie-lock"}
        d={path}
        markerEnd={tie.into ? head : undefined}
        markerStart={tie.outOf ? head : undefined}
      />
      <EdgeLabelRenderer>
        <span
          className="dexnb-link-label dexnb-tie-label dexnb-quiet"
          style={{ transform: `translate(-50%, -50%) translate(${label.x}px, ${label.y}px)` }}
        >
          {tie.label}
        </span>
      </EdgeLabelRenderer>
    </>
  );
});
