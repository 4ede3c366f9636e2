/** The run over time: a lane per Step execution, on one axis that scales alone. */

import { type MouseEvent, useId, useLayoutEffect, useRef, useState } from "react";
import type { Page } from "../documents";
import { clock, measured } from "../duration";
import { KEEPS_KEYS, usePage, useSession } from "../lab/context";
import { elapsed } from "../lab/status";
import type { Session } from "../session";
import type { Field } from "./AttemptBar";
import {
  axisEnd,
  type Sight,
  type Span,
  seen,
  tickPlace,
  tickStep,
  ticks,
  tickText,
  WHOLE,
} from "./axis";
import { ChildNames, ChildRows } from "./ChildRow";
import { Controls } from "./Controls";
import { useGestures } from "./gestures";
import { LaneNames, LaneRow } from "./LaneRow";
import { AXIS_HEIGHT, type Lanes, lanesOf, sleepsOf } from "./lanes";
import { whatAt, whatOf } from "./probe";
import { Ways } from "./Ways";

const RIGHT = 14;

export function TimelinePane() {
  const page = usePage();
  const [sight, setSight] = useState<Sight>(WHOLE);
  const [probe, setProbe] = useState<Probe | null>(null);
  const { box, width } = useWidth();
  const pane = useRef<HTMLElement>(null);
  const { store, opened } = useSession();
  const scene = page && sceneOf(page, opened, store.now(), sight, width);
  const hold = { ...(scene ?? EMPTY), sight, setSight };
  const gestures = useGestures(pane, hold);
  if (!scene) return null;
  return (
    <section className="dexnb-timeline" aria-label="Timeline" ref={pane} {...gestures}>
      <Axis scene={scene} width={width} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys move and zoom what is in it */}
      <div className="dexnb-lanes" ref={box} tabIndex={0} {...KEEPS_KEYS}>
        <Remarks scene={scene} />
        <div className="dexnb-drawing">
          <Drawing scene={scene} width={width} probe={probe} setProbe={setProbe} />
          <ChildNames rows={scene.children} gutter={scene.gutter} />
        </div>
      </div>
      <Controls
        sight={sight}
        setSight={setSight}
        span={scene.span}
        end={scene.end}
        live={scene.live}
        words={probe ? wordsOf(probe, scene) : ""}
      />
    </section>
  );
}

/** All that is drawn, worked out for one frame. */
interface Scene extends Lanes {
  span: Span;
  end: number;
  elapsed: number;
  live: boolean;
  field: Field;
  origin: number;
  sleeps: [from: number, to: number][];
  gutter: number;
  left: number;
  right: number;
}

interface Probe {
  time: number;
  /** The key of a lane or of a SubFlow's row. */
  row: string;
}

const EMPTY = { span: { from: 0, to: 1 }, end: 1, left: 0, right: 1 };

function sceneOf(
  page: Page,
  opened: Session["opened"],
  now: number,
  sight: Sight,
  width: number,
): Scene {
  const { view } = page;
  const lanes = lanesOf(view, now, { ...page, opened });
  const lasted = elapsed(view, now) ?? 0;
  const end = axisEnd(lasted, view.closed_at !== null);
  const span = seen(sight, end, lasted);
  const gutter = width < 620 ? 112 : 164;
  const [left, right] = [gutter, Math.max(gutter + 40, width - RIGHT)];
  const origin = view.started_at ?? view.time;
  const perSecond = (right - left) / (span.to - span.from);
  const x = (time: number) => left + (time - origin - span.from) * perSecond;
  const running = view.status === "RUNNING";
  const field = { x, left, right, now, running, margin: page.margin };
  const common = { span, end, elapsed: lasted, live: view.closed_at === null, field, origin };
  return { ...common, ...lanes, sleeps: sleepsOf(view), gutter, left, right };
}

function wordsOf({ time, row }: Probe, { lanes, children, origin, field }: Scene): string {
  const child = children.find(({ key }) => key === row);
  if (child) return whatOf(child, time, origin);
  return whatAt(
    lanes.find(({ key }) => key === row),
    time,
    origin,
    field.now,
  );
}

function Remarks({ scene }: { scene: Scene }) {
  const { hidden, lanes } = scene;
  if (lanes.length === 0) return <p className="dexnb-hint">No Step has been scheduled yet.</p>;
  if (hidden === 0) return null;
  return <p className="dexnb-hint">{hidden.toLocaleString("en")} earlier executions</p>;
}

