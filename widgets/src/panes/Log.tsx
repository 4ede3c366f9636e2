/** Log records and prints made inside Steps. */

import { memo } from "react";
import type { LogRow } from "../documents";
import { usePage } from "../lab/context";
import { shown, shownName } from "../value";
import { originOf, type Place, RowPlace, RowTime } from "./RowHead";
import { Rows } from "./Rows";
import { countIn, type Told, toldIn } from "./told";

export function LogPane() {
  const page = usePage();
  if (page === null) return null;
  const { view } = page;
  const origin = originOf(view);
  const none = "Prints and log records of the Steps stand here.";
  return (
    <Rows
      label="Log"
      rows={toldIn(page, (run) => run.log)}
      total={countIn(page, (run) => run.log_count)}
      row={(told) => <Line {...told} origin={origin} offset={page.wall_offset} />}
      empty={countIn(page, (run) => run.log_count) === 0 && <p className="dexnb-hint">{none}</p>}
    />
  );
}

const Line = memo(function Line(props: Told<LogRow> & Place) {
  const { row } = props;
  return (
    <div className="dexnb-row">
      <RowTime {...props} />
      <span className="dexnb-source">{shownName(row.source, 24)}</span>
      <code>{shown(row.line)}</code>
      <RowPlace row={row} source={props.source} />
    </div>
  );
});
