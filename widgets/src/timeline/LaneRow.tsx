/** One lane of the timeline. */

import type { AttemptView, StepView } from "../documents";
import { duration, measured } from "../duration";
import { shownValue } from "../value";
import { ABOVE_LIMIT, AttemptBar, type Field } from "./AttemptBar";
import { attemptLabels, type Label, placed, type Stretch, type Taken, widthOf } from "./labels";
import {
  attemptName,
  attemptTone,
  BAR_HEIGHT,
  failureBrief,
  failureText,
  INDENT,
  type Lane,
  outcomeText,
  resumedText,
  tellsAttempts,
} from "./lanes";
import { QueueBar, WaitBar } from "./WaitBar";

/** A curve at least so high has room for the names of its lines. */
const TALL = 40;

export function LaneRow(props: { lane: Lane; field: Field; hatch: string }) {
  const { lane, hatch } = props;
  const { attempts } = lane.step;
  // A SubFlow may run on when the run of the page has ended, and end before it.
  const field = { ...props.field, running: lane.view.status === "RUNNING" };
  return (
    <g>
      {lane.saw && <SawField lane={lane} field={field} />}
      <Gaps lane={lane} field={field} hatch={hatch} />
      <QueueBar lane={lane} field={field} />
      <WaitBar lane={lane} field={field} />
      {attempts.map((attempt) => (
        <AttemptBar
          key={`${attempt.method}${attempt.attempt}@${attempt.started_at}`}
          attempt={attempt}
          lane={lane}
          field={field}
        />
      ))}
      <Messages lane={lane} field={field} />
      <Texts lane={lane} field={field} />
      <Failures attempts={attempts} lane={lane} field={field} />
      <Outcome lane={lane} field={field} />
    </g>
  );
}

/** What the curve of silence is read against. */
function SawField({ lane, field }: { lane: Lane; field: Field }) {
  const limit = lane.step.attempts.at(-1)?.limits?.heartbeat_timeout ?? 0;
  if (!lane.saw || limit <= 0) return null;
  const { left, right, margin } = field;
  const { top, height } = lane.saw;
  const y = (age: number) => top + height - (age / (limit * ABOVE_LIMIT)) * height;
  const safe = limit - margin;
  // Two lines that are close have their names on either side.
  const below = y(safe) - y(limit) < 16 ? y(safe) + 11 : y(safe) - 3;
  const across = (at: number) => `M${left} ${at}H${right}`;
  return (
    <g>
      <path className="dexnb-t-danger" d={`${across(top)}V${y(limit)}H${left}z`} />
      <path className="dexnb-t-limit" d={across(y(limit))} />
      {safe > 0 && <path className="dexnb-t-margin" d={across(y(safe))} />}
      <path className="dexnb-t-base" d={across(y(0))} />
      {height >= TALL && (
        <>
          <text className="dexnb-t-fail-text" x={right - 3} y={y(limit) - 3} textAnchor="end">
            limit {duration(limit)}
          </text>
          {safe > 0 && (
            <text className="dexnb-t-warn-text" x={right - 3} y={below} textAnchor="end">
              {duration(safe)}, {duration(margin)} to spare
            </text>
          )}
        </>
      )}
    </g>
  );
}

/** Between two attempts: the wait for the retry. */
function Gaps({ lane, field, hatch }: { lane: Lane; field: Field; hatch: string }) {
  return (
    <>
      {gapsOf(lane.step, field).map(([from, to]) => (
        <rect
          key={from}
          className="dexnb-t-gap"
          fill={`url(#${hatch})`}
          x={from}
          y={lane.bar + 4}
          width={Math.max(2, to - from)}
          height={BAR_HEIGHT - 8}
        >
          <title>wait for the retry</title>
        </rect>
      ))}
    </>
  );
}

function gapsOf(step: StepView, { x, left, right, now, running }: Field): [number, number][] {
  const gaps = step.attempts.map((attempt, index): [number, number] | null => {
    const next = step.attempts[index + 1];
    // Behind the last wait_for comes a wait of another kind.
    if (next && next.method !== attempt.method) return null;
    const waits = step.retry_at !== null && running ? Math.max(step.retry_at, now) : null;
    const until = next?.started_at ?? waits;
    if (attempt.ended_at === null || until === null) return null;
    return [Math.max(left, x(attempt.ended_at)), Math.min(right, x(until))];
  });
  return gaps.filter((gap) => gap !== null && gap[1] > left && gap[0] < right) as [
    number,
    number,
  ][];
}

function Messages({ lane, field }: { lane: Lane; field: Field }) {
  const { x, left, right } = field;
  const rows = lane.messages.filter(({ time }) => x(time) >= left - 4 && x(time) <= right + 4);
  if (rows.length === 0) return null;
  const y = lane.bar - 7;
  const places = [...new Set(rows.map((row) => Math.round(x(row.time))))];
  const taken = places.map((at): Taken => [at - 5, at + 5]);
  const end = outcomePlace(lane.step, field);
  if (end && !end.behind) taken.push([end.at - end.width, end.at]);
  const labels = rows.map((row): Label => {
    return { kind: "stream", x: x(row.time) + 7, text: messageText(row.value) };
  });
  return (
    <g className="dexnb-t-stream">
      <path d={places.map((at) => `M${at} ${y - 5}l5 5-5 5-5-5z`).join("")} />
      {placed(labels, left, right, taken).map((label) => (
        <text key={label.x} x={label.x} y={y + 3.5}>
          {label.text}
        </text>
      ))}
    </g>
  );
}

