/** How the engine finds work: each fetch of both queues, and the two settings that shape them. */

import { useId } from "react";
import type { Cycle, DispatcherSettings, Page, QueueView } from "../documents";
import { measured } from "../duration";
import { usePage, useSession } from "../lab/context";
import { type FetchKind, figures, kindOf, PARKED_SECONDS, rate, spanOf } from "./cycles";
import { Slider } from "./Slider";

const WIDTH = 360;
const HEIGHT = 26;

export function DispatcherPane() {
  const { store } = useSession();
  const page = usePage();
  if (page === null) return null;
  const { orchestration, work } = page.dispatcher;
  const [from, to] = spanOf([orchestration, work], store.now());
  return (
    <div className="dexnb-dispatcher">
      <Queue name="orchestration" queue={orchestration} from={from} to={to} />
      <Queue name="work" queue={work} from={from} to={to} />
      <Legend seconds={to - from} />
      <Settings page={page} />
    </div>
  );
}

function Queue(props: { name: string; queue: QueueView; from: number; to: number }) {
  const { name, queue, from, to } = props;
  const { perSecond, idle } = figures(queue, from, to);
  const often = rate(perSecond);
  const counts = `${queue.hit} hit · ${queue.empty} empty · ${queue.error} error`;
  return (
    <figure className="dexnb-queue">
      <figcaption>
        <b>{name}</b>
        <span>{often}</span>
        <span title="share of the time in which it waited for work, parked in the store or asleep">
          waits {percent(idle)}
        </span>
        <em>{counts}</em>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name} queue: ${often}, ${counts}`}
      >
        <Lane queue={queue} from={from} to={to} />
      </svg>
    </figure>
  );
}

/** Whole percents; 100 % only where it never did anything else. */
function percent(share: number): string {
  const whole = Math.round(share * 100);
  return whole === 100 && share < 1 ? "over 99 %" : `${whole} %`;
}

function Lane({ queue, from, to }: { queue: QueueView; from: number; to: number }) {
  const scale = WIDTH / Math.max(to - from, 1e-9);
  const x = (time: number) => Math.min(WIDTH, Math.max(0, (time - from) * scale));
  const last = queue.cycles.at(-1);
  const open = last ? x(last[2]) : WIDTH;
  const seen = queue.cycles.filter((cycle) => cycle[2] >= from);
  return (
    <>
      <rect className="dexnb-lane-bg" width={WIDTH} height={HEIGHT} />
      {seen.map((cycle) => (
        <Fetch key={cycle[0]} cycle={cycle} x={x} />
      ))}
      {open < WIDTH && (
        <rect className="dexnb-f-open" x={open} y={8} width={WIDTH - open} height={10} />
      )}
    </>
  );
}

const TOPS: Record<FetchKind, number> = { hit: 2, empty: 10, parked: 8, error: 2 };
const MARK = 2.5;

/** A fetch; what a long one found is marked at its end, since before that it was parked. */
function Fetch({ cycle, x }: { cycle: Cycle; x: (time: number) => number }) {
  const [began, until, slept, , items] = cycle;
  const kind = kindOf(cycle);
  const [left, end] = [x(began), x(until)];
  const parked = until - began >= PARKED_SECONDS;
  const text = kind === "hit" ? `${items} found` : kind;
  const mark = { y: TOPS[kind], height: HEIGHT - 2 * TOPS[kind] };
  const width = parked ? MARK : Math.max(MARK, end - left);
  return (
    <g>
      <title>{`${text} · fetch ${measured(until - began)} · sleep ${measured(slept - until)}`}</title>
      {parked && (
        <rect
          className="dexnb-f-parked"
          x={left}
          y={8}
          width={Math.max(1, end - left - 0.5)}
          height={10}
        />
      )}
      {kind !== "parked" && (
        <rect
          className={`dexnb-f-${kind}`}
          x={parked ? end - MARK : left}
          {...mark}
          width={width}
        />
      )}
      {slept > until && (
        <rect
          className="dexnb-f-sleep"
          x={end}
          y={12}
          width={Math.max(0, x(slept) - end)}
          height={2}
        />
      )}
    </g>
  );
}

function Legend({ seconds }: { seconds: number }) {
  const kinds: FetchKind[] = ["hit", "parked", "empty", "error"];
  return (
    <p className="dexnb-legend">
      {kinds.map((kind) => (
        <span key={kind}>
          <i className={`dexnb-f-${kind}`} aria-hidden="true" /> {kind}
        </span>
      ))}
      <span className="dexnb-hint">last {measured(seconds)}</span>
    </p>
  );
}

const RANGES = {
  min_poll_interval: {
    label: "dispatcher_min_poll_interval",
    unit: "s",
    minimum: 0.01,
    maximum: 5,
    step: 0.01,
  },
  long_poll_timeout: {
    label: "dispatcher_long_poll_timeout",
    unit: "s",
    minimum: 0,
    maximum: 60,
    step: 0.5,
  },
} as const;

const NOTES: Record<keyof DispatcherSettings, string> = {
  min_poll_interval: "shortest time between two fetches that find nothing",
  long_poll_timeout: "how long a fetch may park in the store; 0 asks and leaves",
};

function Settings({ page }: { page: Page }) {
  const { transport, store } = useSession();
  const id = useId();
  const send = async (name: keyof DispatcherSettings, value: number) => {
    const settings = { ...(store.page ?? page).settings, [name]: value };
    const command = await transport.command("set_dispatcher", settings, "set_dispatcher");
    if (command.state === "done" && store.page) store.page.settings = settings;
    return command;
  };
  return (
    <div className="dexnb-settings">
      {(Object.keys(RANGES) as (keyof DispatcherSettings)[]).map((name) => (
        <Slider
          key={id + name}
          range={RANGES[name]}
          value={page.settings[name]}
          send={(value) => send(name, value)}
          note={NOTES[name]}
        />
      ))}
    </div>
  );
}
