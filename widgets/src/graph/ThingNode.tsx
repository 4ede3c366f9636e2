/** What a Flow keeps, a Flow that it starts, or an RPC: a small box below the Steps. */

import type { Node, NodeProps } from "@xyflow/react";
import { memo } from "react";
import { useSelection } from "../lab/context";
import { Icon, type IconName } from "../lab/Icon";
import { shownName } from "../value";
import { Badge } from "./Badge";
import type { Layer } from "./layers";
import { Anchors } from "./StepNode";
import { nameOfThing, type PlacedThing } from "./shelf";

export type ThingNodeType = Node<{ placed: PlacedThing }, "thing">;

export const THING_ICONS: Record<Layer, IconName> = {
  rpc: "call",
  subflow: "nested",
  channel: "mail",
  attribute: "tag",
  stream: "diamond",
};

export const ThingNode = memo(function ThingNode({ data }: NodeProps<ThingNodeType>) {
  const { thing, width, height } = data.placed;
  const chosen = useSelection().box === thing.id;
  return (
    <div
      className={`dexnb-thing dexnb-thing-${thing.layer} ${chosen ? "dexnb-chosen" : ""}`}
      style={{ width, height }}
      title={`${thing.about} ${shownName(thing.name, 300)}`}
    >
      <Anchors />
      <Badge box={thing.id} name={thing.name} />
      <Icon name={THING_ICONS[thing.layer]} size={13} />
      <span>
        <b>{nameOfThing(thing)}</b>
        <small>{thing.about}</small>
      </span>
    </div>
  );
});
