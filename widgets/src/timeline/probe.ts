/** What was going on at a moment in a lane, in words. */

import type { AttemptView } from "../documents";
import { clock, measured } from "../duration";
import { standingText } from "../subflows";
import { shownName } from "../value";
import { waitText } from "../waits";
import { attemptName, type ChildRow, type Lane, messagesOf } from "./lanes";
import { signsOf } from "./marks";

const WORDS: Record<string, string> = { call: "call", sleep: "sleep", many: "rounds, merged" };

export function whatAt(lane: Lane | undefined, time: number, origin: number, now: number): string {
  const at = clock(Math.max(0, time - origin), 1);
  if (!lane) return at;
  const name = [lane.owner, lane.label].filter(Boolean).join(" ");
  const attempt = lane.step.attempts.find((one) => {
    return one.started_at <= time && time <= (one.ended_at ?? now);
  });
  if (!attempt) return [at, name, heldAt(lane, time, now)].filter(Boolean).join(" · ");
  const parts = [at, name, attemptName(attempt), markAt(attempt, time, now)];
  if (lane.saw) parts.push(`heartbeat age ${measured(ageAt(attempt, lane, time))}`);
  return parts.filter(Boolean).join(" · ");
}

function heldAt({ step, view }: Lane, time: number, now: number): string {
  const { wait } = step;
  if (!wait || time < wait.began_at || time > (wait.ended_at ?? now)) return "";
  return `waits for ${waitText(step, view, now)}`;
}

function markAt(attempt: AttemptView, time: number, now: number): string {
  const mark = attempt.marks.find(([, begin, end]) => begin <= time && time <= end);
  if (mark) return `${WORDS[mark[0]]} ${measured(mark[2] - mark[1])}`;
  if (attempt.phase && attempt.phase_since <= time && time <= now) {
    return `${attempt.phase} ${measured(now - attempt.phase_since)}`;
  }
  return "";
}

function ageAt(attempt: AttemptView, lane: Lane, time: number): number {
  const last = signsOf(attempt, messagesOf(attempt, lane)).findLast((sign) => sign <= time);
  return time - (last ?? attempt.started_at);
}

/** The same for the row of a SubFlow. */
export function whatOf(row: ChildRow | undefined, time: number, origin: number): string {
  if (!row) return "";
  const { name, flowId } = row.subflow;
  const at = clock(time - origin, 1);
  return [at, `${name} ${standingText(row.subflow)}`, shownName(flowId, 60)].join(" · ");
}
