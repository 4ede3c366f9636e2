"""A checkpoint comes back to the next attempt as it was, or is refused at the beat."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Generator
from datetime import UTC, datetime
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Clock,
    Context,
    RetryPolicy,
    Step,
    StepDecision,
    StepOptions,
    StepOutput,
    ValueMappingError,
    graceful_complete,
    heartbeat,
)
from dexnb.engine import FlowResult, Runtime
from dexnb.flow.output import OMITTED, encode_checkpoint
from dexnb.providers import MemoryProvider
from tests.flow.flows import flow_of
from tests.flow.test_codec import identity
from tests.flow.values import Client, Color, Job, Model, Point, Right, Seeded, Span, State

KEPT: list[tuple[Any, Any]] = [
    (Color.RED, Color),
    (Color.PAIR, Color),
    (State.RUNNING, State),
    (Right.READ | Right.WRITE, Right),
    (datetime(2026, 1, 1, 12, tzinfo=UTC), datetime),
    (b"\0\xff", bytes),
    (math.nan, float),
    (-0.0, float),
    (2**64, int),
    ({"page": 3, "at": datetime(2026, 1, 1, tzinfo=UTC)}, dict[str, Any]),
    ([State.QUEUED], list[State]),
    (Job(State.RUNNING), Job),
    (Point(math.inf), Point),
    (Span(datetime(2026, 1, 1, tzinfo=UTC)), Span),
    (Model(3), Model),
    (None, str),
]
LOST: list[tuple[Any, str]] = [
    (Client(), "heartbeat: value is a tests.flow.values.Client, which cannot be stored; give a st"),
    ([Client()], "heartbeat: value[0] is a tests.flow.values.Client, which cannot be stored"),
    (
        "x" * (5 << 20),
        "heartbeat: value of 5,242,882 bytes is over the limit of 1,048,576; ",
    ),
    ({1, 2}, "heartbeat: value is a builtins.set, which cannot be stored"),
    (Job("QUEUED"), "heartbeat: value.state is str and would be read back as tests.flow.values.St"),  # type: ignore[arg-type]  # the mistake
    (Seeded(1, 2), "heartbeat: value does not make a Seeded: "),
    (Job, "heartbeat: value is the class Job itself; give an instance"),
]


class Beating(Step[None]):
    """Leaves a checkpoint, tries the value, fails once, and gives back what is left."""

    def __init__(self, value: Any, type_: Any) -> None:
        """Beat with this value; ask for that type."""
        self.value = value
        self.type = type_
        self.refused = ""
        self.left: Any = OMITTED

    def get_step_options(self) -> StepOptions:
        """Try twice, then fail."""
        return StepOptions(execute_retry=RetryPolicy(maximum_attempts=2))

    def conclude(self, context: Context) -> StepDecision:
        """Take what the first attempt left."""
        assert context.has_last_heartbeat_value()
        self.left = context.get_last_heartbeat_value(self.type)
        return graceful_complete()


class Async(Beating):
    """Beats by awaiting."""

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Beat, be refused at the call, then fail by something else."""
        if context.attempt > 1:
            return self.conclude(context)
        await context.heartbeat("older")
        await asyncio.sleep(1)
        try:
            await context.heartbeat(self.value)
        except ValueMappingError as error:
            self.refused = str(error)
        raise ConnectionError


class Yielding(Beating):
    """Beats by yielding."""

    def execute(self, context: Context, input: None) -> Generator[StepOutput, None, StepDecision]:
        """Beat, be refused at the call, then fail by something else."""
        if context.attempt > 1:
            return self.conclude(context)
        yield heartbeat("older")
        try:
            yield heartbeat(self.value)
        except ValueMappingError as error:
            self.refused = str(error)
        raise ConnectionError


def run(step: Beating) -> FlowResult:
    """Run a Flow of this Step on the virtual clock."""
    return Clock.virtual().run(_run(step))


async def _run(step: Step[None]) -> FlowResult:
    async with Runtime(MemoryProvider()) as runtime:
        return await (await runtime.start(flow_of(step), "f")).wait()


@pytest.mark.parametrize("kind", [Async, Yielding])
@pytest.mark.parametrize(("value", "type_"), KEPT, ids=[str(i) for i in range(len(KEPT))])
def test_a_checkpoint_comes_back_to_the_next_attempt(
    kind: type[Beating], value: Any, type_: Any
) -> None:
    """Equal, and of the same type."""
    step = kind(value, type_)
    assert run(step).status == "COMPLETED"
    assert step.refused == ""
    assert identity(step.left) == identity(value)


@pytest.mark.parametrize("kind", [Async, Yielding])
@pytest.mark.parametrize(("value", "text"), LOST, ids=[str(i) for i in range(len(LOST))])
def test_a_checkpoint_that_cannot_be_kept_is_refused_at_the_beat(
    kind: type[Beating], value: Any, text: str
) -> None:
    """With path and type; the older one stays for the next attempt."""
    step = kind(value, str)
    assert run(step).status == "COMPLETED"
    assert step.refused.startswith(text)
    assert step.left == "older"


def test_a_refused_checkpoint_that_is_not_caught_fails_the_step_at_once() -> None:
    """Another attempt would beat with the same value."""

    class Once(Step[None]):
        attempts = 0

        async def execute(self, context: AsyncContext, input: None) -> StepDecision:
            Once.attempts += 1
            await context.heartbeat(Client())
            return graceful_complete()

    result = Clock.virtual().run(_run(Once()))
    assert (result.status, Once.attempts) == ("FAILED", 1)
    assert "value is a tests.flow.values.Client" in result.error_message


def test_no_checkpoint_is_told_from_one_of_none() -> None:
    """Nothing clears, None is a value."""
    assert encode_checkpoint(OMITTED) is None
    assert encode_checkpoint(None) == "null"
    assert repr(OMITTED) == "<OMITTED>"


def test_an_output_is_made_by_its_makers_only() -> None:
    """It carries the encoded value, so that what is wrong shows where it is made."""
    with pytest.raises(TypeError, match=r"use heartbeat\(\.\.\.\) or Stream\.write\(\.\.\.\)"):
        StepOutput()
    assert heartbeat(1).checkpoint == "1"
    assert heartbeat().checkpoint is None
    with pytest.raises(ValueMappingError):
        heartbeat(Client())
