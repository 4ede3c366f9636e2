"""One Step for each form in which code may say what follows, with the edges it must show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    dead_end,
    force_fail,
    go_to,
    graceful_complete,
)

UNKNOWN = "?"
Expected = set[tuple[str, str, str]]
"""Decision type, target (empty for none), condition."""

FORMS: list[tuple[type[Step[Any]], Expected]] = []


def form(*expected: tuple[str, str, str]) -> Callable[[type[Step[Any]]], type[Step[Any]]]:
    """Note what a form must show."""

    def note(step: type[Step[Any]]) -> type[Step[Any]]:
        FORMS.append((step, set(expected)))
        return step

    return note


class A(Step[int]):
    """A target."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """End."""
        return graceful_complete()


class B(A):
    """Another target."""


class C(A):
    """A third one."""


TABLE = {0: A, 1: B}


def finish(step: type[Step[int]], last: int) -> StepDecision:
    """Help one level away."""
    if last > 9:
        return graceful_complete(last)
    return go_to(step, last)


def deep(last: int) -> StepDecision:
    """Help two levels away."""
    return finish(C, last)


async def ask() -> StepDecision:
    """Help and be awaited."""
    return go_to(A, 1)


def pick(state: int) -> type[Step[int]]:
    """Give a class."""
    return A if state else B


@form(("goTo", "A", "input > 1"), ("goTo", "B", "otherwise"))
class IfElse(Step[int]):
    """Two branches."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        if input > 1:
            return go_to(A, input)
        else:  # noqa: RET505 - the form under test
            return go_to(B, input)


@form(
    ("gracefulComplete", "", "input == 1"),
    ("forceFail", "", "not (input == 1) and input == 2"),
    ("deadEnd", "", "otherwise"),
)
class EarlyReturns(Step[int]):
    """Guards that add up."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        if input == 1:
            return graceful_complete(input)
        if input == 2:
            return force_fail("two")
        return dead_end()


@form(("goTo", "A", "input > 1"), ("goTo", "B", "otherwise"))
class TernaryTarget(Step[int]):
    """A conditional expression among the arguments."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return go_to(A if input > 1 else B, input)


@form(("goTo", "A", "input > 1"), ("forceFail", "", "otherwise"))
class TernaryDecision(Step[int]):
    """A conditional expression of decisions."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return go_to(A, 1) if input > 1 else force_fail("no")


@form(
    ("goTo", "A", "input == 1"),
    ("goTo", "B", "not (input == 1) and input in (2, 3)"),
    ("goTo", "C", "otherwise"),
)
class Match(Step[int]):
    """A match with a case for the rest."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        match input:
            case 1:
                return go_to(A, 1)
            case 2 | 3:
                return go_to(B, 1)
            case _:
                return go_to(C, 1)


@form(("goTo", "A", "input > 1"), ("goTo", "B", "otherwise"))
class LocalVariable(Step[int]):
    """A decision that waits in a variable."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        if input > 1:  # noqa: SIM108 - the form under test
            decision = go_to(A, 1)
        else:
            decision = go_to(B, 1)
        return decision


@form(("goTo", "A", ""), ("goTo", "B", "input > 1"))
class LocalTarget(Step[int]):
    """A target that waits in a variable."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        target: type[Step[int]] = A
        if input > 1:
            target = B
        return go_to(target, 1)


@form(("goTo", "A", ""), ("goTo", "B", ""))
class TableLookUp(Step[int]):
    """A table of targets with a key that only running tells."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return go_to(TABLE[input], 1)


@form(("goTo", "A", ""), ("goTo", "B", ""), ("goTo", "C", ""))
class TableGet(Step[int]):
    """A table with a default."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return go_to(TABLE.get(input, C), 1)


@form(("gracefulComplete", "", "last > 9"), ("goTo", "B", "otherwise"))
class Helper(Step[int]):
    """A helper that is given the target."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return finish(B, input)


@form(("gracefulComplete", "", "last > 9"), ("goTo", "C", "otherwise"))
class DeepHelper(Step[int]):
    """A helper of a helper."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return deep(input)


@form(("goTo", "A", ""))
class AwaitedHelper(Step[int]):
    """A helper that is awaited."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Decide."""
        return await ask()


@form(("goTo", "A", "state"), ("goTo", "B", "otherwise"))
class PickedTarget(Step[int]):
    """A helper that gives the class."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return go_to(pick(input), 1)


@form(("goTo", "A", "input"), ("forceFail", "", "otherwise"))
class OwnMethod(Step[int]):
    """A method of the Step's own, and a static one."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        if input:
            return self.onwards(input)
        return self.failed("why")

    def onwards(self, input: int) -> StepDecision:
        """Go on."""
        return go_to(A, input)

    @staticmethod
    def failed(reason: str) -> StepDecision:
        """Fail."""
        return force_fail(reason)


class OneOf(Flow[int]):
    """A Flow that starts with one form and has all targets."""

    def __init__(self, step: type[Step[Any]]) -> None:
        """Start with this form."""
        self.step = step

    def get_steps(self) -> StepList[int]:
        """Give the form and the targets."""
        return StepList.start_step(self.step()).other_steps(A(), B(), C())
