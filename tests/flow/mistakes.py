"""Flows, decisions and calls that hold a mistake, in one line each, and what checks their error."""

from __future__ import annotations

from collections.abc import Callable, Generator
from datetime import timedelta
from typing import Any

import pytest

import dexnb
from dexnb import (
    Attribute,
    AttributeMap,
    Channel,
    ChannelMap,
    Context,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    StepOutput,
    Wait,
    dead_end,
)
from dexnb.errors import DefinitionError, FlowDefinitionError
from dexnb.flow.mapping import map_decision, map_start, map_wait
from dexnb.flow.registry import RegisteredFlow, read_flow
from tests.flow.flows import Made, Plain, known

SECOND = timedelta(seconds=1)
COUNT = Attribute("count", int)
ORDERS = AttributeMap("orders", str)
NOTES = Channel("notes", str)
TOPICS = ChannelMap("topics", str)
UNKNOWN: Any = Attribute("unknown", int)
ELSEWHERE: Any = Channel("elsewhere", str)
SCHEMA = PersistenceSchema.of(COUNT, ORDERS, NOTES, TOPICS)

dex: Any = dexnb
"""Every name of the package without its types, because the mistakes are in the types."""


class Other(Plain):
    """A second Step."""


class Num(Step[int]):
    """Takes an int."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Do nothing."""
        return dead_end()


class Open(Step[Any]):
    """Takes a str, and does not say so in its class."""

    def execute(self, context: Context, input: str) -> StepDecision:
        """Do nothing."""
        return dead_end()


class Waiting(Plain):
    """Waits for nothing."""

    def wait_for(self, context: Context, input: str) -> Wait:
        """Skip."""
        return Wait.skip_immediately()


def step_with(**members: Any) -> Any:
    """Give a Step `S` with these members."""
    return type("S", (Open,), members)()


def registered(*steps: Any, schema: PersistenceSchema = SCHEMA, **members: Any) -> RegisteredFlow:
    """Register a Flow `F` of these Steps, with these members."""
    steps_list = StepList.start_step(steps[0] if steps else Plain()).other_steps(*steps[1:])
    kind: Any = type("F", (Made,), members)
    return read_flow(kind(lambda: steps_list, lambda: schema))


def under(**fields: Any) -> RegisteredFlow:
    """Register a waiting Step under these options."""
    return registered(Waiting(options=dex.StepOptions(**fields)))


def under_retry(**fields: Any) -> RegisteredFlow:
    """Register a Step under this policy for its wait_for."""
    return under(wait_for_retry=dex.RetryPolicy(**fields))


def decided(decision: Any) -> Any:
    """Map a decision of a Step."""
    flow = registered(Plain(), Other(), Num())
    return map_decision(decision, flow, flow.steps["Plain"])


def waited(wait: Any) -> Any:
    """Map what a wait_for gave."""
    flow = registered(Waiting())
    return map_wait(wait, known({"F": flow}), flow, flow.steps["Waiting"])


def started(flow: RegisteredFlow | None = None, input: Any = "x", **fields: Any) -> Any:
    """Map a start under these options."""
    return map_start(flow or registered(), "id", input, None, dex.StartFlowOptions(**fields))


def rpc_with(method: Any, **options: Any) -> RegisteredFlow:
    """Register a Flow with an RPC `ask`."""
    return registered(ask=dex.rpc(**options)(method))


def ask(self: Any, context: Context) -> None:
    """Do nothing."""


def ask_too(self: Any, context: Context) -> None:
    """Do nothing."""


def no_result(self: Any, context: Context, input: str):  # type: ignore[no-untyped-def]  # noqa: ANN201 - the case
    """Say nothing of a result."""
    return


def wrong_result(self: Any, context: Context) -> StepDecision:
    """Decide."""
    return dead_end()


def three(self: Any, context: Context, first: str, second: str) -> None:
    """Take too much."""


def yields(self: Any, context: Context) -> Generator[StepOutput, None, None]:
    """Beat."""
    yield dexnb.heartbeat()


def wait_of_int(self: Any, context: Context, input: int) -> Wait:
    """Take another input than execute."""
    return Wait.skip_immediately()


def wait_that_decides(self: Any, context: Context, input: str) -> StepDecision:
    """Decide."""
    return dead_end()


def wait_with_three(self: Any, context: Context, input: str, more: int) -> Wait:
    """Take too much."""
    return Wait.skip_immediately()


def on_timeout_with_input(self: Any, context: Context, input: str) -> StepDecision:
    """Take too much."""
    return dead_end()


def on_timeout_untyped(self: Any, context: Context):  # type: ignore[no-untyped-def]  # noqa: ANN201 - the case
    """Say nothing of a result."""
    return dead_end()


def handle_timeout(self: Any, context: Context) -> StepDecision:
    """End."""
    return dead_end()


def round_trip() -> RegisteredFlow:
    """Register Steps that recover to each other over a third one: one problem for each."""
    to = dex.StepOptions().on_execute_failure_proceed_to
    return registered(Plain(options=to(Plain)))


def timer(**fields: Any) -> Any:
    """Give a Timer's condition."""
    return dex.Timer.by_duration(SECOND, **fields)


HANDLER = dexnb.FlowTimeoutPolicy.HANDLER
HANDLER_OPTIONS: Any = dexnb.FlowTimeoutHandlerOptions
MOVE = dex.StepMovement.of
Case = tuple[str, Callable[[], Any], tuple[str, ...]]
"""What is wrong, what makes it, and parts of the text that it must give."""


def check_clear(make: Callable[[], Any], parts: tuple[str, ...]) -> None:
    """Make a mistake and check its one error; nothing has run by then."""
    with pytest.raises(DefinitionError) as caught:
        make()
    text = str(caught.value)
    assert [part for part in parts if part not in text] == [], text
    if isinstance(caught.value, FlowDefinitionError):
        assert len(caught.value.problems) == 1, text


def check_distinct(cases: list[Case]) -> None:
    """Check that each mistake has a name and an error of its own."""
    assert len({name for name, *_ in cases}) == len(cases)
    assert len({parts for *_, parts in cases}) == len(cases)
