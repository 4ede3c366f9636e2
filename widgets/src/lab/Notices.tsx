/** Below the header: what the reader must not miss. */

import type { Command } from "../commands";
import type { CommandName, Page } from "../documents";
import { measured } from "../duration";
import { CommandState } from "../panes/CommandState";
import { SILENT_SECONDS } from "../transport";
import { shown, shownName, shownValue } from "../value";
import { usePage, useSession } from "./context";
import { Icon } from "./Icon";
import { endedText } from "./status";

/** Commands of the header's buttons: what became of them is told here, near to them. */
const BUTTONS: ReadonlySet<CommandName> = new Set([
  "run",
  "stop",
  "rerun",
  "complete_job",
  "set_speed",
]);

export function isNotice({ name, state }: Command): boolean {
  return BUTTONS.has(name) && (state === "refused" || state === "unanswered");
}

export function Notices() {
  const { store, transport } = useSession();
  const page = usePage();
  if (page === null) return null;
  const failed = [...transport.commands.shown.values()].filter(isNotice);
  return (
    <>
      {failed.map((command) => (
        <p key={command.topic} className="dexnb-notice dexnb-notice-fail" role="alert">
          <CommandState command={command} />
        </p>
      ))}
      <Silence seconds={store.silence()} />
      <Result page={page} />
    </>
  );
}

function Silence({ seconds }: { seconds: number | null }) {
  if (seconds === null || seconds < SILENT_SECONDS) return null;
  return (
    <p className="dexnb-notice dexnb-notice-warn" role="alert">
      <Icon name="warn" size={12} />
      <b>No word from the kernel for {measured(seconds)}.</b>
      <span>
        It is busy, was restarted or has died; what stands here is what it said last. If it was
        restarted, run the cell of this Lab again: the run goes on where its store is kept.
      </span>
    </p>
  );
}

const MOST_OUTPUTS = 3;

/** How the run ended: its outputs, or what failed. */
function Result({ page }: { page: Page }) {
  const { view } = page;
  const outputs = page.outputs ?? [];
  if (view.closed_at === null) return null;
  if (view.error_type || view.error_message) {
    return (
      <p className="dexnb-notice dexnb-notice-fail">
        <b>{shownName(view.error_type) || endedText(view.status)}</b>
        <span>{shown(view.error_message, 600)}</span>
      </p>
    );
  }
  if (outputs.length === 0) return null;
  return (
    <p className="dexnb-notice dexnb-notice-done">
      <b>Output</b>
      {outputs.slice(0, MOST_OUTPUTS).map(({ step, value }) => (
        <span key={step}>
          <code>{shownValue(value, 400)}</code> <em>{shownName(step)}</em>
        </span>
      ))}
      {outputs.length > MOST_OUTPUTS && (
        <em>and {(outputs.length - MOST_OUTPUTS).toLocaleString("en")} more</em>
      )}
    </p>
  );
}
