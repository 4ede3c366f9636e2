"""Attaching to an open run with another input than it was started with: told, never refused."""

from __future__ import annotations

from typing import Any

from dexnb.flow.mapping import map_start
from dexnb.flow.registry import RegisteredFlow
from dexnb.model.json_text import to_text
from dexnb.model.run_state import RunState
from dexnb.model.shown import LONGEST, cut


def other_input(state: RunState, flow: RegisteredFlow, input: Any) -> str:
    """Say that an open run has another input than the one given; empty where it has the same.

    Raises:
        ValueMappingError: The input does not fit the start Step.
    """
    given, has = to_text(map_start(flow, state.flow_id, input).input), to_text(state.input)
    if state.closed or given == has:
        return ""
    return (
        f"{state.flow_id} runs on with its input {cut(has, LONGEST)}, and {cut(given, LONGEST)} is "
        "not used: stop that run first, let it end, or choose another flow id"
    )
