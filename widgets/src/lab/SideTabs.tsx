/** The panes beside the graph, one at a time. */

import { type KeyboardEvent, useId, useRef } from "react";
import type { Page } from "../documents";
import { asks, flowFindings, runFindings } from "../findings";
import { DispatcherPane } from "../panes/Dispatcher";
import { FindingsPane } from "../panes/Findings";
import { LogPane } from "../panes/Log";
import { NotesPane } from "../panes/Notes";
import { StatePane, stateCount } from "../panes/State";
import { StreamPane } from "../panes/Stream";
import { countIn } from "../panes/told";
import { KEEPS_KEYS, useOfPage, useSelection } from "./context";

const TABS = [
  { name: "Stream", Pane: StreamPane, count: messageCount },
  { name: "State", Pane: StatePane, count: stateCount },
  { name: "Log", Pane: LogPane, count: logCount },
  { name: "Dispatcher", Pane: DispatcherPane, count: () => 0 },
  { name: "Findings", Pane: FindingsPane, count: (page: Page) => flowFindings(page).length },
  { name: "Notes", Pane: NotesPane, count: noteCount },
] as const;

/** Notes of what was done to the run, which call for nothing. */
const CALM = new Set(["rpc_completed", "config_changed", "parent_added", "time_travelled"]);

function warns(name: string, page: Page): boolean {
  if (name === "Findings") return flowFindings(page).some(asks);
  if (name !== "Notes") return false;
  const notes = countIn(page, (run) => run.notes.filter(({ kind }) => !CALM.has(kind)).length);
  return page.view.error_message !== "" || runFindings(page).length > 0 || notes > 0;
}

function messageCount(page: Page): number {
  return countIn(page, (run) => run.message_count);
}

function logCount(page: Page): number {
  return countIn(page, (run) => run.log_count);
}

function noteCount(page: Page): number {
  const notes = countIn(page, (run) => run.notes.length);
  return notes + runFindings(page).length + (page.view.error_message ? 1 : 0);
}

export function SideTabs() {
  const selection = useSelection();
  const at = Math.max(
    0,
    TABS.findIndex(({ name }) => name === selection.pane),
  );
  const setAt = (index: number) => selection.open(TABS[index]?.name ?? "");
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const choose = (index: number) => {
    setAt(index);
    list.current?.querySelectorAll("button")[index]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextTab(event.key, at);
    if (next === null) return;
    event.preventDefault();
    choose(next);
  };
  const { Pane } = TABS[at] ?? TABS[0];
  return (
    <section className="dexnb-side" aria-label="What the run tells">
      <div role="tablist" aria-label="Panes" ref={list} onKeyDown={onKeyDown}>
        {TABS.map((tab, index) => (
          <Tab key={tab.name} id={id} tab={tab} chosen={index === at} choose={() => setAt(index)} />
        ))}
      </div>
      <div role="tabpanel" id={`${id}panel`} aria-labelledby={`${id}${TABS[at]?.name}`}>
        <Pane />
      </div>
    </section>
  );
}

function Tab(props: {
  id: string;
  tab: (typeof TABS)[number];
  chosen: boolean;
  choose: () => void;
}) {
  const { name, count } = props.tab;
  const rows = useOfPage((page) => count(page), 0);
  const warned = useOfPage((page) => warns(name, page), false);
  return (
    <button
      type="button"
      role="tab"
      id={`${props.id}${name}`}
      aria-selected={props.chosen}
      aria-controls={`${props.id}panel`}
      tabIndex={props.chosen ? 0 : -1}
      onClick={props.choose}
      {...KEEPS_KEYS}
    >
      {name}
      {rows > 0 && (
        <span className={warned ? "dexnb-count dexnb-count-warn" : "dexnb-count"}>
          {rows.toLocaleString("en")}
        </span>
      )}
    </button>
  );
}

function nextTab(key: string, at: number): number | null {
  if (key === "ArrowRight") return (at + 1) % TABS.length;
  if (key === "ArrowLeft") return (at + TABS.length - 1) % TABS.length;
  if (key === "Home") return 0;
  if (key === "End") return TABS.length - 1;
  return null;
}
