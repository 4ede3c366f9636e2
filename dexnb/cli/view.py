"""`RunView`: what a run's log says about it now. A pure fold, without a clock and a terminal."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from dexnb.model.event import Event

HEARTBEAT_MARGIN = 10.0
"""Seconds before its limit at which a heartbeat's age is a warning (source: the Dex polling
pattern, which keeps a round that much shorter than the heartbeat timeout)."""

MOST_ENDED_STEPS = 100
MOST_MESSAGES = 100
MOST_NOTES = 100

Phase = Literal["scheduled", "running", "call", "sleep", "retry", "over"]


@dataclass(slots=True)
class StepView:
    """One execution of a Step, as far as its newest attempt goes.

    Args:
        step_execution_id: Its name.
        scheduled_at: When it was scheduled.
        phase: `call` or `sleep` since the newest round event, `running` before the first; `retry`
            until the next attempt; `over` when the newest attempt has ended otherwise.
        since: When the phase began.
        line: Where the Step calls or sleeps, in its source file.
        what: What it awaits there.
        attempt: The newest attempt's number; 0 before the first.
        rounds: Sleeps that this attempt has begun: one for each round that it has made.
        started_at: When the attempt began.
        first_attempt_at: When the first attempt was delivered.
        maximum_attempts: Attempts in all; 0 for no limit.
        execute_method_timeout: Seconds that the attempt may take.
        heartbeat_timeout: Seconds that it may be silent.
        total_duration: Seconds from `first_attempt_at` after which no retry begins.
        last_sign: Its newest sign of life.
        checkpoint: The newest checkpoint's JSON text; None without one.
        cleared: Whether a heartbeat without a value has taken the checkpoint away.
        failure: The newest end of an attempt that failed.
        retry_at: When the next attempt begins.
        outcome: The durable event that ended it.
    """

    step_execution_id: str
    scheduled_at: float
    phase: Phase = "scheduled"
    since: float = 0.0
    line: int = 0
    what: str = ""
    attempt: int = 0
    rounds: int = 0
    started_at: float = 0.0
    first_attempt_at: float = 0.0
    maximum_attempts: int = 0
    execute_method_timeout: float = 0.0
    heartbeat_timeout: float = 0.0
    total_duration: float = 0.0
    last_sign: float = 0.0
    checkpoint: str | None = None
    cleared: bool = False
    failure: Event | None = None
    retry_at: float = 0.0
    outcome: Event | None = None


@dataclass(slots=True)
class RunView:
    """A run as its log tells it; `apply` takes what is new.

    Args:
        flow_type: The Flow's registered name.
        flow_id: Its id.
        run_id: This run of it.
        status: RUNNING until the run is closed.
        error: Why it failed.
        started_at: Store time of its start; all times here are store time.
        closed_at: When it ended; None before.
        now: The newest time that an event told.
        waiting_for_code: Which code the run waits for; told from outside, no event says so.
        steps: Executions in the order in which they were scheduled. Of those that are over, the
            newest `MOST_ENDED_STEPS` are kept.
        messages: The newest Stream messages, oldest first.
        notes: The newest log lines, stalls and other notable events, oldest first.
        durable_seq: The newest durable event's.
        telemetry_seq: The newest telemetry event's.
    """

    flow_type: str = ""
    flow_id: str = ""
    run_id: str = ""
    status: str = "RUNNING"
    error: str = ""
    started_at: float = 0.0
    closed_at: float | None = None
    now: float = 0.0
    waiting_for_code: str = ""
    steps: dict[str, StepView] = field(default_factory=dict)
    messages: deque[Event] = field(default_factory=lambda: deque(maxlen=MOST_MESSAGES))
    notes: deque[Event] = field(default_factory=lambda: deque(maxlen=MOST_NOTES))
    durable_seq: int = 0
    telemetry_seq: int = 0

    @property
    def closed(self) -> bool:
        """Tell whether the run has ended."""
        return self.closed_at is not None

    def apply(self, events: Iterable[Event]) -> list[Event]:
        """Fold in those events that are new, and give them back with causes before effects.

        Events may overlap with those of earlier calls: what was seen is passed over.
        """
        seen = {True: self.durable_seq, False: self.telemetry_seq}
        new = [event for event in events if event.seq > seen[event.durable]]
        # History first: an execution is known before its telemetry comes.
        for event in sorted(new, key=lambda event: not event.durable):
            seen[event.durable] = max(seen[event.durable], event.seq)
            self._take(event)
        self.durable_seq, self.telemetry_seq = seen[True], seen[False]
        ordered = self._in_order(new)
        self._forget()
        return ordered

    def _take(self, event: Event) -> None:
        self.now = max(self.now, event.time)
        if event.kind in _RUN_CHANGES:
            _RUN_CHANGES[event.kind](self, event)
        step = self.steps.get(event.step_execution_id)
        if step is None or event.kind not in _STEP_CHANGES:
            return
        # What an attempt that was replaced still tells changes nothing.
        if event.durable or event.attempt >= step.attempt:
            _STEP_CHANGES[event.kind](step, event)

    def _in_order(self, events: list[Event]) -> list[Event]:
        # On a clock that jumps, a whole execution may happen at one time.
        numbers = {key: number for number, key in enumerate(self.steps, 1)}
        last = len(numbers) + 1

        def cause(event: Event) -> tuple[float, int, int]:
            ending = event.kind in ("stop_requested", "flow_closed")
            number = last if ending else numbers.get(event.step_execution_id, 0)
            return event.time, number, _RANKS.get(event.kind, 2)

        return sorted(events, key=cause)

    def _forget(self) -> None:
        over = [key for key, step in self.steps.items() if step.outcome is not None]
        for key in over[: max(0, len(over) - MOST_ENDED_STEPS)]:
            del self.steps[key]


_RANKS = {
    "flow_started": 0,
    "step_scheduled": 0,
    "attempt_started": 1,
    "attempt_ended": 3,
    "retry_scheduled": 4,
    "step_completed": 5,
    "step_failed": 5,
    "step_cancelled": 5,
}


def _flow_started(run: RunView, event: Event) -> None:
    run.flow_id, run.run_id = event.flow_id, event.run_id
    run.flow_type = event.payload["flow_type"]
    run.started_at = event.time


def _flow_closed(run: RunView, event: Event) -> None:
    run.status = event.payload["status"]
    run.error = event.payload["error_message"]
    run.closed_at = event.time


def _step_scheduled(run: RunView, event: Event) -> None:
    run.steps[event.step_execution_id] = StepView(event.step_execution_id, event.time)


def _step_ended(step: StepView, event: Event) -> None:
    step.outcome = event
    step.phase, step.since = "over", event.time


def _attempt_started(step: StepView, event: Event) -> None:
    payload = event.payload
    step.attempt = event.attempt
    step.rounds = 0
    step.started_at = step.last_sign = event.time
    step.first_attempt_at = payload["first_attempt_at"] or event.time
    step.maximum_attempts = payload["maximum_attempts"]
    step.execute_method_timeout = payload["execute_method_timeout"]
    step.heartbeat_timeout = payload["heartbeat_timeout"]
    step.total_duration = payload["total_duration"]
    step.checkpoint, step.cleared = payload["checkpoint"], False
    _enter(step, event, "running")


def _attempt_ended(step: StepView, event: Event) -> None:
    if "failure" in event.payload:
        step.failure = event
    # Given back or lost: somebody takes it up again.
    _enter(step, event, "scheduled" if "reason" in event.payload else "over")


def _retry_scheduled(step: StepView, event: Event) -> None:
    step.retry_at = event.time + event.payload["delay"]
    _enter(step, event, "retry")


def _round_call(step: StepView, event: Event) -> None:
    step.line, step.what = event.payload["line"], event.payload["what"]
    _enter(step, event, "call")


def _round_sleep(step: StepView, event: Event) -> None:
    step.rounds += 1
    step.line, step.what = event.payload["line"], event.payload["what"]
    _enter(step, event, "sleep")


def _heartbeat(step: StepView, event: Event) -> None:
    step.last_sign = event.time
    step.checkpoint, step.cleared = event.payload["checkpoint"], event.payload["cleared"]


def _stream_message(step: StepView, event: Event) -> None:
    step.last_sign = event.time


def _enter(step: StepView, event: Event, phase: Phase) -> None:
    if step.outcome is None:
        step.phase, step.since = phase, event.time


def _note(run: RunView, event: Event) -> None:
    run.notes.append(event)


_RUN_CHANGES: dict[str, Callable[[RunView, Event], None]] = {
    "flow_started": _flow_started,
    "flow_closed": _flow_closed,
    "step_scheduled": _step_scheduled,
    "stream_message": lambda run, event: run.messages.append(event),
    "stop_requested": _note,
    "log": _note,
    "stall": _note,
    "late_write": _note,
    "suspended": _note,
    "engine_error": _note,
}
_STEP_CHANGES: dict[str, Callable[[StepView, Event], None]] = {
    "step_completed": _step_ended,
    "step_failed": _step_ended,
    "step_cancelled": _step_ended,
    "attempt_started": _attempt_started,
    "attempt_ended": _attempt_ended,
    "retry_scheduled": _retry_scheduled,
    "round_call": _round_call,
    "round_sleep": _round_sleep,
    "heartbeat": _heartbeat,
    "stream_message": _stream_message,
}
