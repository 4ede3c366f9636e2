"""The fold: how each durable event changes a run's state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_args

from dexnb.errors import DocumentError
from dexnb.model.decision import Movement, check_names, decision_from, failure_from
from dexnb.model.event import Event
from dexnb.model.json_text import NUMBER, Fields, check_choice, check_fields
from dexnb.model.run_state import REQUESTS, RunState, RunStatus
from dexnb.model.shown import shown
from dexnb.model.step_execution import StepExecution
from dexnb.model.writes import wait_from, writes_from


def fold(events: Iterable[Event]) -> RunState:
    """Give the state that a run's durable events add up to."""
    state = RunState()
    for event in events:
        apply(state, event)
    return state


def apply(state: RunState, event: Event) -> None:
    """Fold one durable event in.

    Raises:
        DocumentError: The event is telemetry, which never decides anything, its payload is not
            that of its kind, or it is about a Step that is not active.
    """
    if event.kind not in _CHANGES:
        message = f"{event.kind} is no durable event"
        raise DocumentError(message)
    fields, change = _CHANGES[event.kind]
    what = f"event {event.seq} ({event.kind})"
    check_fields(event.payload, fields, what)
    try:
        change(state, event)
    except DocumentError:
        raise
    except (TypeError, ValueError, AttributeError):
        message = f"{what} holds values of other types than its kind has"
        raise DocumentError(message) from None
    except KeyError:
        message = f"{what} is about {shown(event.step_execution_id)}, which is not active"
        raise DocumentError(message) from None
    state.events += 1


def _flow_started(state: RunState, event: Event) -> None:
    payload = event.payload
    state.flow_id, state.run_id = event.flow_id, event.run_id
    state.flow_type = payload["flow_type"]
    state.input = payload["input"]
    state.overrides = payload["overrides"]
    state.started_at = event.time
    state.attributes = dict(payload.get("attributes", {}))
    state.timeout_policy = payload.get("timeout_policy", "")
    state.timeout_handler = payload.get("timeout_handler")
    state.config = dict(payload.get("config", {}))
    state.request_id = payload.get("request_id", "")
    if payload.get("parent"):
        state.parents = [payload["parent"]]


def _step_scheduled(state: RunState, event: Event) -> None:
    payload = event.payload
    step_type, plan = payload["step_type"], payload.get("plan")
    state.numbers[step_type] = state.numbers.get(step_type, 0) + 1
    step = StepExecution(
        movement=Movement(step_type, payload["input"], payload["options"], plan),
        from_step_execution_id=payload["from_step_execution_id"],
        recovery_error=failure_from(payload["recovery_error"]),
        scheduled_at=event.time,
    )
    if plan is not None:
        step.enter("wait_for" if plan["wait_for"] else "execute")
    if payload.get("delay"):
        step.phase = "delayed"
    state.active[event.step_execution_id] = step


def _delay_over(state: RunState, event: Event) -> None:
    step = state.active[event.step_execution_id]
    step.enter(step.method)


def _locks_taken(state: RunState, event: Event) -> None:
    key = event.step_execution_id
    step = state.active[key]
    for name in event.payload["locks"]:
        state.locks[name] = key
    step.phase = "running"


def _wait_started(state: RunState, event: Event) -> None:
    key = event.step_execution_id
    step = state.active[key]
    step.wait = wait_from(event.payload["wait"])
    step.wait_started_at = event.time
    step.phase = "waiting"
    _unlock(state, key)
    _write(state, event)


def _timer_fired(state: RunState, event: Event) -> None:
    step = state.active[event.step_execution_id]
    step.fired = [*step.fired, event.payload["condition"]]


def _subflow_changed(state: RunState, event: Event) -> None:
    payload = event.payload
    step = state.active[event.step_execution_id]
    step.subflows = {**step.subflows, str(payload["condition"]): payload["result"]}


def _wait_ended(state: RunState, event: Event) -> None:
    step = state.active[event.step_execution_id]
    step.results = event.payload["results"]
    for channel, messages in step.results.get("messages", {}).items():
        taken = {identity for identity, _ in messages}
        _drop(state, channel, taken)
    step.wait = None
    step.fired, step.subflows = [], {}
    step.enter("execute")


def _wait_failed(state: RunState, event: Event) -> None:
    key = event.step_execution_id
    step = state.active[key]
    step.recovery_error = failure_from(event.payload["failure"])
    step.results = {"wait_failed": True}
    _unlock(state, key)
    step.enter("execute")


def _step_completed(state: RunState, event: Event) -> None:
    key = event.step_execution_id
    decision = decision_from(event.payload["decision"])
    step = state.active[key]
    _write(state, event)
    del state.active[key]
    _unlock(state, key)
    if event.payload.get("completes", decision.kind in _COMPLETES):
        completion = {"step_type": step.movement.step_type, "step_execution_id": key}
        if decision.has_output:
            completion["output"] = decision.output
        state.completions.append(completion)


_STATUSES = get_args(RunStatus)
_COMPLETES = ("graceful_complete", "force_complete")


def _step_ended(state: RunState, event: Event) -> None:
    state.active.pop(event.step_execution_id, None)
    _unlock(state, event.step_execution_id)


