/** The rows of SubFlows: a bar from begin to end, and a button that opens the lanes below it. */

import { clock } from "../duration";
import { KEEPS_KEYS, useSession } from "../lab/context";
import { Icon } from "../lab/Icon";
import { labCall, nowText, standingText, toneOf } from "../subflows";
import { shown, shownName } from "../value";
import type { Field } from "./AttemptBar";
import { fitted, widthOf } from "./labels";
import { CHILD_ROW, type ChildRow, type HintRow, INDENT } from "./lanes";

const BAR = 14;

/** What of the rows is on the axis, and the words in place of what is not drawn. */
export function ChildRows(props: {
  rows: ChildRow[];
  hints: HintRow[];
  field: Field;
  origin: number;
}) {
  const { rows, hints, field, origin } = props;
  return (
    <>
      {rows.map((row) => (
        <g key={row.key}>
          {row.end > row.bottom && (
            <path className="dexnb-t-guide" d={guide(row)}>
              <title>{row.subflow.name}</title>
            </path>
          )}
          <Life row={row} field={field} origin={origin} />
        </g>
      ))}
      {hints.map(({ key, text, depth, top }) => (
        <text key={key} className="dexnb-t-sub" x={12 + depth * INDENT} y={top + 12}>
          {text}
        </text>
      ))}
    </>
  );
}

function guide({ depth, bottom, end }: ChildRow): string {
  return `M${9.5 + (depth - 1) * INDENT + 4} ${bottom - 3}V${end - 6}`;
}

function Life({ row, field, origin }: { row: ChildRow; field: Field; origin: number }) {
  const { x, left, right, now } = field;
  const { subflow } = row;
  const end = subflow.ended ?? Math.max(now, subflow.began);
  const [from, to] = [Math.max(left, x(subflow.began)), Math.min(right, x(end))];
  if (to < left || from > right) return null;
  const early = subflow.began < origin - 0.5 ? `began ${clock(origin - subflow.began)} before` : "";
  const words = [standingText(subflow), early, shownName(subflow.flowId, 80)]
    .filter(Boolean)
    .join(" · ");
  const behind = to + 6 + widthOf(words) < right;
  const text = behind ? words : fitted(words, to - from - 10) || fitted(words, right - to - 6);
  const inside = !behind && fitted(words, to - from - 10) !== "";
  const tone = subflow.code ? "held" : toneOf(subflow);
  const what = nowText(subflow, now);
  return (
    <g className={`dexnb-t-sub-flow dexnb-t-sub-flow-${tone}`}>
      <title>
        {[words, shown(what, 300), `Its own Lab: ${labCall(subflow)}`].filter(Boolean).join(". ")}
      </title>
      <rect x={from} y={row.top + 5} width={Math.max(2, to - from)} height={BAR} rx={2} />
      <text x={inside ? from + 5 : to + 6} y={row.top + 5 + BAR - 3.5}>
        {text}
      </text>
    </g>
  );
}

/** At the left, above the drawing: what can be pressed must be no part of a picture. */
export function ChildNames({ rows, gutter }: { rows: ChildRow[]; gutter: number }) {
  if (rows.length === 0) return null;
  return (
    <ul className="dexnb-t-children" aria-label="SubFlows">
      {rows.map((row) => {
        const left = 4 + (row.depth - 1) * INDENT;
        const place = { left, top: row.top, width: gutter - left - 4, height: CHILD_ROW };
        return (
          <li key={row.key} style={place}>
            <ChildName row={row} />
          </li>
        );
      })}
    </ul>
  );
}

function ChildName({ row }: { row: ChildRow }) {
  const { opened, store } = useSession();
  const { subflow, open } = row;
  const { name } = subflow;
  if (subflow.view === null) {
    return (
      <span title={shownName(subflow.flowId, 300)}>
        <Icon name="circle" size={8} /> {name}
      </span>
    );
  }
  const toggle = () => {
    opened.set(subflow.runId, !open);
    store.touch();
  };
  const said = `SubFlow ${name}, ${standingText(subflow)}, ${shownName(subflow.flowId, 120)}`;
  return (
    <button
      type="button"
      aria-expanded={open}
      aria-label={said}
      title={`${open ? "Hide" : "Show"} what ${shownName(subflow.flowId, 120)} does`}
      onClick={toggle}
      {...KEEPS_KEYS}
    >
      <Icon name={open ? "down" : "right"} size={10} />
      <b>{name}</b>
    </button>
  );
}
