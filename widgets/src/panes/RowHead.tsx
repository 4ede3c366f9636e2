/** When and in which attempt a row came to be. */

import type { Row, RunView } from "../documents";
import { clock, timeOfDay } from "../duration";
import { shownName } from "../value";

/** What a time is counted from, and what makes a time of day of it. */
export interface Place {
  origin: number;
  offset: number;
}

export function RowTime({ row, origin, offset }: { row: Row } & Place) {
  return <time title={timeOfDay(row.time + offset)}>{clock(row.time - origin)}</time>;
}

export function RowPlace({ row, source }: { row: Row; source: string }) {
  const attempt = row.attempt > 0 ? `attempt ${row.attempt}` : "";
  const place = row.step ? [shownName(row.step), attempt].filter(Boolean).join(" · ") : "";
  if (!source) return place && <em>{place}</em>;
  return (
    <em>
      {place && `${place} of `}
      <span className="dexnb-origin">{shownName(source, 120)}</span>
    </em>
  );
}

export function originOf(view: RunView): number {
  return view.started_at ?? view.time;
}