/** A short name of a message: its state or status if it has one, else its beginning. */
export function messageText(value: string): string {
  const found = /"(?:state|status|phase)":\s*"([^"\\]{1,24})"/.exec(value.slice(0, 2000));
  return found?.[1] ?? shownValue(value, 24);
}

function Texts({ lane, field }: { lane: Lane; field: Field }) {
  if (!tellsAttempts(lane.step)) return null;
  return (
    <>
      {attemptLabels(stretchesOf(lane.step, field)).map((label) => (
        <text
          key={`${label.kind}${label.x}${label.text}`}
          className={`dexnb-t-${label.kind}-text`}
          x={label.x}
          y={lane.text}
          textAnchor={label.end ? "end" : "start"}
        >
          {label.text}
        </text>
      ))}
    </>
  );
}

function stretchesOf({ attempts }: StepView, { x, left, right, now }: Field): Stretch[] {
  return attempts.flatMap((attempt, index): Stretch[] => {
    const from = Math.max(left, x(attempt.started_at));
    const to = Math.min(right, x(attempt.ended_at ?? now));
    if (to < left || from > right) return [];
    const next = attempts[index + 1];
    return [
      {
        number: attempt.attempt,
        name: attempt.method === "wait_for" ? attemptName(attempt) : undefined,
        from,
        to,
        room: (next ? Math.min(right, x(next.started_at)) : right) - from,
        resumed: resumedText(attempt),
        failure: failureText(attempt),
        brief: failureBrief(attempt),
      },
    ];
  });
}

function Failures(props: { attempts: AttemptView[]; lane: Lane; field: Field }) {
  const { attempts, lane, field } = props;
  const y = lane.bar + BAR_HEIGHT / 2;
  const path = attempts
    .filter((attempt) => attempt.ended_at !== null && attemptTone(attempt, false) === "fail")
    .map((attempt) => field.x(attempt.ended_at ?? 0))
    .filter((at) => at >= field.left && at <= field.right)
    .map((at) => `M${at - 4} ${y - 4}l8 8m0-8l-8 8`)
    .join("");
  if (!path) return null;
  const words = attempts.map(failureText).filter(Boolean).join("; ");
  return (
    <path className="dexnb-t-cross" d={path}>
      <title>{words}</title>
    </path>
  );
}

function Outcome({ lane, field }: { lane: Lane; field: Field }) {
  const { step } = lane;
  const place = outcomePlace(step, field);
  if (place === null) return null;
  const { at, text, behind } = place;
  const failed = step.outcome === "failed" || step.outcome === "force_fail";
  const kind = failed ? "fail" : step.outcome === "cancelled" ? "attempt" : "ok";
  return (
    <text
      className={`dexnb-t-${kind}-text`}
      x={behind ? at + (failed ? 10 : 7) : at}
      y={behind ? lane.bar + BAR_HEIGHT / 2 + 4 : lane.bar - 3}
      textAnchor={behind ? "start" : "end"}
    >
      {kind === "ok" ? "✓ " : ""}
      {text}
    </text>
  );
}

/** Behind the end of an execution if there is room, else above it. */
function outcomePlace(step: StepView, { x, left, right }: Field) {
  const text = outcomeText(step);
  if (!text || step.ended_at === null) return null;
  const at = x(step.ended_at);
  if (at < left || at > right) return null;
  const width = (widthOf(text) + 12) * 1.15;
  return { at, text, width, behind: at + width < right };
}

/** The names at the left. */
export function LaneNames({ lane, now, gutter }: { lane: Lane; now: number; gutter: number }) {
  const x = 12 + lane.depth * INDENT;
  const letters = Math.floor((gutter - x - 6) / 7.4);
  const name = lane.label.length > letters ? `${lane.label.slice(0, letters - 1)}…` : lane.label;
  const y = lane.bar + 13;
  return (
    <g>
      <text className="dexnb-t-name" x={x} y={y}>
        {name}
        <title>{lane.label}</title>
      </text>
      <text className="dexnb-t-sub" x={x} y={y + 13}>
        {lane.sub}
      </text>
      {lane.saw && <AgeNames lane={lane} x={x} now={now} narrow={gutter < 130} />}
    </g>
  );
}

function AgeNames(props: { lane: Lane; x: number; now: number; narrow: boolean }) {
  const { lane, x, now, narrow } = props;
  const { attempts, ended_at: ended } = lane.step;
  const last = attempts.at(-1);
  if (!last || !lane.saw) return null;
  const y = lane.saw.top + 12;
  const open = ended === null && last.ended_at === null;
  const age = open ? Math.max(0, now - last.last_sign) : 0;
  const longest = Math.max(age, ...attempts.map((attempt) => attempt.longest_silence));
  const limit = last.limits?.heartbeat_timeout ?? 0;
  if (lane.saw.height < TALL) {
    return (
      <text className="dexnb-t-sub" x={x} y={y}>
        age {measured(age)} of {duration(limit)}
      </text>
    );
  }
  return (
    <>
      <text className="dexnb-t-name" x={x} y={y}>
        Heartbeat age
      </text>
      <text className="dexnb-t-sub" x={x} y={y + 14}>
        {open && !narrow ? `now ${measured(age)} · ` : ""}max {measured(longest)}
      </text>
    </>
  );
}
