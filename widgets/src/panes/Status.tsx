/** The last line: which store and clock, whether the kernel answers, what waits for an answer. */

import type { Page } from "../documents";
import { measured, timeOfDay } from "../duration";
import { usePage, useSession } from "../lab/context";
import { isNotice } from "../lab/Notices";
import { SILENT_SECONDS } from "../transport";
import { shownName } from "../value";
import { CommandState } from "./CommandState";

export function StatusLine() {
  const { store, transport } = useSession();
  const page = usePage();
  if (page === null) return null;
  const commands = [...transport.commands.shown.values()].filter((one) => !isNotice(one));
  return (
    <footer className="dexnb-status">
      <span title="store">{shownName(page.runtime.name || "memory")}</span>
      <span>{clockWords(page)}</span>
      {page.runtime.state === "closed" && <span className="dexnb-fail">runtime closed</span>}
      <Connection silence={store.silence()} />
      <span className="dexnb-space" />
      <span className="dexnb-commands" role="status" aria-live="polite">
        {commands.map((command) => (
          <CommandState key={command.topic} command={command} />
        ))}
      </span>
      <time title="wall clock of the run">{timeOfDay(store.now() + page.wall_offset)}</time>
    </footer>
  );
}

function clockWords(page: Page): string {
  const [kind, factor] = page.runtime.clock.split(":");
  if (kind === "real") return "real time";
  if (kind === "virtual") return "virtual time";
  return `time ×${shownName(factor ?? "", 8)}`;
}

function Connection({ silence }: { silence: number | null }) {
  if (silence === null) return null;
  if (silence < SILENT_SECONDS) {
    return <span className="dexnb-done">● live</span>;
  }
  return <span className="dexnb-warn">○ silent for {measured(silence)}</span>;
}
