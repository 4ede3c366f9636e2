/** The rows of a polling Step: its round, its checkpoint, and what is left of its budget. */

import type { AttemptView } from "../documents";
import { clock, measured } from "../duration";
import { shownValue } from "../value";
import { type Live, roundTimes } from "./live";

export function LiveRows({ live, now }: { live: Live; now: number }) {
  const { attempt } = live;
  if (attempt === null) return null;
  const until = attempt.ended_at ?? now;
  return (
    <>
      <Round attempt={attempt} now={until} />
      <div className="dexnb-live-row" title={shownValue(attempt.checkpoint, 500)}>
        <span>checkpoint</span> {shownValue(attempt.checkpoint, 60)}
      </div>
      <Budget attempt={attempt} now={until} />
    </>
  );
}

function Round({ attempt, now }: { attempt: AttemptView; now: number }) {
  const { rounds, phase, call, sleep } = roundTimes(attempt, now);
  const part = (kind: "call" | "sleep", seconds: number | null) =>
    seconds !== null && (
      <span className={phase === kind ? "dexnb-phase-on" : undefined}>
        {" · "}
        {kind} {measured(seconds)}
      </span>
    );
  const where = attempt.phase_line > 0 ? `line ${attempt.phase_line}: ${attempt.phase_what}` : "";
  return (
    <div className="dexnb-live-row" title={where}>
      <span>round {rounds.toLocaleString("en")}</span>
      {part("call", call)}
      {part("sleep", sleep)}
    </div>
  );
}

function Budget({ attempt, now }: { attempt: AttemptView; now: number }) {
  const total = attempt.limits?.total_duration ?? 0;
  if (total <= 0) return null;
  const used = Math.max(0, now - (attempt.first_attempt_at ?? attempt.started_at));
  const share = Math.min(1, used / total);
  const words = `${clock(used)} of the ${clock(total)} wait budget`;
  const tone = share >= 1 ? "fail" : share > 0.8 ? "warn" : "running";
  return (
    // biome-ignore lint/a11y/useSemanticElements: a meter element cannot carry the colours
    <div
      className="dexnb-budget"
      role="meter"
      aria-label="wait budget"
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={Math.min(used, total)}
      aria-valuetext={words}
    >
      <div className="dexnb-bar">
        <div className={`dexnb-bg-${tone}`} style={{ width: `${share * 100}%` }} />
      </div>
      <small>{words}</small>
    </div>
  );
}