def _channel_published(state: RunState, event: Event) -> None:
    payload = event.payload
    for value in payload["values"]:
        _publish(state, payload["channel"], value)
    _remember(state, payload["request_id"])


def _rpc_started(state: RunState, event: Event) -> None:
    payload = event.payload
    for name in payload["locks"]:
        state.locks[name] = payload["request_id"]
    if "until" in payload:
        until = check_fields(payload, {"until": NUMBER}, "rpc_started")["until"]
        state.rpc_until = {**state.rpc_until, payload["request_id"]: until}


def _rpc_ended(state: RunState, event: Event) -> None:
    _write(state, event)
    _unlock(state, event.payload["request_id"])
    _remember(state, event.payload["request_id"])


def _parent_added(state: RunState, event: Event) -> None:
    state.parents = [*state.parents, event.payload["parent"]]


def _config_changed(state: RunState, event: Event) -> None:
    state.config = {**state.config, **event.payload["config"]}


def _time_travelled(state: RunState, event: Event) -> None:
    earlier = event.payload.get("origins", state.origins)
    state.origins = [*check_names(earlier, "origins"), event.payload["from_run_id"]]


def _recorded_only(state: RunState, event: Event) -> None:
    """What follows from it comes as events of its own."""


def _knobs_changed(state: RunState, event: Event) -> None:
    state.overrides = {**state.overrides, **event.payload["overrides"]}
    if "request_id" in event.payload:
        _remember(state, check_fields(event.payload, {"request_id": str}, event.kind)["request_id"])


def _flow_closed(state: RunState, event: Event) -> None:
    check_choice(event.payload["status"], _STATUSES, "flow_closed status")
    state.status = event.payload["status"]
    state.error_type = event.payload["error_type"]
    state.error_message = event.payload["error_message"]
    state.closed_at = event.time
    state.locks, state.rpc_until = {}, {}


def _write(state: RunState, event: Event) -> None:
    writes = event.payload.get("writes")
    if not writes:
        return
    writes_from(writes)
    state.attributes.update(writes.get("attributes", {}))
    for name in writes.get("deleted", ()):
        state.attributes.pop(name, None)
    for channel, value in writes.get("published", ()):
        _publish(state, channel, value)
    for channel, removed in writes.get("removed", ()):
        _drop(state, channel, {removed})
    if writes.get("locals"):
        step = state.active[event.step_execution_id]
        step.local_values = {**step.local_values, **writes["locals"]}


def _publish(state: RunState, channel: str, value: Any) -> None:
    state.published += 1
    state.channels.setdefault(channel, []).append([str(state.published), value])


def _drop(state: RunState, channel: str, identities: set[str]) -> None:
    left = [each for each in state.channels.get(channel, ()) if each[0] not in identities]
    if left:
        state.channels[channel] = left
    else:
        state.channels.pop(channel, None)


def _unlock(state: RunState, holder: str) -> None:
    if holder in state.locks.values():
        state.locks = {name: other for name, other in state.locks.items() if other != holder}
    if holder in state.rpc_until:
        state.rpc_until = {key: end for key, end in state.rpc_until.items() if key != holder}


def _remember(state: RunState, request_id: str) -> None:
    if request_id:
        state.requests = [*state.requests, request_id][-REQUESTS:]


_MAYBE_OBJECT = (dict, type(None))
_Change = tuple[Fields, Callable[[RunState, Event], None]]
_CHANGES: dict[str, _Change] = {
    "flow_started": ({"flow_type": str, "input": object, "overrides": dict}, _flow_started),
    "step_scheduled": (
        {
            "step_type": str,
            "input": object,
            "options": _MAYBE_OBJECT,
            "from_step_execution_id": str,
            "recovery_error": _MAYBE_OBJECT,
        },
        _step_scheduled,
    ),
    "delay_over": ({}, _delay_over),
    "locks_taken": ({"locks": list}, _locks_taken),
    "wait_started": ({"wait": dict}, _wait_started),
    "timer_fired": ({"condition": int, "skipped": bool}, _timer_fired),
    "subflow_changed": ({"condition": int, "result": dict}, _subflow_changed),
    "wait_ended": ({"results": dict}, _wait_ended),
    "wait_failed": ({"failure": dict}, _wait_failed),
    "step_completed": ({"decision": dict}, _step_completed),
    "step_failed": ({}, _step_ended),
    "step_cancelled": ({}, _step_ended),
    "channel_published": (
        {"channel": str, "values": list, "source": str, "request_id": str},
        _channel_published,
    ),
    "rpc_started": ({"request_id": str, "locks": list}, _rpc_started),
    "rpc_completed": ({"request_id": str, "name": str}, _rpc_ended),
    "rpc_refused": ({"request_id": str, "reason": str}, _rpc_ended),
    "parent_added": ({"parent": dict}, _parent_added),
    "config_changed": ({"config": dict}, _config_changed),
    "flow_timed_out": ({"policy": str}, _recorded_only),
    "time_travelled": ({"from_run_id": str, "events": NUMBER}, _time_travelled),
    "stop_requested": ({}, _recorded_only),
    "knobs_changed": ({"overrides": dict}, _knobs_changed),
    "flow_closed": ({"status": str, "error_type": str, "error_message": str}, _flow_closed),
}
