/** The line on top: what runs, how it stands, and what can be done about it. */

import type { Command } from "../commands";
import type { CommandName, JsonObject, Page } from "../documents";
import { clock, measured } from "../duration";
import { findingsOf, flowFindings, needsAttention } from "../findings";
import { SILENT_SECONDS } from "../transport";
import { shownName } from "../value";
import { KEEPS_KEYS, usePage, useSession } from "./context";
import { Icon } from "./Icon";
import { elapsed, type Standing, standingOf } from "./status";

export function Header() {
  const { store, transport } = useSession();
  const page = usePage();
  if (page === null) return null;
  const silent = (store.silence() ?? 0) >= SILENT_SECONDS;
  const standing = silent ? lastSeen(standingOf(page)) : standingOf(page);
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
            <time title="time since the start">
              {page.view.closed_at === null ? clock(lasted) : measured(lasted)}
            </time>
          </>
        )}
      </span>
      <span className="dexnb-space" />
      <Buttons page={page} give={(name, args) => transport.command(name, args)} />
    </header>
  );
}

/** A kernel that says nothing may have ended the run, or its own life. */
function lastSeen({ text }: Standing): Standing {
  return { text: `Last seen: ${text}`, tone: "warn", icon: "warn" };
}

function Badge({ page }: { page: Page }) {
  const { selection } = useSession();
  const needs = needsAttention(page);
  const pane = flowFindings(page).length > 0 ? "Findings" : "Notes";
  if (page.graph === null && !needs) return null;
  const found = findingsOf(page)
    .map((item) => shownName(item.message, 300))
    .join("\n");
  return !needs ? (
    <span className="dexnb-pill dexnb-done" title={found || "Every part of the Flow is known"}>
      Valid
    </span>
  ) : (
    <button
      type="button"
      className="dexnb-pill dexnb-fail"
      title={`${found}\nSee the pane ${pane}`.trim()}
      onClick={() => (pane === "Notes" ? selection.open(pane) : selection.show(""))}
      {...KEEPS_KEYS}
    >
      <Icon name="warn" size={10} /> Needs attention
    </button>
  );
}

type Give = (name: CommandName, args?: JsonObject) => Promise<Command>;

const BUTTONS = [
  ["run", "play", "Run"],
  ["stop", "stop", "Stop"],
  ["rerun", "again", "Re-run"],
] as const;

/** What a button does, or why it does nothing now. */
function titleOf(name: (typeof BUTTONS)[number][0] | "complete_job", page: Page): string {
  const running = page.view.status === "RUNNING";
  const { run, rerun, complete_job: completes, jobs } = page.actions;
  switch (name) {
    case "run":
      if (run) return "Start a run";
      return running ? "A run is open: Stop ends it" : "There was a run: Re-run starts another";
    case "stop":
      return running ? "Stop this run" : "No run is open";
    case "rerun":
      if (!rerun) return "There was no run yet: Run starts one";
      return running
        ? "Stop this run and start another"
        : "Start another run, with the knobs as set";
    default:
      if (completes) return "Let the job that the Flow waits for succeed now";
      if (jobs === false) return "No jobs are known: give dexnb.lab(..., jobs=...)";
      return "No run is open";
  }
}

function Buttons({ page, give }: { page: Page; give: Give }) {
  const { actions } = page;
  return (
    <div className="dexnb-buttons" role="toolbar" aria-label="Run">
      {BUTTONS.map(([name, icon, label]) => (
        <ActionButton
          key={name}
          name={name}
          enabled={actions[name]}
          primary={name === "run" || (name === "rerun" && !actions.stop)}
          title={titleOf(name, page)}
          give={give}
        >
          <Icon name={icon} size={11} /> {label}
        </ActionButton>
      ))}
      <Speeds page={page} give={give} />
      <ActionButton
        name="complete_job"
        enabled={actions.complete_job}
        title={titleOf("complete_job", page)}
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
  const acts = props.enabled && !waits;
  return (
    <button
      type="button"
      className={props.primary ? "dexnb-primary" : undefined}
      // Not `disabled`, which would lose the focus of who presses by keys, and the reason why.
      aria-disabled={!props.enabled}
      aria-busy={waits}
      title={props.title}
      onClick={() => acts && props.give(props.name)}
      {...KEEPS_KEYS}
    >
      {props.children}
    </button>
  );
}

function Speeds({ page, give }: { page: Page; give: Give }) {
  const { speeds, speed } = page.actions;
  if (speeds.length < 2) return null;
  const open = page.view.status === "RUNNING";
  const why = "Stop the run first: the speed is chosen before a run starts";
  return (
    <fieldset className="dexnb-segments" aria-label="Speed of the clock">
      {speeds.map((factor) => (
        <button
          key={factor}
          type="button"
          aria-pressed={factor === speed}
          aria-disabled={open}
          title={open ? why : factor > 0 ? `${factor} times as fast` : "As fast as it goes"}
          onClick={() => open || give("set_speed", { factor })}
          {...KEEPS_KEYS}
        >
          {factor > 0 ? `×${factor}` : "∞"}
        </button>
      ))}
    </fieldset>
  );
}
