"""What a run keeps and waits for, as a page shows it: Attributes, Channels, locks, waits, SubFlows.

The part of `dexnb.model.run_view` that follows from history alone; it agrees with
`dexnb.model.history` on what Attributes hold, how many messages are pending and who holds a lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dexnb.model.event import Event

MOST_NAMES = 200
"""Attributes, Channels and locks kept, each; beyond it the one whose last change is oldest goes."""

MOST_IDS = 500
"""Pending messages of a Channel known by their ids; older ones are only counted."""

MOST_CONDITIONS = 50
"""Conditions of a wait that are shown."""

MOST_SUBFLOWS = 64
"""SubFlows of an execution kept; beyond it one that has ended goes, the oldest first."""

MOST_OUTPUTS = 20
"""Outputs of a SubFlow kept."""

View = dict[str, Any]


def new_data() -> View:
    """Give what is kept of a run of which nothing is known yet."""
    return {"attributes": {}, "channels": {}, "published": 0, "locks": {}}


def new_step_data() -> View:
    """Give the same of an execution.

    `state` is empty while its `method` runs, else `delayed` until `begins_at`, `queued` for its
    `locks` or `waiting`. `wait` and `subflows` stay when the wait is over: what this run has been
    told of each SubFlow, by its flow id; the rest stands in that run's own view.
    """
    return {
        "method": "execute",
        "state": "",
        "begins_at": None,
        "locks": {},
        "wait": None,
        "subflows": {},
    }


def apply_data(view: View, event: Event) -> str:
    """Fold one event in; give what is to be noted of it in plain words, or an empty text."""
    key, payload = event.step_execution_id, event.payload
    step = view["steps"].get(key)
    if event.kind in _ENDS:
        _unlock(view, payload.get("request_id", key))
    if step is not None and event.kind in _STEP:
        _STEP[event.kind](step, event)
    if event.kind in _RUN:
        _RUN[event.kind](view, event)
    if payload.get("writes"):
        _write(view, payload["writes"])
    return _NOTES[event.kind](payload) if event.kind in _NOTES else ""


def _flow_started(view: View, event: Event) -> None:
    for name, value in event.payload.get("attributes", {}).items():
        _put(view["attributes"], name, value)


def _locks_taken(view: View, event: Event) -> None:
    holder = event.payload.get("request_id") or event.step_execution_id
    for name in event.payload["locks"]:
        _put(view["locks"], name, holder)


def _unlock(view: View, holder: str) -> None:
    if holder in view["locks"].values():
        left = {name: other for name, other in view["locks"].items() if other != holder}
        view["locks"] = left


def _write(view: View, writes: View) -> None:
    for name, value in writes.get("attributes", {}).items():
        _put(view["attributes"], name, value)
    for name in writes.get("deleted", ()):
        view["attributes"].pop(name, None)
    for channel, value in writes.get("published", ()):
        _publish(view, channel, value)
    for channel, removed in writes.get("removed", ()):
        _drop(view, channel, removed)


def _channel_published(view: View, event: Event) -> None:
    for value in event.payload["values"]:
        _publish(view, event.payload["channel"], value)


def _consumed(view: View, event: Event) -> None:
    for channel, messages in event.payload["results"].get("messages", {}).items():
        for identity, _ in messages:
            _drop(view, channel, identity)


def _publish(view: View, channel: str, value: Any) -> None:
    view["published"] += 1
    known = view["channels"].pop(channel, None) or {"pending": 0, "published": 0, "ids": []}
    _put(
        view["channels"],
        channel,
        {
            "pending": known["pending"] + 1,
            "published": known["published"] + 1,
            "newest": value,
            "ids": [*known["ids"], view["published"]][-MOST_IDS:],
        },
    )


def _drop(view: View, channel: str, identity: str) -> None:
    """Count a message out, unless somebody else has consumed it before."""
    known = view["channels"].get(channel)
    if known is None or not identity.isdecimal():
        return
    number, ids = int(identity), known["ids"]
    if number in ids:
        ids.remove(number)
    elif known["pending"] == len(ids) or (ids and number > ids[0]):
        return
    known["pending"] -= 1


def _put(entries: View, name: str, value: Any) -> None:
    """Keep a value as the newest of its kind."""
    entries.pop(name, None)
    entries[name] = value
    if len(entries) > MOST_NAMES:
        del entries[next(iter(entries))]


def _enter(step: View, method: str) -> None:
    step["method"] = method
    step["state"] = "queued" if step["locks"].get(method) else ""


def _step_scheduled(step: View, event: Event) -> None:
    plan = event.payload.get("plan")
    if plan is not None:
        step["locks"] = {method: list(names) for method, names in plan["locks"].items() if names}
        _enter(step, "wait_for" if plan["wait_for"] else "execute")
    if event.payload.get("delay"):
        step["state"] = "delayed"
        step["begins_at"] = event.time + event.payload["delay"]


def _wait_started(step: View, event: Event) -> None:
    wait = event.payload["wait"]
    conditions = wait["conditions"]
    step["state"] = "waiting"
    step["wait"] = {
        "kind": wait["kind"],
        "began_at": event.time,
        "ended_at": None,
        "count": len(conditions),
        "subflow_count": sum(each["kind"] == "subflow" for each in conditions),
        "subflows_ended": 0,
        "conditions": [_condition(each, event.time) for each in conditions[:MOST_CONDITIONS]],
    }


def _condition(condition: View, time: float) -> View:
    shown = {
        "kind": condition["kind"],
        "label": condition["id"],
        "due_at": None,
        "need": 0,
        "state": "",
        "changed_at": None,
        "flow_id": "",
    }
    if condition["kind"] == "timer":
        shown["due_at"] = time + condition["seconds"]
    elif condition["kind"] == "channel":
        shown.update(label=condition["channel"], need=condition["at_least"])
    else:
        shown["label"] = condition["start"].get("flow_type", "")
    return shown


def _set_condition(step: View, event: Event, state: str, flow_id: str = "") -> None:
    conditions = step["wait"]["conditions"] if step["wait"] else []
    place = event.payload["condition"]
    if 0 <= place < len(conditions):
        conditions[place].update(state=state, changed_at=event.time, flow_id=flow_id)


def _timer_fired(step: View, event: Event) -> None:
    _set_condition(step, event, "skipped" if event.payload["skipped"] else "fired")


def _subflow_changed(step: View, event: Event) -> None:
    result = event.payload["result"]
    status, flow_id = result.get("status", ""), result.get("flow_id", "")
    _set_condition(step, event, status, flow_id)
    if status != "RUNNING" and step["wait"]:
        step["wait"]["subflows_ended"] += 1
    if flow_id:
        _put_subflow(step, event, result)


def _put_subflow(step: View, event: Event, result: View) -> None:
    entries, flow_id = step["subflows"], result["flow_id"]
    run_id, known = result.get("run_id", ""), entries.pop(flow_id, None)
    same = known is not None and known["run_id"] == run_id
    ends = result.get("completions", ())
    entries[flow_id] = {
        "run_id": run_id,
        "flow_type": _subflow_type(step, event.payload["condition"]),
        "status": result.get("status", ""),
        "began_at": known["began_at"] if same else event.time,
        "changed_at": event.time,
        "outputs": [end["output"] for end in ends if "output" in end][:MOST_OUTPUTS],
        "error_type": result.get("error_type", ""),
        "error_message": result.get("error_message", ""),
    }
    if len(entries) > MOST_SUBFLOWS:
        ended = (key for key, each in entries.items() if each["status"] != "RUNNING")
        del entries[next(ended, next(iter(entries)))]


def _subflow_type(step: View, place: int) -> str:
    conditions = step["wait"]["conditions"] if step["wait"] else []
    return str(conditions[place]["label"]) if 0 <= place < len(conditions) else ""


def _wait_ended(step: View, event: Event) -> None:
    _end_wait(step, event)
    consumed = event.payload["results"].get("messages", {})
    for condition in step["wait"]["conditions"] if step["wait"] else []:
        if condition["kind"] == "channel" and condition["label"] in consumed:
            condition.update(state="consumed", changed_at=event.time)
    _enter(step, "execute")


def _wait_failed(step: View, event: Event) -> None:
    step["recovery_error"] = event.payload["failure"]
    _enter(step, "execute")


def _end_wait(step: View, event: Event) -> None:
    step["state"] = ""
    if step["wait"] is not None and step["wait"]["ended_at"] is None:
        step["wait"]["ended_at"] = event.time


def _failed_note(payload: View) -> str:
    failure = payload["failure"]
    words = f"{failure['error_type']}: {failure['detail']}"
    return f"wait_for has failed, execute follows without it: {words}"


def _travel_note(payload: View) -> str:
    reason = f": {payload['reason']}" if payload.get("reason") else ""
    return f"goes on behind the first {payload['events']} events of an earlier run{reason}"


def _timeout_note(payload: View) -> str:
    return f"the Flow ran longer than its timeout: {_TIMEOUTS.get(payload['policy'], 'it fails')}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


_TIMEOUTS = {"CANCEL": "it is cancelled", "HANDLER": "handle_timeout runs"}
_ENDS = frozenset(
    (
        "wait_started",
        "wait_failed",
        "step_completed",
        "step_failed",
        "step_cancelled",
        "rpc_completed",
        "rpc_refused",
    )
)
"""Kinds behind which whom they are about holds no lock."""

_RUN: dict[str, Callable[[View, Event], None]] = {
    "flow_started": _flow_started,
    "locks_taken": _locks_taken,
    "rpc_started": _locks_taken,
    "channel_published": _channel_published,
    "wait_ended": _consumed,
}
_STEP: dict[str, Callable[[View, Event], None]] = {
    "step_scheduled": _step_scheduled,
    "delay_over": lambda step, _: _enter(step, step["method"]),
    "locks_taken": lambda step, _: step.update(state=""),
    "wait_started": _wait_started,
    "timer_fired": _timer_fired,
    "subflow_changed": _subflow_changed,
    "wait_ended": _wait_ended,
    "wait_failed": _wait_failed,
    "step_completed": _end_wait,
    "step_failed": _end_wait,
    "step_cancelled": _end_wait,
}
_NOTES: dict[str, Callable[[View], str]] = {
    "wait_failed": _failed_note,
    "rpc_completed": lambda payload: f"RPC {payload['name']} has run",
    "rpc_refused": lambda payload: f"an RPC was refused, {payload['reason']}",
    "parent_added": lambda _: "another run waits for this one too",
    "config_changed": lambda payload: f"changed: {_listed(payload['config'])}",
    "flow_timed_out": _timeout_note,
    "time_travelled": _travel_note,
}
