"""`turn`: (state, messages) -> Commit. Pure: it needs no user code, no clock and no store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dexnb.engine import rpc_turn
from dexnb.engine.ledger import Ledger
from dexnb.engine.moving import (
    close,
    completes,
    follow,
    is_waiting,
    schedule,
    tell_parent,
)
from dexnb.engine.settling import settle
from dexnb.flow.subflow import subflow_id
from dexnb.model.decision import Failure, Movement, movement_from
from dexnb.model.message import (
    ConfigChanged,
    DelayOver,
    FlowTimeout,
    KnobsChanged,
    Message,
    ParentAdded,
    Published,
    RpcBegin,
    RpcDone,
    RpcExpired,
    RpcVisit,
    Start,
    StepDone,
    StepFailed,
    Stop,
    SubFlowClosed,
    TimerFired,
    WaitDone,
)
from dexnb.model.run_state import RunState, RunStatus
from dexnb.providers.items import Commit

SUBFLOW = "sys:subflow"
"""The internal Step that starts a SubFlow."""

_STOPPED: dict[str, tuple[RunStatus, str]] = {
    "CANCEL": ("CANCELED", ""),
    "TERMINATE": ("TERMINATED", ""),
    "FAIL": ("FAILED", "CLIENT_API_FAILED"),
}


def turn(
    state: RunState,
    messages: Iterable[Message],
    *,
    time: float,
    wall: float,
    now: float | None = None,
) -> Commit:
    """Fold new messages into a run.

    Args:
        state: What the history gives so far; it is changed to the new state.
        messages: What arrived, oldest first. Messages about Steps that are not active any more,
            or behind the run's end, change nothing.
        time: Store time of the turn.
        wall: Wall-clock stamp of its events.
        now: Store time from which timers count; `time` unless the two clocks differ.
    """
    ledger = Ledger(state, time=time, wall=wall, now=time if now is None else now)
    for message in messages:
        if not state.closed:
            _TAKE[type(message)](ledger, message)
            settle(ledger)
        elif isinstance(message, ParentAdded):
            tell_parent(ledger, message.parent)
    return ledger.commit()


def poisoned(state: RunState, reason: str, *, time: float, wall: float) -> Commit:
    """Close a run that cannot go on because something stored for it cannot be decoded."""
    ledger = Ledger(state, time=time, wall=wall, now=time)
    close(ledger, "FAILED", "INTERNAL", reason)
    return ledger.commit()


def _start(ledger: Ledger, start: Start) -> None:
    if ledger.state.events:
        return
    handler = start.timeout_handler
    optional: dict[str, Any] = {
        "attributes": start.attributes,
        "timeout": start.timeout,
        "timeout_policy": start.timeout_policy if start.timeout else "",
        "timeout_handler": handler and handler.to_json(),
        "config": start.config,
        "request_id": start.request_id,
        "parent": start.parent,
    }
    ledger.emit(
        "flow_started",
        flow_type=start.flow_type,
        input=start.input,
        overrides=start.overrides,
        **{name: value for name, value in optional.items() if value},
    )
    if start.timeout:
        ledger.tell(FlowTimeout(), delay=start.timeout)
    if start.start_step is not None:
        schedule(ledger, start.start_step, delay=start.start_delay)


def _begin(ledger: Ledger, message: DelayOver) -> None:
    key = message.step_execution_id
    step = ledger.state.active.get(key)
    if step is None or step.phase != "delayed":
        return
    ledger.emit("delay_over", key)
    if not step.locks:
        ledger.run(key)


def _done(ledger: Ledger, message: StepDone) -> None:
    key, state = message.step_execution_id, ledger.state
    step = state.active.get(key)
    if step is None:
        return
    decision = message.decision
    payload: dict[str, Any] = {"decision": decision.to_json()}
    if message.writes:
        payload["writes"] = message.writes
    if decision.kind == "force_complete_if_channels_empty":
        payload["completes"] = completes(state, decision, key, message.writes)
    ledger.emit("step_completed", key, message.attempt, **payload)
    if step.movement.step_type == SUBFLOW:
        condition = step.movement.input["condition"]
        _subflow(ledger, step.from_step_execution_id, condition, decision.output)
    follow(ledger, decision, key, step.from_step_execution_id)


def _wait(ledger: Ledger, message: WaitDone) -> None:
    key = message.step_execution_id
    step = ledger.state.active.get(key)
    if step is None or step.method != "wait_for" or step.phase != "running":
        return
    writes: dict[str, Any] = {"writes": message.writes} if message.writes else {}
    ledger.emit("wait_started", key, message.attempt, wait=message.wait, **writes)
    for place, condition in enumerate(message.wait["conditions"]):
        if condition["kind"] == "timer" and not condition["seconds"]:
            # Ready now, so that it wins over a Channel that is ready too.
            ledger.emit("timer_fired", key, condition=place, skipped=False)
        elif condition["kind"] == "timer":
            ledger.tell(TimerFired(key, place), delay=condition["seconds"])
        elif condition["kind"] == "subflow":
            name = subflow_id(ledger.state.flow_id, key, _number(message.wait, place))
            document = {**condition, "condition": place, "flow_id": name}
            schedule(ledger, Movement(SUBFLOW, document), key)


def _number(wait: dict[str, Any], place: int) -> int:
    """Count a SubFlow among the SubFlows of its wait."""
    return sum(condition["kind"] == "subflow" for condition in wait["conditions"][:place])


def _failed(ledger: Ledger, message: StepFailed) -> None:
    key, state = message.step_execution_id, ledger.state
    step = state.active.get(key)
    if step is None:
        return
    failure, plan = message.failure.to_json(), step.movement.plan
    if message.method == "wait_for" and plan and plan["wait_for_failure"] == "PROCEED":
        ledger.emit("wait_failed", key, message.attempt, failure=failure)
        if step.phase == "running":
            ledger.run(key)
        return
    recovery = message.recovery
    ledger.emit(
        "step_failed",
        key,
        message.attempt,
        failure=failure,
        recovery=None if recovery is None else recovery.step_type,
    )
    if recovery is None:
        close(ledger, "FAILED", "WORKER_API_FAILED", _reason(message.failure))
        return
    same_input = Movement(recovery.step_type, step.movement.input, recovery.options, recovery.plan)
    schedule(ledger, same_input, key, failure)


def _reason(failure: Failure) -> str:
    """Say why a Step has failed: where time ended it, the last error of its own code too."""
    last = failure.last_error
    if last is None:
        return failure.detail
    return f"{failure.detail}; the last error was {last.error_type}: {_reason(last)}"


def _fire(ledger: Ledger, message: TimerFired) -> None:
    step = ledger.state.active.get(message.step_execution_id)
    if step is None or not is_waiting(step) or message.condition in step.fired:
        return
    ledger.emit(
        "timer_fired",
        message.step_execution_id,
        condition=message.condition,
        skipped=message.skipped,
    )


def _close_subflow(ledger: Ledger, message: SubFlowClosed) -> None:
    _subflow(ledger, message.step_execution_id, message.condition, message.result)


def _subflow(ledger: Ledger, key: str, condition: int, result: dict[str, Any]) -> None:
    step = ledger.state.active.get(key)
    if step is None or not is_waiting(step):
        return
    known = step.subflows.get(str(condition), {}).get("status", "RUNNING")
    # The child may have ended before its starter's word that it runs has come.
    if known == "RUNNING":
        ledger.emit("subflow_changed", key, condition=condition, result=result)


def _publish(ledger: Ledger, message: Published) -> None:
    if message.request_id and message.request_id in ledger.state.requests:
        return
    ledger.emit(
        "channel_published",
        channel=message.channel,
        values=message.values,
        source=message.source,
        request_id=message.request_id,
    )


def _time_out(ledger: Ledger, _: FlowTimeout) -> None:
    state = ledger.state
    policy, handler = state.timeout_policy, movement_from(state.timeout_handler)
    ledger.emit("flow_timed_out", policy=policy)
    if policy == "HANDLER" and handler is not None:
        schedule(ledger, handler)
    elif policy == "CANCEL":
        close(ledger, "CANCELED", "FLOW_TIMEOUT", "the Flow ran longer than its timeout")
    else:
        close(ledger, "FAILED", "FLOW_TIMEOUT", "the Flow ran longer than its timeout")


def _stop(ledger: Ledger, stop: Stop) -> None:
    status, error_type = _STOPPED[stop.type]
    way: dict[str, Any] = {"makes_way": True} if stop.makes_way else {}
    ledger.emit("stop_requested", type=stop.type, reason=stop.reason, **way)
    close(ledger, status, error_type, stop.reason, tells=not stop.makes_way)


def _add_parent(ledger: Ledger, message: ParentAdded) -> None:
    ledger.emit("parent_added", parent=message.parent)


def _configure(ledger: Ledger, message: ConfigChanged) -> None:
    ledger.emit("config_changed", config=message.config)


def _turn_knobs(ledger: Ledger, message: KnobsChanged) -> None:
    if message.request_id and message.request_id in ledger.state.requests:
        return
    ledger.emit("knobs_changed", overrides=message.overrides, request_id=message.request_id)


_TAKE: dict[type[Message], Callable[[Ledger, Any], None]] = {
    Start: _start,
    DelayOver: _begin,
    StepDone: _done,
    WaitDone: _wait,
    StepFailed: _failed,
    TimerFired: _fire,
    Published: _publish,
    RpcBegin: rpc_turn.begin,
    RpcDone: rpc_turn.done,
    RpcVisit: rpc_turn.miss,
    RpcExpired: rpc_turn.expire,
    SubFlowClosed: _close_subflow,
    ParentAdded: _add_parent,
    FlowTimeout: _time_out,
    ConfigChanged: _configure,
    Stop: _stop,
    KnobsChanged: _turn_knobs,
}
