"""More forms: exceptions, loops, inheritance, and what only running the code can tell."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress

import dexnb
from dexnb import (
    AsyncContext,
    Context,
    Step,
    StepDecision,
    StepMovement,
    StepOutput,
    dead_end,
    force_complete,
    force_fail,
    go_to,
    graceful_complete,
    heartbeat,
)
from tests.graph.forms import UNKNOWN, A, B, C, form

DONE = force_complete("done")


@form(("gracefulComplete", "", ""), ("goTo", "B", "exception"))
class Exceptions(Step[int]):
    """Another way out of an exception."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        try:
            return graceful_complete(1 / input)
        except ZeroDivisionError:
            return go_to(B, 1)


@form(("gracefulComplete", "", ""), ("deadEnd", "", "exception"))
class AfterTheHandler(Step[int]):
    """What follows a handler that does not leave."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        try:
            return graceful_complete(1 / input)
        except ZeroDivisionError:
            input = 1
        return dead_end()


@form(("forceComplete", "", ""))
class LiveDecision(Step[int]):
    """A decision made elsewhere."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return DONE


@form(("goTo", "A", ""), ("goTo", "C", ""))
class Constructor(Step[int]):
    """Several movements at once."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return StepDecision("next", (StepMovement.of(A, 1), StepMovement(C, 2)))


@form(("goTo", "A", ""), ("goTo", "B", ""))
class Comprehension(Step[int]):
    """Movements made in a loop."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return StepDecision("next", tuple(StepMovement.of(step, 1) for step in (A, B)))


@form(("goTo", "A", ""), ("goTo", "B", ""), ("deadEnd", "", ""))
class LoopVariable(Step[int]):
    """A target out of a loop."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        for step in (A, B):
            return go_to(step, 1)
        return dead_end()


@form(("goTo", "A", "(found := (input > 1)) and found"), ("deadEnd", "", "otherwise"))
class Walrus(Step[int]):
    """A test that binds."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        if (found := input > 1) and found:
            return go_to(A, 1)
        return dead_end()


@form(
    ("gracefulComplete", "", "input > 5"),
    ("goTo", "A", "not (input > 5) and input < 0"),
    ("deadEnd", "", "not (input > 5) and not (input < 0) and input == 0"),
)
class Loop(Step[int]):
    """A polling loop that ends by its condition."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Decide."""
        while True:
            async with asyncio.timeout(1):  # noqa: ASYNC100 - a block, for its form
                input += 1
            if input > 5:
                return graceful_complete()
            if input < 0:
                return go_to(A, 1)
            if input == 0:
                break
            await asyncio.sleep(1)
        return dead_end()


@form(("forceFail", "", ""), ("deadEnd", "", ""))
class Suppressed(Step[int]):
    """A block whose return may be swallowed."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        with suppress(ZeroDivisionError):
            return force_fail(str(1 / input))
        return dead_end()


@form(
    ("gracefulComplete", "", "input"),
    ("goTo", "A", "otherwise"),
    ("deadEnd", "", "otherwise"),
)
class Inner(Step[int]):
    """A function defined inside."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""

        def last(step: type[Step[int]]) -> StepDecision:
            return go_to(step, 1)

        if input:
            return graceful_complete()
        return last(A) or dead_end()  # type: ignore[truthy-bool]  # the form under test


@form(("goTo", "A", ""))
class Generator_(Step[int]):  # noqa: N801 - beside the import
    """A generator's return."""

    def execute(self, context: Context, input: int) -> Generator[StepOutput, None, StepDecision]:
        """Decide."""
        yield heartbeat(1)
        return dexnb.go_to(A, 1)


class Base(Step[int]):
    """What others inherit."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return go_to(A, input)


@form(("goTo", "A", ""))
class Inherited(Base):
    """A method of the base class."""


@form(("goTo", "B", "input"), ("goTo", "A", "otherwise"))
class Super(Base):
    """A call of the base class's method."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        if input:
            return go_to(B, input)
        return super().execute(context, input)


@form(("goTo", UNKNOWN, ""))
class ByName(Step[int]):
    """A target that only running tells."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return go_to(getattr(dexnb, str(input)), 1)


@form(("unknown", UNKNOWN, ""))
class Handed(Step[int]):
    """A decision that comes from somewhere."""

    def __init__(self) -> None:
        """Keep what decides."""
        self.decide: Callable[[int], StepDecision] = lambda input: go_to(A, input)

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return self.decide(input)


@form(("unknown", UNKNOWN, "otherwise"), ("deadEnd", "", "input"))
class HandedAwaitable(Step[int]):
    """The same, awaited."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Decide."""
        if input:
            return dead_end()
        waits: list[Awaitable[StepDecision]] = []
        return await waits.pop()


@form(("goTo", "A", ""), ("goTo", UNKNOWN, ""))
class Grown(Step[int]):
    """A table that grows while it runs."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        steps: list[type[Step[int]]] = [A]
        steps.append(B)
        return go_to(steps[input], 1)


@form(("goTo", "A", ""), ("goTo", "B", ""))
class BuiltInALoop(Step[int]):
    """A decision whose movements are gathered in a loop."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        movements = []
        for step in (A, B):
            movements.append(StepMovement.of(step, 1))  # noqa: PERF401 - the form under test
        return StepDecision("next", tuple(movements))
