/** What became of a command: in words, to be tried again or put away where it went wrong. */

import type { Command } from "../commands";
import { KEEPS_KEYS, useSession } from "../lab/context";
import { Icon } from "../lab/Icon";
import { shown, shownName } from "../value";

const NAMES: Record<Command["name"], string> = {
  run: "Run",
  stop: "Stop",
  rerun: "Re-run",
  complete_job: "Complete job",
  set_knob: "Knob",
  set_dispatcher: "Dispatcher",
  set_speed: "Speed",
  source_of: "Source",
  explain: "Rule",
};

function words(command: Command): string {
  const argument = command.name === "set_knob" ? ` ${command.args.name}` : "";
  const name = shownName(`${NAMES[command.name]}${argument}`, 60);
  if (command.state === "pending") return `${name}: sent`;
  if (command.state === "queued") return `${name}: queued: the kernel is busy`;
  if (command.state === "unanswered") return `${name}: no answer from the kernel`;
  return `${name}: ${shown(command.error || "refused", 300)}`;
}

export function CommandState({ command }: { command: Command }) {
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
