/** The last line: which store and clock, whether the kernel answers, what waits for an answer. */

import type { Command } from "../commands";
import type { Page } from "../documents";
import { measured, timeOfDay } from "../duration";
import { KEEPS_KEYS, usePage, useSession } from "../lab/context";
import { Icon } from "../lab/Icon";
import { SILENT_SECONDS } from "../transport";
import { shown, shownName } from "../value";

export function StatusLine() {
  const { store, transport } = useSession();
  const page = usePage();
  if (page === null) return null;
  const commands = [...transport.commands.shown.values()];
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
  return (
    <span className="dexnb-warn" role="status">
      ○ no word from the kernel for {measured(silence)}
    </span>
  );
}

const NAMES: Record<Command["name"], string> = {
  run: "Run",
  stop: "Stop",
  rerun: "Re-run",
  complete_job: "Complete job",
  set_knob: "Knob",
  set_dispatcher: "Dispatcher",
  set_speed: "Speed",
};

function words(command: Command): string {
  const argument = command.name === "set_knob" ? ` ${command.args.name}` : "";
  const name = shownName(`${NAMES[command.name]}${argument}`, 60);
  if (command.state === "pending") return `${name}: sent`;
  if (command.state === "queued") return `${name}: queued: the kernel is busy`;
  if (command.state === "unanswered") return `${name}: no answer from the kernel`;
  return `${name}: ${shown(command.error || "refused", 300)}`;
}

function CommandState({ command }: { command: Command }) {
  const { transport } = useSession();
  const bad = command.state === "unanswered" || command.state === "refused";
  return (
    <span className={bad ? "dexnb-fail" : "dexnb-quiet"}>
      {words(command)}{" "}
      {command.state === "unanswered" && (
        <button
          type="button"
          onClick={() => transport.commands.retry(command.topic)}
          {...KEEPS_KEYS}
        >
          Retry
        </button>
      )}
      {bad && (
        <button
          type="button"
          aria-label={`Dismiss: ${words(command)}`}
          onClick={() => transport.commands.dismiss(command.topic)}
          {...KEEPS_KEYS}
        >
          <Icon name="cross" size={9} />
        </button>
      )}
    </span>
  );
}
