"""What a method is told of its run, taken when it is scheduled and the same for its retries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dexnb.model.decision import plan_fields
from dexnb.model.run_state import RunState
from dexnb.model.step_execution import StepExecution


def payload_of(state: RunState, step: StepExecution) -> dict[str, Any]:
    """Give the work item's payload for the method that a Step execution has come to."""
    error = step.recovery_error
    document: dict[str, Any] = {
        "input": step.movement.input,
        "options": step.movement.options,
        "from_step_execution_id": step.from_step_execution_id,
        "recovery_error": error and error.to_json(),
        "overrides": state.overrides,
        "last_error": None,
    }
    loads = plan_fields(step.movement.plan, step.method)[1]
    optional = {
        "method": None if step.method == "execute" else step.method,
        "snapshot": snapshot_of(state, loads),
        "results": step.results,
        "local_values": step.local_values,
        "config": state.config,
        "overrides_at": dict.fromkeys(state.overrides, state.events),
    }
    return {**document, **{name: value for name, value in optional.items() if value}}


def snapshot_of(state: RunState, loads: Mapping[str, list[str]]) -> dict[str, Any]:
    """Give plain Attributes, Channels' sizes, and what is loaded of maps and messages.

    An entry of `loads` that ends in a slash is a whole map.
    """
    attributes = {
        name: value
        for name, value in state.attributes.items()
        if "/" not in name or _loaded(name, loads.get("attributes", ()))
    }
    messages = {
        name: pending
        for name, pending in state.channels.items()
        if _loaded(name, loads.get("channels", ()))
    }
    parts = {
        "attributes": attributes,
        "sizes": {name: len(pending) for name, pending in state.channels.items()},
        "messages": messages,
        "loads": loads,
    }
    return {name: value for name, value in parts.items() if value}


def _loaded(name: str, entries: Iterable[str]) -> bool:
    return any(name == entry or (entry[-1:] == "/" and name.startswith(entry)) for entry in entries)
