/** The line on top: what runs, how it stands, and what can be done about it. */

import type { Command } from "../commands";
import type { CommandName, JsonObject, Page } from "../documents";
import { clock } from "../duration";
import { shownName } from "../value";
import { KEEPS_KEYS, usePage, useSession } from "./context";
import { Icon } from "./Icon";
import { elapsed, standingOf } from "./status";

export function Header() {
  const { store, transport } = useSession();
  const page = usePage();
  if (page === null) return null;
  const standing = standingOf(page);
  const lasted = elapsed(page.view, store.now());
  return (
    <header className="dexnb-header">
      <h2 title={shownName(page.title, 300)}>{shownName(page.title, 40)}</h2>
      <Badge page={page} />
      <span className={`dexnb-pill dexnb-${standing.tone}`} role="status">
        <Icon name={standing.icon} size={10} /> {standing.text}
      </span>
      <span className="dexnb-id" title={`Flow id ${shownName(page.view.flow_id, 300)}`}>
        {shownName(page.view.flow_id, 32)}
        {lasted !== null && (
          <>
            {" · "}
            <time title="time since the start">{clock(lasted)}</time>
          </>
        )}
      </span>
      <span className="dexnb-space" />
      <Buttons page={page} give={(name, args) => transport.command(name, args)} />
    </header>
  );
}

function Badge({ page }: { page: Page }) {
  if (page.graph === null) return null;
  const found = page.graph.diagnostics.map((item) => shownName(item.message, 200)).join("\n");
  return page.graph.valid ? (
    <span className="dexnb-pill dexnb-done" title={found || "Every part of the Flow is known"}>
      Valid
    </span>
  ) : (
    <span className="dexnb-pill dexnb-fail" title={found}>
      Needs attention
    </span>
  );
}

type Give = (name: CommandName, args?: JsonObject) => Promise<Command>;

const BUTTONS = [
  ["run", "play", "Run", "Start a run"],
  ["stop", "stop", "Stop", "Stop this run"],
  ["rerun", "again", "Re-run", "Start again with the same input"],
] as const;

function Buttons({ page, give }: { page: Page; give: Give }) {
  const { actions } = page;
  return (
    <div className="dexnb-buttons" role="toolbar" aria-label="Run">
      {BUTTONS.map(([name, icon, label, title]) => (
        <ActionButton
          key={name}
          name={name}
          enabled={actions[name]}
          primary={name === "run"}
          title={title}
          give={give}
        >
          <Icon name={icon} size={11} /> {label}
        </ActionButton>
      ))}
      <Speeds page={page} give={give} />
      <ActionButton
        name="complete_job"
        enabled={actions.complete_job}
        title="Let the job that the Flow waits for succeed now"
        give={give}
      >
        <Icon name="check" size={11} /> Complete job
      </ActionButton>
    </div>
  );
}

function ActionButton(props: {
  name: CommandName;
  enabled: boolean;
  primary?: boolean;
  title: string;
  give: Give;
  children: React.ReactNode;
}) {
  const { transport } = useSession();
  const state = transport.commands.shown.get(props.name)?.state;
  const waits = state === "pending" || state === "queued";
  return (
    <button
      type="button"
      className={props.primary ? "dexnb-primary" : undefined}
      disabled={!props.enabled}
      aria-busy={waits}
      title={props.title}
      onClick={() => waits || props.give(props.name)}
      {...KEEPS_KEYS}
    >
      {props.children}
    </button>
  );
}

function Speeds({ page, give }: { page: Page; give: Give }) {
  const { speeds, speed } = page.actions;
  if (speeds.length < 2) return null;
  return (
    <fieldset className="dexnb-segments" aria-label="Speed of the clock">
      {speeds.map((factor) => (
        <button
          key={factor}
          type="button"
          aria-pressed={factor === speed}
          title={factor > 0 ? `${factor} times as fast` : "As fast as it goes"}
          onClick={() => give("set_speed", { factor })}
          {...KEEPS_KEYS}
        >
          {factor > 0 ? `×${factor}` : "∞"}
        </button>
      ))}
    </fieldset>
  );
}
