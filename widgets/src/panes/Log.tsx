/** Log records and prints made inside Steps. */

import { memo } from "react";
import type { LogRow } from "../documents";
import { usePage } from "../lab/context";
import { shown, shownName } from "../value";
import { originOf, RowPlace, RowTime } from "./RowHead";
import { Rows } from "./Rows";

export function LogPane() {
  const page = usePage();
  if (page === null) return null;
  const { view } = page;
  const origin = originOf(view);
  const none = "Prints and log records of the Steps stand here.";
  return (
    <Rows
      label="Log"
      rows={view.log}
      total={view.log_count}
      row={(row) => <Line row={row} origin={origin} offset={page.wall_offset} />}
      empty={view.log_count === 0 && <p className="dexnb-hint">{none}</p>}
    />
  );
}

const Line = memo(function Line(props: { row: LogRow; origin: number; offset: number }) {
  const { row } = props;
  return (
    <div className="dexnb-row">
      <RowTime {...props} />
      <span className="dexnb-source">{shownName(row.source, 24)}</span>
      <code>{shown(row.line)}</code>
      <RowPlace row={row} />
    </div>
  );
});
