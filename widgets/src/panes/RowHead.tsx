/** When and in which attempt a row came to be. */

import type { Row, RunView } from "../documents";
import { clock, timeOfDay } from "../duration";
import { shownName } from "../value";

export function RowTime({ row, origin, offset }: { row: Row; origin: number; offset: number }) {
  return <time title={timeOfDay(row.time + offset)}>{clock(row.time - origin)}</time>;
}

export function RowPlace({ row }: { row: Row }) {
  if (!row.step) return null;
  const attempt = row.attempt > 0 ? ` · attempt ${row.attempt}` : "";
  return (
    <em>
      {shownName(row.step)}
      {attempt}
    </em>
  );
}

export function originOf(view: RunView): number {
  return view.started_at ?? view.time;
}
