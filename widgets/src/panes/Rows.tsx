/** A list of rows that grows at its end and follows it until the reader scrolls up. */

import { type ReactNode, useLayoutEffect, useRef } from "react";
import { KEEPS_KEYS } from "../lab/context";

/** Rows in the document at once; older ones are counted in a line above. */
export const MOST_SHOWN = 200;

export function Rows<R extends object>(props: {
  label: string;
  rows: readonly R[];
  /** How many there were in all. */
  total: number;
  row: (row: R) => ReactNode;
  empty: ReactNode;
}) {
  const { rows, total } = props;
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  // To ask for the height lays the page out, which a drawing without a new row must not do.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new row is a reason to scroll
  useLayoutEffect(() => {
    const element = box.current;
    if (element && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [total, rows.length]);
  const shownRows = rows.slice(-MOST_SHOWN);
  const before = total - shownRows.length;
  return (
    <div
      className="dexnb-rows"
      ref={box}
      role="log"
      aria-label={props.label}
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by keys
      tabIndex={0}
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        atEnd.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
      {...KEEPS_KEYS}
    >
      {before > 0 && <p className="dexnb-hint">{before.toLocaleString("en")} earlier</p>}
      <ol>
        {shownRows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows come and go in order, never between
          <li key={before + index}>{props.row(row)}</li>
        ))}
      </ol>
      {props.empty}
    </div>
  );
}
