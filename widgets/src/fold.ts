/**
 * The fold of a run's log into what a page shows of it: the twin of `dexnb.model.run_view`, with
 * equal results on the same logs. It changes the view in place.
 */

import { beginPhase, endPhase } from "./attemptMarks";
import type { Method } from "./dataDocuments";
import { applyData, newData, newStepData } from "./dataFold";
import type {
  AttemptView,
  Event,
  Failure,
  FlowStatus,
  Json,
  Limits,
  LogRow,
  MessageRow,
  NoteRow,
  Row,
  RunView,
  StepView,
  TakenEdge,
} from "./documents";
import { oneDecimal } from "./numbers";
import { put } from "./records";

export { MERGED, MOST_MARKS } from "./attemptMarks";

export const MOST_BEATS = 600;
export const MOST_ROWS = 500;
export const MOST_ENDED = 200;
export const MOST_ATTEMPTS = 100;

const NUMBER = /^[1-9][0-9]{0,8}$/;

type Change = (view: RunView, event: Event) => void;

export function newView(): RunView {
  return {
    flow_id: "",
    run_id: "",
    flow_type: "",
    status: "WAITING",
    error_type: "",
    error_message: "",
    started_at: null,
    closed_at: null,
    time: 0,
    wall_offset: 0,
    overrides: {},
    steps: {},
    ended: [],
    executions: {},
    taken: [],
    messages: [],
    message_count: 0,
    log: [],
    log_count: 0,
    notes: [],
    ...newData(),
  };
}

export function viewOf(events: Iterable<Event>): RunView {
  const view = newView();
  for (const event of events) apply(view, event);
  return view;
}

/** Fold one event in; kinds that show nothing change only the time. */
export function apply(view: RunView, event: Event): void {
  view.time = Math.max(view.time, event.time);
  view.wall_offset = event.wall - event.time;
  CHANGES.get(event.kind)?.(view, event);
  const text = applyData(view, event);
  if (text) addNote(view, event, text);
}

function flowStarted(view: RunView, event: Event): void {
  view.flow_id = event.flow_id;
  view.run_id = event.run_id;
  view.flow_type = event.payload.flow_type as string;
  view.overrides = event.payload.overrides as Record<string, Json>;
  view.status = "RUNNING";
  view.started_at = event.time;
}

/**
 * Give an execution's entry; telemetry may come before the event that schedules it. What an
 * execution that is no longer kept still tells goes nowhere.
 */
function stepOf(view: RunView, event: Event): StepView {
  const key = event.step_execution_id;
  if (Object.hasOwn(view.steps, key)) return view.steps[key] as StepView;
  const dash = key.lastIndexOf("-");
  const type = key.slice(0, Math.max(dash, 0));
  const made: StepView = {
    step_type: type,
    from: "",
    scheduled_at: event.time,
    ended_at: null,
    outcome: "",
    recovery_error: null,
    retry_at: null,
    attempts: [],
    ...newStepData(),
  };
  // Executions of a Step are numbered as they are scheduled.
  const number = key.slice(dash + 1);
  const known = NUMBER.test(number) && Number(number) <= countOf(view, type);
  if (!known) put(view.steps, key, made);
  return made;
}

function countOf({ executions }: RunView, type: string): number {
  return Object.hasOwn(executions, type) ? (executions[type] as number) : 0;
}

function stepScheduled(view: RunView, event: Event): void {
  const step = stepOf(view, event);
  const { payload } = event;
  step.step_type = payload.step_type as string;
  step.from = payload.from_step_execution_id as string;
  step.scheduled_at = event.time;
  step.recovery_error = payload.recovery_error as unknown as Failure | null;
  put(view.executions, step.step_type, countOf(view, step.step_type) + 1);
  if (!Object.hasOwn(view.steps, step.from)) return;
  const origin = (view.steps[step.from] as StepView).step_type;
  const kind = step.recovery_error === null ? "transition" : "failure_transition";
  const edge: TakenEdge = [origin, step.step_type, kind];
  if (!view.taken.some((known) => known.every((part, index) => part === edge[index]))) {
    view.taken.push(edge);
  }
}

function stepCompleted(view: RunView, event: Event): void {
  const decision = event.payload.decision as { kind: string };
  endStep(view, event, decision.kind);
}

