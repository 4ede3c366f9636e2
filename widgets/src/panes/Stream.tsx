/** The messages that left the run through its Streams. */

import { memo } from "react";
import type { MessageRow, Page } from "../documents";
import { usePage } from "../lab/context";
import { Icon } from "../lab/Icon";
import { shownName, shownValue } from "../value";
import { originOf, type Place, RowPlace, RowTime } from "./RowHead";
import { Rows } from "./Rows";
import { countIn, type Told, toldIn } from "./told";

export function StreamPane() {
  const page = usePage();
  if (page === null) return null;
  const { view } = page;
  const origin = originOf(view);
  return (
    <Rows
      label="Stream messages"
      rows={toldIn(page, (run) => run.messages)}
      total={countIn(page, (run) => run.message_count)}
      row={(told) => <Message {...told} origin={origin} offset={page.wall_offset} />}
      empty={<p className="dexnb-hint">{hint(page)}</p>}
    />
  );
}

const Message = memo(function Message(props: Told<MessageRow> & Place) {
  const { row } = props;
  return (
    <div className="dexnb-row">
      <RowTime {...props} />
      <b className="dexnb-stream-name">
        <Icon name="diamond" size={9} /> {shownName(row.stream)}
      </b>
      <code>{shownValue(row.value)}</code>
      <RowPlace row={row} source={props.source} />
    </div>
  );
});

function hint(page: Page): string {
  const { graph, view } = page;
  const { status } = view;
  const count = countIn(page, (run) => run.message_count);
  const streams = graph?.nodes.some((node) => node.kind === "stream") ?? true;
  if (!streams && count === 0) return "This Flow has no Streams.";
  const kept = "Best effort: a retry may write a message again.";
  if (status === "WAITING") return `Messages of the Flow's Streams stand here. ${kept}`;
  if (status === "RUNNING") return `Waiting for the next message. ${kept}`;
  return count === 0 ? "No message was written to a Stream." : `The run has ended. ${kept}`;
}
