"""Sleeps, call timeouts and options are traced to the constants that feed them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import anyio
import pytest

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    graceful_complete,
)
from dexnb.graph import read_graph
from dexnb.model.flow_graph import Node

INTERVAL = 2
PAUSE = timedelta(seconds=3)
MILLISECONDS = 500
LONGEST = 30.0
CALL = timedelta(seconds=10)
WAIT = 600
TRIES = 4


class Only(Flow[int]):
    """A Flow of one Step."""

    def __init__(self, step: Step[int]) -> None:
        """Have this Step."""
        self.step = step

    def get_steps(self) -> StepList[int]:
        """Give it."""
        return StepList.start_step(self.step)


def node_of(step: Step[int]) -> Node:
    """Read the node of a Step."""
    return read_graph(Only(step)).nodes[0]


Found = list[tuple[str, float | None, dict[str, float]]]


def timings(step: Step[int]) -> Found:
    """Give what is timed in a Step: kind, seconds, and the constants with their factors."""
    return [(each.feeds, each.value, dict(each.parts)) for each in node_of(step).timings]


def made(body: Callable[..., Any]) -> Step[int]:
    """Make a Step that runs this."""

    class Made(Step[int]):
        """A Step."""

        execute = body

    return Made()


async def plain(self: Any, context: AsyncContext, input: int) -> StepDecision:
    """Sleep for a global, and call with a bound."""
    async with asyncio.timeout(CALL.total_seconds()):
        await asyncio.sleep(INTERVAL)
    await asyncio.wait_for(asyncio.sleep(0), timeout=7)
    return graceful_complete()


async def arithmetic(self: Any, context: AsyncContext, input: int) -> StepDecision:
    """Compute with constants."""
    await asyncio.sleep(MILLISECONDS / 1000)
    await asyncio.sleep((PAUSE * 2 + timedelta(seconds=INTERVAL)).total_seconds())
    await asyncio.sleep(delay=timedelta(minutes=1, seconds=INTERVAL).total_seconds() - 1)
    return graceful_complete()


async def backoff(self: Any, context: AsyncContext, input: int) -> StepDecision:
    """Grow up to a bound."""
    delay = float(INTERVAL)
    while input:
        await asyncio.sleep(delay)
        delay = min(delay * 2, LONGEST)
    return graceful_complete()


async def unbounded(self: Any, context: AsyncContext, input: int) -> StepDecision:
    """Grow without end."""
    delay = float(INTERVAL)
    while input:
        await asyncio.sleep(delay)
        delay *= 2
    return graceful_complete()


async def with_anyio(self: Any, context: AsyncContext, input: int) -> StepDecision:
    """Use anyio."""
    with anyio.move_on_after(CALL.total_seconds()):
        await anyio.sleep(INTERVAL)
    with anyio.fail_after(delay=5):
        await anyio.sleep(input)
    return graceful_complete()


def in_a_thread(self: Any, context: Context, input: int) -> StepDecision:
    """Sleep in a thread."""
    time.sleep(INTERVAL)
    return graceful_complete()


async def pause(seconds: float) -> None:
    """Help to sleep."""
    await nap(seconds)


async def nap(seconds: float) -> None:
    """Help the helper."""
    await asyncio.sleep(seconds)


async def helped(self: Any, context: AsyncContext, input: int) -> StepDecision:
    """Sleep two helpers away."""
    await pause(PAUSE.total_seconds())
    return graceful_complete()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            plain,
            [
                ("call_timeout", 10.0, {"CALL": 1.0}),
                ("sleep", 2.0, {"INTERVAL": 1.0}),
                ("call_timeout", 7.0, {}),
                ("sleep", 0.0, {}),
            ],
        ),
        (
            arithmetic,
            [
                ("sleep", 0.5, {"MILLISECONDS": 0.001}),
                ("sleep", 8.0, {"INTERVAL": 1.0, "PAUSE": 2.0}),
                ("sleep", 61.0, {"INTERVAL": 1.0}),
            ],
        ),
        (backoff, [("sleep", 30.0, {"LONGEST": 1.0})]),
        (unbounded, [("sleep", None, {})]),
        (
            with_anyio,
            [
                ("call_timeout", 10.0, {"CALL": 1.0}),
                ("sleep", 2.0, {"INTERVAL": 1.0}),
                ("call_timeout", 5.0, {}),
                ("sleep", None, {}),
            ],
        ),
        (in_a_thread, [("sleep", 2.0, {"INTERVAL": 1.0})]),
        (helped, [("sleep", 3.0, {"PAUSE": 1.0})]),
    ],
)
def test_durations_are_functions_of_constants(body: Any, expected: Found) -> None:
    """timedelta, arithmetic, bounds and helpers are followed; what grows without end is unknown."""
    assert timings(made(body)) == expected


def test_a_constant_of_an_unknown_duration_is_named_all_the_same() -> None:
    """A sleep that grows without end still says which constant it begins with."""
    (constant,) = node_of(made(unbounded)).constants
    assert (constant.name, constant.value, constant.feeds) == ("INTERVAL", 2, ("sleep",))


def test_variables_of_an_outer_function_are_constants() -> None:
    """A Flow made inside a function has its constants in the closure."""
    every = timedelta(seconds=4)

    async def body(self: Any, context: AsyncContext, input: int) -> StepDecision:
        await asyncio.sleep(every.total_seconds())
        return graceful_complete()

    step = made(body)
    assert timings(step) == [("sleep", 4.0, {"every": 1.0})]
    assert node_of(step).constants[0].unit == "s"


class Configured(Step[int]):
    """A Step with values of its own."""

    grain = 5

    def __init__(self, interval: float) -> None:
        """Sleep this long."""
        self.interval = interval
        self.rounds = 1

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Sleep."""
        await asyncio.sleep(self.interval)
        await asyncio.sleep(self.grain)
        self.rounds += 1
        await asyncio.sleep(self.rounds)
        return graceful_complete()


