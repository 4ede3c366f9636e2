/** What the run keeps and waits for: Attributes, Channels, locks, SubFlows. */

import type { ReactNode } from "react";
import type { Json, Page, StepView } from "../documents";
import { KEEPS_KEYS, usePage, useSession } from "../lab/context";
import { Icon } from "../lab/Icon";
import { shown, shownName, shownValue } from "../value";
import { executionName, heldText, labCall, statusText, subflowsOf } from "../waits";

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
      <SubFlows page={page} />
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

function SubFlows({ page }: { page: Page }) {
  const rows = Object.entries(page.view.steps).flatMap(([id, step]) => rowsOf(id, step));
  return (
    <Table title="SubFlows" heads={["Flow id", "Status", "Parent"]} total={rows.length}>
      {rows.slice(-MOST_SHOWN).map(({ key, row, parent }) => (
        <tr key={key}>
          <th scope="row" title={shown(row.flowId, 300)}>
            {shownName(row.flowId, 60)}
            <code className="dexnb-call">{labCall(row)}</code>
          </th>
          <td className="dexnb-whole">
            <StatusMark status={row.status} /> {statusText(row.status)}
          </td>
          <td className="dexnb-whole">{parent}</td>
        </tr>
      ))}
    </Table>
  );
}

function rowsOf(id: string, step: StepView) {
  const parent = executionName(id, 20);
  return subflowsOf(step).map((row) => ({ key: `${id} ${row.flowId}`, row, parent }));
}

function StatusMark({ status }: { status: string }) {
  if (status === "RUNNING") return <Icon name="play" size={9} />;
  return <Icon name={status === "COMPLETED" ? "check" : "cross"} size={9} />;
}
