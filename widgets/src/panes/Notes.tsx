/** What the reader should know of the run: how it failed, what fails again, stalls, late writes. */

import { memo } from "react";
import type { NoteRow, RunView } from "../documents";
import type { Finding } from "../findingDocuments";
import { runFindings } from "../findings";
import { usePage } from "../lab/context";
import { endedText } from "../lab/status";
import { shown, shownName } from "../value";
import { originOf, type Place, RowPlace, RowTime } from "./RowHead";
import { Rows } from "./Rows";
import { countIn, type Told, toldIn } from "./told";

const WORDS: Record<string, string> = {
  late_write: "late write",
  stop_requested: "stop",
  stall: "loop held",
  suspended: "machine slept",
  engine_error: "engine error",
  wait_failed: "no wait",
  rpc_completed: "RPC",
  rpc_refused: "RPC refused",
  flow_timed_out: "timeout",
  time_travelled: "time travel",
  config_changed: "settings",
  parent_added: "parent",
};

export function NotesPane() {
  const page = usePage();
  if (page === null) return null;
  const { view } = page;
  const origin = originOf(view);
  const found = runFindings(page);
  const count = countIn(page, (run) => run.notes.length);
  const nothing = count + found.length === 0 && !view.error_message;
  return (
    <>
      <Outcome view={view} />
      {found.slice(0, 50).map((item) => (
        <Found key={`${item.code}${item.message}`} item={item} />
      ))}
      <Rows
        label="Notes"
        rows={toldIn(page, (run) => run.notes)}
        total={count}
        row={(told) => <Note {...told} origin={origin} offset={page.wall_offset} />}
        empty={nothing && <p className="dexnb-hint">Nothing out of the ordinary.</p>}
      />
    </>
  );
}

function Outcome({ view }: { view: RunView }) {
  if (!view.error_message && !view.error_type) return null;
  return (
    <p className="dexnb-outcome">
      <b>{shownName(view.error_type) || endedText(view.status)}</b> {shown(view.error_message)}
    </p>
  );
}

function Found({ item }: { item: Finding }) {
  return (
    <p className={item.severity === "error" ? "dexnb-outcome" : "dexnb-warning"}>
      <b>{item.severity}</b> {shown(item.message)}
    </p>
  );
}

const Note = memo(function Note(props: Told<NoteRow> & Place) {
  const { row } = props;
  return (
    <div className="dexnb-row">
      <RowTime {...props} />
      <b className="dexnb-note-kind">{WORDS[row.kind] ?? shownName(row.kind, 24)}</b>
      <span>{shown(row.text)}</span>
      <RowPlace row={row} source={props.source} />
    </div>
  );
});
