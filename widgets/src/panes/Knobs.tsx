/** The constants that the Steps read, to be turned while the run goes on or for the next one. */

import type { Knob } from "../documents";
import { usePage, useSession } from "../lab/context";
import { shown, shownName } from "../value";
import { Slider } from "./Slider";

export function KnobsPane() {
  const page = usePage();
  if (page === null || page.knobs.length === 0) return null;
  return (
    <section className="dexnb-knobs" aria-label="Knobs">
      {page.knobs.map((knob) => (
        <KnobField key={knob.name} knob={knob} running={page.view.status === "RUNNING"} />
      ))}
    </section>
  );
}

function KnobField({ knob, running }: { knob: Knob; running: boolean }) {
  const { transport, store } = useSession();
  const live = knob.live && running;
  const send = async (value: number) => {
    const args = { name: knob.name, value, live };
    const command = await transport.command("set_knob", args, `knob ${knob.name}`);
    // The next snapshot says the same; until then the slider must not jump back.
    const known = store.page?.knobs.find((other) => other.name === knob.name);
    if (command.state === "done" && known) known.value = value;
    return command;
  };
  return (
    <Slider
      range={{ ...knob, label: shownName(knob.label, 60) }}
      value={knob.value}
      code={knob.default}
      send={send}
      note={shown(knob.note, 200)}
      error={knob.legal ? "" : shown(knob.error || "not legal", 300)}
      mark={<LiveMark live={knob.live} />}
    />
  );
}

function LiveMark({ live }: { live: boolean }) {
  return live ? (
    <span className="dexnb-mark dexnb-running" title="Takes effect in the run that goes on">
      live
    </span>
  ) : (
    <span className="dexnb-mark dexnb-quiet" title="Takes effect when a run starts">
      next run
    </span>
  );
}
