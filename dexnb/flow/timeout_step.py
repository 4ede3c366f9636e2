"""The Step that runs `Flow.handle_timeout`."""

from __future__ import annotations

from typing import Any

from dexnb.errors import Problem
from dexnb.flow.flow import Flow
from dexnb.flow.handler import TIMEOUT, Handler, read_handler
from dexnb.flow.step import Step

TIMEOUT_STEP_TYPE = "sys:timeout_handler"
SYSTEM_PREFIX = "sys:"
"""What the types of Steps begin with that no user lists."""


class TimeoutHandlerStep(Step[None]):
    """Calls the Flow's method, which has the forms that a Step's execute may have."""

    def __init__(self, flow: Flow[Any]) -> None:
        """Stand for a Flow's handle_timeout."""
        self.flow = flow

    def execute(self, context: Any, input: None) -> Any:
        """Give what the method gives: a decision, or what must be awaited or exhausted."""
        return self.flow.handle_timeout(context)


def handles_timeout(flow: Flow[Any]) -> bool:
    """Tell a Flow that overrides handle_timeout."""
    return type(flow).handle_timeout is not Flow.handle_timeout


def read_timeout_handler(flow: Flow[Any], flow_type: str) -> tuple[Handler, list[Problem]]:
    """Read the form of a Flow's handle_timeout."""
    return read_handler(flow.handle_timeout, f"{flow_type}.handle_timeout", TIMEOUT)