function Drawing(props: {
  scene: Scene;
  width: number;
  probe: Probe | null;
  setProbe: (probe: Probe | null) => void;
}) {
  const { scene, width, probe, setProbe } = props;
  const { lanes, field, height } = scene;
  const hatch = useId().replaceAll(":", "");
  const look = (event: MouseEvent<SVGElement>) => setProbe(probeAt(event, scene));
  return (
    <svg
      width={width}
      height={height}
      role="img"
      aria-label={summary(scene)}
      onMouseMove={look}
      onMouseLeave={() => setProbe(null)}
    >
      <Hatch id={hatch} />
      <Grid scene={scene} />
      <Sleeps scene={scene} />
      {lanes.map((lane) => (
        <LaneNames key={lane.key} lane={lane} now={field.now} gutter={scene.gutter} />
      ))}
      <ChildRows rows={scene.children} hints={scene.hints} field={field} origin={scene.origin} />
      {lanes.map((lane) => (
        <LaneRow key={lane.key} lane={lane} field={field} hatch={hatch} />
      ))}
      <Ways lanes={lanes} field={field} />
      {field.running && <Upright className="dexnb-t-now" time={field.now} scene={scene} />}
      {probe && <Upright className="dexnb-t-probe" time={probe.time} scene={scene} />}
    </svg>
  );
}

function probeAt(
  event: MouseEvent<SVGElement>,
  { lanes, children, field, span, origin }: Scene,
): Probe | null {
  const box = event.currentTarget.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  if (x < field.left || x > field.right) return null;
  const share = (x - field.left) / (field.right - field.left);
  const row = [...lanes, ...children].find(({ top, bottom }) => y >= top && y < bottom);
  return { time: origin + span.from + share * (span.to - span.from), row: row?.key ?? "" };
}

const MOST_TOLD = 8;

function summary({ lanes, children, elapsed: lasted }: Scene): string {
  const own = lanes.filter(({ depth }) => depth === 0);
  const told = own.slice(-MOST_TOLD).map(({ label, sub }) => `${label}: ${sub}`);
  // What is in a SubFlow is told by the button that opens it.
  const more = children.length > 0 ? `. ${children.length} SubFlows` : "";
  return `${own.length} Step executions in ${clock(lasted)}. ${told.join("; ")}${more}`;
}

/** The width of the drawing, taken anew when the pane changes or comes back into sight. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => element.clientWidth > 0 && setWidth(element.clientWidth);
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { box, width };
}

function marksOf({ span, left, right }: Scene): { times: number[]; step: number } {
  const most = Math.max(2, Math.floor((right - left) / 90));
  return { times: ticks(span, most), step: tickStep(span.to - span.from, most) };
}

function Axis({ scene, width }: { scene: Scene; width: number }) {
  const { times, step } = marksOf(scene);
  return (
    <svg className="dexnb-axis" width={width} height={AXIS_HEIGHT} aria-hidden="true">
      {times.map((time) => {
        const text = tickText(time, step);
        const place = tickPlace(scene.field.x(scene.origin + time), text, width);
        return (
          <text key={time} {...place} y={14}>
            {text}
          </text>
        );
      })}
    </svg>
  );
}

function Grid({ scene }: { scene: Scene }) {
  const { field, origin, height } = scene;
  const path = marksOf(scene)
    .times.map((time) => `M${Math.round(field.x(origin + time)) + 0.5} 0v${height}`)
    .join("");
  return <path className="dexnb-t-grid" d={path} />;
}

/** The machine was suspended: nothing ran, and no deadline counts it. */
function Sleeps({ scene }: { scene: Scene }) {
  const { sleeps, field, height, left, right } = scene;
  return (
    <>
      {sleeps.map(([from, to]) => {
        const [a, b] = [Math.max(left, field.x(from)), Math.min(right, field.x(to))];
        if (b <= a) return null;
        return (
          <rect
            key={from}
            className="dexnb-t-asleep"
            x={a}
            width={Math.max(2, b - a)}
            height={height}
          >
            <title>{`the machine slept for ${measured(to - from)}`}</title>
          </rect>
        );
      })}
    </>
  );
}

function Upright(props: { className: string; time: number; scene: Scene }) {
  const { field, height } = props.scene;
  const at = field.x(props.time);
  if (at < field.left || at > field.right) return null;
  return <path className={props.className} d={`M${at.toFixed(1)} 0v${height}`} />;
}

function Hatch({ id }: { id: string }) {
  return (
    <defs>
      <pattern
        id={id}
        width={6}
        height={6}
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect className="dexnb-hatch-bg" width={6} height={6} />
        <rect className="dexnb-hatch" width={3} height={6} />
      </pattern>
    </defs>
  );
}
