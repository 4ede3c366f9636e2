/** A Step's frame in the graph, with what the run makes of it. */

import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";
import type { Page } from "../documents";
import { usePage, useSelection, useSession } from "../lab/context";
import { Icon, type IconName } from "../lab/Icon";
import { shown, shownName } from "../value";
import { Badge } from "./Badge";
import { LiveRows } from "./LiveRows";
import type { PlacedBox } from "./layout";
import { type Live, type LiveState, liveOf, wasTaken } from "./live";
import { CARD_HEIGHT, type Card, executionText, nameOf } from "./measure";
import { Ring } from "./Ring";
import type { Chip } from "./shape";

export type StepNodeType = Node<{ placed: PlacedBox }, "step">;

const ICONS: Record<LiveState, IconName> = {
  idle: "circle",
  waiting: "clock",
  running: "play",
  "backing off": "again",
  done: "check",
  failed: "cross",
  cancelled: "no",
};

/** The anchors that the edges need; they are never drawn, and nothing can be tied to them. */
export function Anchors() {
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
}

export const StepNode = memo(function StepNode({ data }: NodeProps<StepNodeType>) {
  const { store } = useSession();
  const page = usePage();
  const { placed } = data;
  const chosen = useSelection().box === placed.box.id;
  if (page === null) return null;
  const now = store.now();
  const live = liveOf(page.view, placed.box.type, now);
  const state = live.state.replace(" ", "-");
  return (
    <div
      className={[
        `dexnb-step dexnb-step-${state}`,
        placed.box.known ? "" : "dexnb-step-unknown",
        chosen ? "dexnb-chosen" : "",
      ].join(" ")}
      style={{ width: placed.width, height: placed.height }}
    >
      <Anchors />
      <Badge box={placed.box.id} name={placed.box.name} />
      <Head placed={placed} page={page} live={live} now={now} />
      {placed.box.chips.length > 0 && (
        <div className="dexnb-chips" style={{ top: placed.places.chips }}>
          {placed.box.chips.map((chip) => (
            <ChipBox key={chip.icon} chip={chip} live={live} />
          ))}
        </div>
      )}
      <Streams placed={placed} />
      <Waits placed={placed} />
      <Dispatch placed={placed} page={page} live={live} />
      <div className="dexnb-live" style={{ top: placed.places.live }}>
        <div className="dexnb-state" title={titleOf(live)}>
          <Icon name={ICONS[live.state]} size={11} /> {live.text}
          <em>{executionText(live.text, live.executions, placed.width)}</em>
        </div>
        {placed.box.polls && <LiveRows live={live} now={now} />}
      </div>
    </div>
  );
});

function titleOf({ text, step, executions }: Live): string {
  const error = step?.recovery_error?.detail;
  const count = executions > 1 ? `execution ${executions.toLocaleString("en")}` : "";
  return [text, count, error && shown(error, 300)].filter(Boolean).join(" · ");
}

/** What it waits for before it executes. */
function Waits({ placed }: { placed: PlacedBox }) {
  const { waits, waitKind, waitTitle } = placed.box;
  if (waits.length === 0 && !waitKind) return null;
  return (
    <div className="dexnb-waits" style={{ top: placed.places.waits }}>
      {waitKind && (
        <span className="dexnb-wait-kind" title={`waits for ${shown(waitTitle, 500)}`}>
          {waitKind}
        </span>
      )}
      {waits.map((text) => (
        <span
          key={text}
          className="dexnb-chip dexnb-chip-wait"
          title={`waits for ${shown(text, 200)}`}
        >
          <Icon name="clock" size={9} /> {shownName(text, 40)}
        </span>
      ))}
    </div>
  );
}

function Head(props: { placed: PlacedBox; page: Page; live: Live; now: number }) {
  const { placed, page, live, now } = props;
  const limit = live.attempt?.limits?.heartbeat_timeout;
  return (
    <div className="dexnb-step-head">
      <b title={shownName(placed.box.name, 300)}>{nameOf(placed.box)}</b>
      {placed.box.start && <span className="dexnb-start">START</span>}
      <span className="dexnb-space" />
      {placed.box.polls && live.open && live.attempt && limit !== undefined && (
        <Ring age={Math.max(0, now - live.attempt.last_sign)} limit={limit} margin={page.margin} />
      )}
    </div>
  );
}