def test_a_steps_own_values_are_constants_unless_it_changes_them() -> None:
    """Attributes of the object and of the class count; one that the Step writes does not."""
    step = Configured(1.5)
    assert timings(step) == [
        ("sleep", 1.5, {"interval": 1.0}),
        ("sleep", 5.0, {"grain": 1.0}),
        ("sleep", None, {}),
    ]
    assert [constant.name for constant in node_of(step).constants] == ["grain", "interval"]


class Napping(Step[int]):
    """Sleeps for others."""

    async def nap(self) -> None:
        """Sleep."""
        await asyncio.sleep(INTERVAL)


class ByItself(Napping):
    """Calls the inherited method."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Sleep."""
        await self.nap()
        return graceful_complete()


class BySuper(Napping):
    """Calls it past its own class."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Sleep."""
        await super().nap()
        return graceful_complete()


def test_only_constants_that_a_run_can_override_are_named() -> None:
    """What `super()` finds is not copied for a run: its sleep is known, its constant no knob."""
    assert timings(ByItself()) == [("sleep", 2.0, {"INTERVAL": 1.0})]
    assert timings(BySuper()) == [("sleep", 2.0, {})]
    assert node_of(BySuper()).constants == ()


class Optioned(Step[int]):
    """A Step with options."""

    def get_step_options(self) -> StepOptions:
        """Give them."""
        return StepOptions(
            timedelta(seconds=WAIT),
            heartbeat_timeout=CALL * 6,
            execute_retry=RetryPolicy(maximum_attempts=TRIES, total_duration=2 * PAUSE),
        )

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """End."""
        return graceful_complete()


def test_options_are_traced_to_their_constants() -> None:
    """By position, by keyword and inside the retry policy; what is given is named."""
    node = node_of(Optioned())
    assert {each.name: each.feeds for each in node.constants} == {
        "CALL": ("heartbeat_timeout",),
        "PAUSE": ("total_duration",),
        "TRIES": ("maximum_attempts",),
        "WAIT": ("execute_method_timeout",),
    }
    assert set(node.given) == {
        "execute_method_timeout",
        "heartbeat_timeout",
        "maximum_attempts",
        "total_duration",
    }
    assert node.settings is not None
    assert node.settings["heartbeat_timeout"] == 60.0
