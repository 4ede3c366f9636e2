/** What the run keeps and waits for: Attributes, Channels, locks, SubFlows. */

import type { ReactNode } from "react";
import type { Json, Page, RunView } from "../documents";
import { KEEPS_KEYS, usePage, useSession } from "../lab/context";
import { Icon } from "../lab/Icon";
import { countsOf, labCall, nowText, resultText, type SubFlow, subflowsOf } from "../subflows";
import { shown, shownName, shownValue } from "../value";
import { executionName, heldText, statusText } from "../waits";

/** Rows of a table in the document at once: the newest. */
const MOST_SHOWN = 100;

export function StatePane() {
  const page = usePage();
  const { store } = useSession();
  if (page === null) return null;
  const now = store.now();
  if (!hasState(page)) return <p className="dexnb-hint">{hint(page)}</p>;
  return (
    <section
      className="dexnb-kept"
      aria-label="State of the run"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by keys
      tabIndex={0}
      {...KEEPS_KEYS}
    >
      <Held page={page} now={now} />
      <Attributes page={page} />
      <Channels page={page} />
      <Locks page={page} />
      <SubFlows page={page} now={now} />
    </section>
  );
}

/** How much there is to look at. */
export function stateCount({ view }: Page): number {
  return Object.keys(view.attributes).length + Object.keys(view.channels).length;
}

function hasState({ view }: Page): boolean {
  if (Object.keys(view.attributes).length + Object.keys(view.channels).length > 0) return true;
  if (Object.keys(view.locks).length > 0) return true;
  return Object.values(view.steps).some((step) => {
    return step.state !== "" || Object.keys(step.subflows).length > 0;
  });
}

function hint({ view }: Page): string {
  if (view.status === "WAITING") return "What the Flow keeps and waits for stands here.";
  return "This run has no Attributes, Channel messages, locks or SubFlows so far.";
}

function Table(props: { title: string; heads: string[]; total: number; children: ReactNode }) {
  const { title, heads, total, children } = props;
  if (total === 0) return null;
  const before = total - MOST_SHOWN;
  return (
    <table>
      <caption>{title}</caption>
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {children}
        {before > 0 && (
          <tr>
            <td colSpan={heads.length}>{before.toLocaleString("en")} more, changed earlier</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** The newest entries, by name: what changes stays where it is. */
function inOrder<T>(entries: Record<string, T>): [string, T][] {
  const kept = Object.entries(entries).slice(-MOST_SHOWN);
  return kept.sort(([a], [b]) => (a < b ? -1 : 1));
}

function Name({ name }: { name: string }) {
  return (
    <th scope="row" title={shown(name, 300)}>
      {shownName(readable(name), 60)}
    </th>
  );
}

/** The instance of a map is stored in the form that addresses have. */
function readable(physical: string): string {
  try {
    return decodeURIComponent(physical);
  } catch {
    return physical;
  }
}

const valueText = (value: Json, most: number) => shownValue(JSON.stringify(value), most);

function Value({ value }: { value: Json }) {
  return <code title={valueText(value, 2000)}>{valueText(value, 200)}</code>;
}

function Held({ page, now }: { page: Page; now: number }) {
  const { view } = page;
  if (view.status !== "RUNNING") return null;
  const held = Object.entries(view.steps)
    .map(([id, step]) => [id, heldText(step, view, now).replace(/^waiting: /, "")] as const)
    .filter(([, text]) => text !== "");
  return (
    <Table title="Waiting" heads={["Step", "for"]} total={held.length}>
      {held.slice(-MOST_SHOWN).map(([id, text]) => (
        <tr key={id}>
          <th scope="row">{executionName(id, 40)}</th>
          <td>{text}</td>
        </tr>
      ))}
    </Table>
  );
}

function Attributes({ page }: { page: Page }) {
  const { attributes } = page.view;
  const total = Object.keys(attributes).length;
  return (
    <Table title="Attributes" heads={["Name", "Value"]} total={total}>
      {inOrder(attributes).map(([name, value]) => (
        <tr key={name}>
          <Name name={name} />
          <td>
            <Value value={value} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Channels({ page }: { page: Page }) {
  const { channels } = page.view;
  const total = Object.keys(channels).length;
  return (
    <Table title="Channels" heads={["Name", "Pending", "Newest message"]} total={total}>
      {inOrder(channels).map(([name, channel]) => (
        <tr key={name}>
          <Name name={name} />
          <td>
            <b>{channel.pending.toLocaleString("en")}</b>
            <em> of {channel.published.toLocaleString("en")} published</em>
          </td>
          <td>
            <Value value={channel.newest} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Locks({ page }: { page: Page }) {
  const { locks, steps } = page.view;
  const total = Object.keys(locks).length;
  return (
    <Table title="Locks" heads={["Attribute", "Held by"]} total={total}>
      {inOrder(locks).map(([name, holder]) => (
        <tr key={name}>
          <Name name={name} />
          <td>{Object.hasOwn(steps, holder) ? executionName(holder, 60) : "an RPC"}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Each with its own behind it. */
function SubFlows({ page, now }: { page: Page; now: number }) {
  const { rows, more } = treeOf(page);
  return (
    <Table title="SubFlows" heads={["SubFlow", "Status", "Result or state"]} total={rows.length}>
      {rows.slice(-MOST_SHOWN).map((row) => (
        <SubFlowLine key={row.key} row={row} now={now} />
      ))}
      {more > 0 && (
        <tr>
          <td colSpan={3}>and {more.toLocaleString("en")} more</td>
        </tr>
      )}
    </Table>
  );
}

interface SubFlowRow {
  key: string;
  subflow: SubFlow;
  parent: string;
  depth: number;
}

function treeOf(page: Page): { rows: SubFlowRow[]; more: number } {
  const rows: SubFlowRow[] = [];
  let more = 0;
  const add = (view: RunView, depth: number) => {
    for (const [id, step] of Object.entries(view.steps)) {
      const own = subflowsOf(step, page);
      if (own.length > 0) more += countsOf(step).all - own.length;
      for (const subflow of own) {
        const key = `${view.run_id} ${id} ${subflow.flowId}`;
        rows.push({ key, subflow, parent: executionName(id, 20), depth });
        if (subflow.view) add(subflow.view, depth + 1);
      }
    }
  };
  add(page.view, 0);
  return { rows, more };
}

function SubFlowLine({ row, now }: { row: SubFlowRow; now: number }) {
  const { subflow, parent, depth } = row;
  const result = resultText(subflow, 200);
  const failed = subflow.told.error_type || subflow.told.error_message;
  return (
    <tr>
      <th scope="row" title={shown(subflow.flowId, 300)} style={{ paddingInlineStart: depth * 12 }}>
        {subflow.name} <em>of {parent}</em>
        <code className="dexnb-call">{labCall(subflow)}</code>
      </th>
      <td className="dexnb-whole">
        <StatusMark status={subflow.status} /> {statusText(subflow.status)}
      </td>
      <td className={failed ? "dexnb-fail" : undefined}>
        {result && !failed ? <code>{result}</code> : result || nowText(subflow, now)}
      </td>
    </tr>
  );
}

function StatusMark({ status }: { status: string }) {
  if (status === "RUNNING") return <Icon name="play" size={9} />;
  return <Icon name={status === "COMPLETED" ? "check" : "cross"} size={9} />;
}
