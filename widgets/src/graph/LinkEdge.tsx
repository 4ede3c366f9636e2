/** A link between two Steps: plain, taken, or the way that a failed Step leaves by. */

import { type Edge, EdgeLabelRenderer, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import { useOfPage } from "../lab/context";
import type { PlacedLink } from "./layout";

export type LinkEdgeType = Edge<
  { placed: PlacedLink; names: [string, string]; marks: string },
  "link"
>;

export const LinkEdge = memo(function LinkEdge({ data }: EdgeProps<LinkEdgeType>) {
  const [from, to] = data?.names ?? ["", ""];
  const kind = data?.placed.link.kind ?? "transition";
  const taken = useOfPage((page) => {
    return page.view.taken.some((edge) => edge[0] === from && edge[1] === to && edge[2] === kind);
  }, false);
  if (!data) return null;
  const { link, path, label } = data.placed;
  const tone = kind === "failure_transition" ? "recovery" : taken ? "taken" : "plain";
  const weight = taken ? "dexnb-link-taken" : "";
  return (
    <>
      <path
        className={`dexnb-link dexnb-link-${tone} ${weight}`}
        d={path}
        markerEnd={`url(#${data.marks}-${tone})`}
      />
      {link.label && (
        <EdgeLabelRenderer>
          <span
            className={`dexnb-link-label dexnb-${tone === "recovery" ? "recovery" : "quiet"}`}
            style={{ transform: `translate(-50%, -50%) translate(${label.x}px, ${label.y}px)` }}
          >
            {link.label}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  );
});

const TONES = ["plain", "taken", "recovery", "tie"] as const;

/** The heads of the arrows; each view needs its own, since ids are the whole document's. */
export function ArrowHeads({ id }: { id: string }) {
  return (
    <svg className="dexnb-heads" aria-hidden="true">
      <defs>
        {TONES.map((tone) => (
          <marker
            key={tone}
            id={`${id}-${tone}`}
            viewBox="0 0 8 8"
            refX={7}
            refY={4}
            markerWidth={8}
            markerHeight={8}
            markerUnits="userSpaceOnUse"
            orient="auto-start-reverse"
          >
            <path className={`dexnb-head-${tone}`} d="M0 0L8 4L0 8z" />
          </marker>
        ))}
      </defs>
    </svg>
  );
}
