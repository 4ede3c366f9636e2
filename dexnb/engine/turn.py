"""`turn`: (state, messages) -> Commit. Pure: it needs no user code, no clock and no store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, assert_never

from dexnb.model.event import DurableKind, Event
from dexnb.model.json_text import to_text
from dexnb.model.message import (
    Decision,
    KnobsChanged,
    Message,
    Movement,
    Start,
    StepDone,
    StepFailed,
    Stop,
)
from dexnb.model.run_state import RunState, RunStatus
from dexnb.providers.items import Commit, NewWorkItem

_STOPPED: dict[str, tuple[RunStatus, str]] = {
    "CANCEL": ("CANCELED", ""),
    "TERMINATE": ("TERMINATED", ""),
    "FAIL": ("FAILED", "CLIENT_API_FAILED"),
}


def start_run(start: Start, run_id: str, *, time: float, wall: float) -> Commit:
    """Give the first turn of a run."""
    return turn(RunState(flow_id=start.flow_id, run_id=run_id), [start], time=time, wall=wall)


def turn(state: RunState, messages: Iterable[Message], *, time: float, wall: float) -> Commit:
    """Fold new messages into a run.

    Args:
        state: What the history gives so far; it is changed to the new state.
        messages: What arrived, oldest first. Messages about Steps that are not active any more,
            or behind the run's end, change nothing.
        time: Store time of the turn.
        wall: Wall-clock stamp of its events.
    """
    folding = _Turn(state, time, wall)
    for message in messages:
        if state.closed:
            break
        folding.take(message)
    return folding.commit()


def poisoned(state: RunState, reason: str, *, time: float, wall: float) -> Commit:
    """Close a run that cannot go on because something stored for it cannot be decoded."""
    folding = _Turn(state, time, wall)
    folding.close("FAILED", "INTERNAL", reason)
    return folding.commit()


class _Turn:
    def __init__(self, state: RunState, time: float, wall: float) -> None:
        self.state = state
        self.time = time
        self.wall = wall
        self.events: list[Event] = []
        self.scheduled: list[str] = []
        self.cancelled: list[str] = []

    def take(self, message: Message) -> None:
        match message:
            case Start():
                self._start(message)
            case StepDone():
                self._done(message)
            case StepFailed():
                self._failed(message)
            case Stop():
                self._stop(message)
            case KnobsChanged():
                self._emit("knobs_changed", overrides=message.overrides)
            case _:
                assert_never(message)

    def commit(self) -> Commit:
        state = self.state
        return Commit(
            run_id=state.run_id,
            flow_id=state.flow_id,
            flow_type=state.flow_type,
            state=state.to_text(),
            status=state.status,
            events=tuple(self.events),
            work_items=tuple(self._work_item(key) for key in self.scheduled if key in state.active),
            cancelled=tuple(self.cancelled),
        )

    def close(self, status: RunStatus, error_type: str = "", error_message: str = "") -> None:
        for key in list(self.state.active):
            self.cancelled.append(key)
            self._emit("step_cancelled", key)
        self._emit("flow_closed", status=status, error_type=error_type, error_message=error_message)

    def _emit(
        self, kind: DurableKind, step_execution_id: str = "", attempt: int = 0, **payload: Any
    ) -> None:
        state = self.state
        event = Event(
            seq=state.events + 1,
            flow_id=state.flow_id,
            run_id=state.run_id,
            wall=self.wall,
            time=self.time,
            kind=kind,
            step_execution_id=step_execution_id,
            attempt=attempt,
            payload=payload,
        )
        state.apply(event)
        self.events.append(event)

    def _start(self, start: Start) -> None:
        if self.state.events:
            return
        self._emit(
            "flow_started",
            flow_type=start.flow_type,
            input=start.input,
            overrides=start.overrides,
        )
        if start.start_step is not None:
            self._schedule(start.start_step)

    def _schedule(
        self, movement: Movement, origin: str = "", recovery_error: dict[str, Any] | None = None
    ) -> None:
        number = self.state.numbers.get(movement.step_type, 0) + 1
        key = f"{movement.step_type}-{number}"
        self._emit(
            "step_scheduled",
            key,
            step_type=movement.step_type,
            input=movement.input,
            options=movement.options,
            from_step_execution_id=origin,
            recovery_error=recovery_error,
        )
        self.scheduled.append(key)

    def _done(self, message: StepDone) -> None:
        key = message.step_execution_id
        if key not in self.state.active:
            return
        decision = message.decision
        self._emit("step_completed", key, message.attempt, decision=_plain(decision))
        self._follow(decision, key)

    def _follow(self, decision: Decision, origin: str) -> None:
        match decision.kind:
            case "next":
                for movement in decision.movements:
                    self._schedule(movement, origin)
            case "graceful_complete" | "dead_end":
                if not self.state.active and self.state.completions:
                    self.close("COMPLETED")
            case "force_complete":
                self.close("COMPLETED")
            case "force_fail":
                self.close("FAILED", "STEP_DECISION_FAILED", decision.reason)
            case _:
                assert_never(decision.kind)

    def _failed(self, message: StepFailed) -> None:
        key = message.step_execution_id
        step = self.state.active.get(key)
        if step is None:
            return
        failure = asdict(message.failure)
        recovery = message.recovery
        self._emit(
            "step_failed",
            key,
            message.attempt,
            failure=failure,
            recovery=None if recovery is None else recovery.step_type,
        )
        if recovery is None:
            self.close("FAILED", "WORKER_API_FAILED", message.failure.detail)
            return
        same_input = Movement(recovery.step_type, step.movement.input, recovery.options)
        self._schedule(same_input, key, failure)

    def _stop(self, stop: Stop) -> None:
        status, error_type = _STOPPED[stop.type]
        self._emit("stop_requested", type=stop.type, reason=stop.reason)
        self.close(status, error_type, stop.reason)

    def _work_item(self, key: str) -> NewWorkItem:
        state = self.state
        step = state.active[key]
        payload = {
            "input": step.movement.input,
            "options": step.movement.options,
            "from_step_execution_id": step.from_step_execution_id,
            "recovery_error": step.recovery_error and asdict(step.recovery_error),
            "overrides": state.overrides,
            "last_error": None,
        }
        return NewWorkItem(
            run_id=state.run_id,
            flow_id=state.flow_id,
            flow_type=state.flow_type,
            step_type=step.movement.step_type,
            step_execution_id=key,
            payload=to_text(payload),
            visible_at=0.0,
        )


def _plain(decision: Decision) -> dict[str, Any]:
    # Not `asdict`, which copies the whole output and leaves the movements a tuple.
    movements = [
        {"step_type": movement.step_type, "input": movement.input, "options": movement.options}
        for movement in decision.movements
    ]
    return {
        "kind": decision.kind,
        "movements": movements,
        "output": decision.output,
        "has_output": decision.has_output,
        "reason": decision.reason,
    }