function closeAttempts(view: RunView, event: Event, outcome: string): StepView {
  const step = stepOf(view, event);
  step.retry_at = null;
  for (const attempt of step.attempts) {
    if (attempt.ended_at === null) closeAttempt(attempt, event.time, outcome);
  }
  return step;
}

function endStep(view: RunView, event: Event, outcome: string): void {
  const step = closeAttempts(view, event, outcome);
  step.ended_at = event.time;
  step.outcome = outcome;
  view.ended.push(event.step_execution_id);
  if (view.ended.length > MOST_ENDED) delete view.steps[view.ended.shift() as string];
}

function knobsChanged(view: RunView, event: Event): void {
  view.overrides = { ...view.overrides, ...(event.payload.overrides as Record<string, Json>) };
}

function flowClosed(view: RunView, event: Event): void {
  view.status = event.payload.status as FlowStatus;
  view.error_type = event.payload.error_type as string;
  view.error_message = event.payload.error_message as string;
  view.closed_at = event.time;
  view.locks = {};
}

function attemptStarted(view: RunView, event: Event): void {
  const step = stepOf(view, event);
  for (const attempt of step.attempts) {
    if (attempt.ended_at === null) {
      // The engine that ran it is gone and could not say so.
      closeAttempt(attempt, Math.max(attempt.last_sign, attempt.started_at), "lost");
    }
  }
  step.retry_at = null;
  const attempt = newAttempt(step, event);
  const { payload } = event;
  attempt.limits = {
    execute_method_timeout: payload.execute_method_timeout as number,
    heartbeat_timeout: payload.heartbeat_timeout as number,
    maximum_attempts: payload.maximum_attempts as number,
    total_duration: payload.total_duration as number,
  };
  attempt.first_attempt_at = payload.first_attempt_at as number | null;
  attempt.resumed_from = payload.checkpoint as string | null;
  attempt.checkpoint = payload.checkpoint as string | null;
}

function attemptOf(view: RunView, event: Event): AttemptView {
  const step = stepOf(view, event);
  for (let index = step.attempts.length - 1; index >= 0; index -= 1) {
    const attempt = step.attempts[index] as AttemptView;
    if (attempt.attempt === event.attempt) return attempt;
  }
  return newAttempt(step, event);
}

function newAttempt(step: StepView, event: Event): AttemptView {
  const made: AttemptView = {
    attempt: event.attempt,
    method: (event.payload.method ?? "execute") as Method,
    started_at: event.time,
    ended_at: null,
    outcome: "",
    failure: null,
    limits: null,
    first_attempt_at: null,
    resumed_from: null,
    rounds: 0,
    sleeps: 0,
    phase: "",
    phase_since: event.time,
    phase_line: 0,
    phase_what: "",
    marks: [],
    beats: [],
    beat_count: 0,
    last_sign: event.time,
    longest_silence: 0,
    checkpoint: null,
    checkpoint_at: null,
    late_writes: 0,
  };
  step.attempts.push(made);
  if (step.attempts.length > MOST_ATTEMPTS) step.attempts.splice(1, 1);
  return made;
}

function limitsChanged(view: RunView, event: Event): void {
  attemptOf(view, event).limits = event.payload as unknown as Limits;
}

function attemptEnded(view: RunView, event: Event): void {
  const attempt = attemptOf(view, event);
  const { payload } = event;
  const failure = (payload.failure ?? null) as unknown as Failure | null;
  attempt.failure = failure;
  const calm = (payload.decision as string) || ((payload.reason ?? "") as string);
  closeAttempt(attempt, event.time, failure ? "failed" : calm);
}

function closeAttempt(attempt: AttemptView, time: number, outcome: string): void {
  endPhase(attempt, time);
  attempt.phase = "";
  attempt.ended_at = time;
  attempt.outcome = outcome;
  attempt.longest_silence = Math.max(attempt.longest_silence, time - attempt.last_sign);
}

function retryScheduled(view: RunView, event: Event): void {
  const step = stepOf(view, event);
  const newest = step.attempts.at(-1)?.attempt ?? 0;
  // An attempt that was replaced, or whose Step has ended, may tell of a retry that never comes.
  if (step.ended_at === null && newest <= event.attempt) {
    step.retry_at = event.time + (event.payload.delay as number);
  }
}

