/** Rows of the run and of its SubFlows in one list, by time. */

import type { Page, Row, RunView } from "../documents";
import { MOST_SHOWN } from "./Rows";

/** A row, and the flow id of the SubFlow that it is of; empty for the page's own run. */
export interface Told<R> {
  row: R;
  source: string;
}

export function toldIn<R extends Row>(page: Page, rowsOf: (view: RunView) => R[]): Told<R>[] {
  const told = newest(rowsOf(page.view), "");
  const children = Object.values(page.children ?? {});
  if (children.length === 0) return told;
  for (const view of children) told.push(...newest(rowsOf(view), view.flow_id));
  return told.sort((a, b) => a.row.time - b.row.time);
}

function newest<R>(rows: R[], source: string): Told<R>[] {
  return rows.slice(-MOST_SHOWN).map((row) => ({ row, source }));
}

/** A count of all runs of the page together. */
export function countIn(page: Page, count: (view: RunView) => number): number {
  const children = Object.values(page.children ?? {});
  return children.reduce((sum, view) => sum + count(view), count(page.view));
}