function ChipBox({ chip, live }: { chip: Chip; live: Live }) {
  const attempt = live.attempt?.attempt ?? 0;
  const limit = live.attempt?.limits?.maximum_attempts ?? 0;
  const counts = chip.icon === "again" && attempt > 0 && (limit > 0 || attempt > 1);
  const text = counts ? `${attempt}/${limit > 0 ? limit : "∞"}` : chip.text;
  return (
    <span
      className={chip.given ? "dexnb-chip" : "dexnb-chip dexnb-chip-default"}
      title={chip.title}
    >
      <Icon name={chip.icon} size={10} /> {text}
    </span>
  );
}

function Streams({ placed }: { placed: PlacedBox }) {
  const { streams } = placed.box;
  if (streams.length === 0) return null;
  return (
    <div className="dexnb-chips" style={{ top: placed.places.streams }}>
      {streams.map((name) => (
        <span
          key={name}
          className="dexnb-chip dexnb-chip-stream"
          title={`writes to Stream ${shownName(name, 200)}`}
        >
          <Icon name="diamond" size={9} /> {shownName(name, 24)}
        </span>
      ))}
    </div>
  );
}

function Dispatch({ placed, page, live }: { placed: PlacedBox; page: Page; live: Live }) {
  const { diamond, cards } = placed.places;
  const taken = cards.filter((card) => wasTaken(live, card.outcome, page.view.taken));
  // The log tells the kind of a decision, not its line: of two alike neither is marked.
  const only = taken.length === 1 ? taken[0] : undefined;
  return (
    <>
      {diamond && (
        <svg
          className="dexnb-dispatch"
          width={placed.width}
          height={placed.height}
          aria-hidden="true"
        >
          {cards.map((card) => (
            <path key={card.outcome.id} className="dexnb-branch" d={branch(diamond, card)} />
          ))}
          <path
            className="dexnb-diamond"
            d={`M${diamond.x} ${diamond.y - 15}l15 15-15 15-15-15z`}
          />
          <text x={diamond.x} y={diamond.y + 4.5}>
            ?
          </text>
        </svg>
      )}
      {cards.map((card) => (
        <OutcomeCard
          key={card.outcome.id}
          card={card}
          guarded={diamond !== null}
          taken={card === only}
        />
      ))}
    </>
  );
}

/** From the diamond to the top of a card beside others, or to the side of one below others. */
function branch(diamond: { x: number; y: number }, card: Card): string {
  const middle = card.x + card.width / 2;
  const stacked = card.x > diamond.x;
  if (stacked && diamond.x < 40) {
    return `M${diamond.x} ${diamond.y + 15}V${card.y + CARD_HEIGHT / 2}H${card.x}`;
  }
  return `M${diamond.x} ${diamond.y}H${middle}V${card.y}`;
}

function OutcomeCard({ card, guarded, taken }: { card: Card; guarded: boolean; taken: boolean }) {
  const { outcome, x, y, width } = card;
  const why = outcome.condition ? `if ${shown(outcome.condition, 300)}` : "";
  return (
    <>
      {guarded && outcome.guard && (
        <span className="dexnb-guard" style={{ left: x, top: y - 17, width }} title={why}>
          <span>{outcome.guard}</span>
        </span>
      )}
      <span
        className={`dexnb-card dexnb-card-${outcome.tone} ${taken ? "dexnb-card-taken" : ""}`}
        style={{ left: x, top: y, width, height: CARD_HEIGHT }}
        title={[outcome.text, why, taken ? "(taken)" : "", outcome.more].filter(Boolean).join(" ")}
      >
        {taken && <Icon name="check" size={10} />}
        {outcome.text}
        {outcome.more && (
          <Icon name={outcome.more.startsWith("cancels") ? "no" : "mail"} size={10} />
        )}
      </span>
    </>
  );
}