function roundCall(view: RunView, event: Event): void {
  const attempt = attemptOf(view, event);
  attempt.rounds += 1;
  beginPhase(attempt, event, "call");
}

function roundSleep(view: RunView, event: Event): void {
  const attempt = attemptOf(view, event);
  attempt.sleeps += 1;
  beginPhase(attempt, event, "sleep");
}

function heartbeat(view: RunView, event: Event): void {
  const attempt = attemptOf(view, event);
  sign(attempt, event.time);
  attempt.beat_count += 1;
  attempt.beats.push(event.time);
  if (attempt.beats.length > MOST_BEATS) {
    // Every second one of the older half goes: the picture thins out, its span stays.
    const half = MOST_BEATS / 2;
    attempt.beats = attempt.beats.filter((_, index) => index >= half || index % 2 === 0);
  }
  attempt.checkpoint = event.payload.checkpoint as string | null;
  attempt.checkpoint_at = event.time;
}

function sign(attempt: AttemptView, time: number): void {
  attempt.longest_silence = Math.max(attempt.longest_silence, time - attempt.last_sign);
  attempt.last_sign = time;
}

function streamMessage(view: RunView, event: Event): void {
  sign(attemptOf(view, event), event.time);
  view.message_count += 1;
  const { stream, value } = event.payload;
  addRow<MessageRow>(view.messages, {
    ...rowOf(event),
    stream: stream as string,
    value: value as string,
  });
}

function lateWrite(view: RunView, event: Event): void {
  if (event.step_execution_id && event.attempt) attemptOf(view, event).late_writes += 1;
  addNote(view, event, `${event.payload.what} refused: ${event.payload.reason}`);
}

function stopRequested(view: RunView, event: Event): void {
  const { type, reason } = event.payload;
  addNote(view, event, reason ? `${type}: ${reason}` : (type as string));
}

function logLine(view: RunView, event: Event): void {
  view.log_count += 1;
  const { source, line } = event.payload;
  addRow<LogRow>(view.log, { ...rowOf(event), source: source as string, line: line as string });
}

function note(view: RunView, event: Event): void {
  const { payload } = event;
  let text = (payload.error ?? "") as string;
  if ("seconds" in payload) {
    const place = "line" in payload ? ` in ${payload.step} line ${payload.line}` : "";
    text = `${oneDecimal(payload.seconds as number)} s${place}`;
  }
  addNote(view, event, text);
}

function addNote(view: RunView, event: Event, text: string): void {
  // What was written shows elsewhere, and may be large.
  const { writes: _, ...payload } = event.payload;
  const { kind } = event;
  addRow<NoteRow>(view.notes, { ...rowOf(event), kind, text, payload });
}

function rowOf(event: Event): Row {
  return { time: event.time, step: event.step_execution_id, attempt: event.attempt };
}

function addRow<R extends Row>(rows: R[], row: R): void {
  rows.push(row);
  if (rows.length > MOST_ROWS) rows.shift();
}

const CHANGES = new Map<string, Change>([
  ["flow_started", flowStarted],
  ["step_scheduled", stepScheduled],
  ["wait_started", (view, event) => closeAttempts(view, event, "wait")],
  ["wait_failed", (view, event) => closeAttempts(view, event, "failed")],
  ["step_completed", stepCompleted],
  ["step_failed", (view, event) => endStep(view, event, "failed")],
  ["step_cancelled", (view, event) => endStep(view, event, "cancelled")],
  ["stop_requested", stopRequested],
  ["knobs_changed", knobsChanged],
  ["flow_closed", flowClosed],
  ["attempt_started", attemptStarted],
  ["attempt_ended", attemptEnded],
  ["limits_changed", limitsChanged],
  ["retry_scheduled", retryScheduled],
  ["round_call", roundCall],
  ["round_sleep", roundSleep],
  ["heartbeat", heartbeat],
  ["stream_message", streamMessage],
  ["late_write", lateWrite],
  ["log", logLine],
  ["stall", note],
  ["suspended", note],
  ["engine_error", note],
]);
