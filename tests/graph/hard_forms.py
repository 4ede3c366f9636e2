"""Steps whose targets hide in a form that a reader may miss, with the edges of each by hand."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from dexnb import (
    Context,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    StepOptions,
    force_fail,
    go_to,
    go_to_many,
    graceful_complete,
)
from tests.graph.forms import A, B, C
from tests.graph.other_module import elsewhere

UNKNOWN = "?"
Ways = set[tuple[str, str, str]]
"""Kind of edge, from, to."""

HARD: list[tuple[type[Step[Any]], Ways]] = []
TABLE: dict[int, type[Step[int]]] = {0: A, 1: B}
ONCE = RetryPolicy(maximum_attempts=1)
to_b = partial(go_to, B)


def hard(*targets: str, failing: str = "") -> Callable[[type[Step[Any]]], type[Step[Any]]]:
    """Note where a Step leads, and where Fragile does when it fails."""

    def note(step: type[Step[Any]]) -> type[Step[Any]]:
        ways = {("transition", step.__name__, target) for target in targets}
        ways |= {("failure_transition", "Fragile", target) for target in failing}
        HARD.append((step, ways))
        return step

    return note


class Fragile(Step[int]):
    """Fails for every second input."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Raise or end."""
        if input % 2:
            raise ArithmeticError(input)
        return graceful_complete(input)


class Hard(Flow[int]):
    """A Flow that starts with one form and has all targets."""

    def __init__(self, step: type[Step[Any]]) -> None:
        """Start with this form."""
        self.step = step

    def get_flow_type(self) -> str:
        """Name it after the form."""
        return f"Hard{self.step.__name__}"

    def get_steps(self) -> StepList[int]:
        """Give the form and the targets."""
        return StepList.start_step(self.step()).other_steps(A(), B(), C(), Fragile())


@hard("A", "B")
class Variable(Step[int]):
    """A variable that is given another target on the way."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        target: type[Step[int]] = A
        if input % 2:
            target = B
        return go_to(target, input)


@hard("A", "B")
class LookUp(Step[int]):
    """A look-up in a dict."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return go_to(TABLE[input % 2], input)


@hard("A", "B", "C")
class Ternary(Step[int]):
    """A conditional inside a conditional."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return go_to(A if input % 3 == 0 else B if input % 3 == 1 else C, input)


@hard("A", "B", UNKNOWN)
class Matched(Step[int]):
    """A match that gives a name to what it matches."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        step: type[Step[int]] = A
        match input % 3, self.further():
            case 1, _:
                step = B
            case 2, step:
                pass
        return go_to(step, input)

    def further(self) -> Any:
        """Give what is read as a value of its own."""
        return vars(sys.modules[__name__])["C"]


@hard("A", UNKNOWN)
class GetAttr(Step[int]):
    """An attribute of a computed name."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        module = sys.modules[__name__]
        return go_to(getattr(module, "BC"[input % 2]) if input % 3 else A, input)


@hard("A", "B", "C")
class Comprehended(Step[int]):
    """Movements out of a list comprehension, with one more behind them."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        ways = [StepMovement.of(step, input) for step in (A, B) if input % 3]
        ways += [StepMovement.of(C, input)]
        return go_to_many(*ways)


@hard("A", "B")
class InAnotherModule(Step[int]):
    """A helper of another module."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return elsewhere(input)


@hard("A", "B")
class BuiltInALoop(Step[int]):
    """A decision that a loop makes."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        decision = force_fail("none")
        for number, step in ((0, A), (1, B)):
            if input % 3 == number:
                decision = go_to(step, input)
        return decision


@hard("Fragile", failing="ABC")
class FailureRoute(Step[int]):
    """Options of a movement that say where a failure leads; one of them says it twice."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        if input % 3 == 0:
            options = StepOptions(execute_retry=ONCE).on_execute_failure_proceed_to(A)
        else:
            options = self.routed(TABLE.get(input % 3, C))
        return go_to_many(StepMovement.of(Fragile, input, options=options))

    def routed(self, step: type[Step[int]]) -> StepOptions:
        """Lead to the one or the other."""
        return StepOptions(execute_retry=ONCE).on_execute_failure_proceed_to(step)


@hard("A", "B")
class Walrus(Step[int]):
    """A target that is named among the arguments."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return go_to(target := A if input % 2 else B, len(target.__name__))


@hard("A", "B", UNKNOWN)
class Nested(Step[int]):
    """A function inside that gives a variable of the outer one something else."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        target: type[Step[int]] = A

        def choose() -> None:
            nonlocal target
            target = C

        def last(step: type[Step[int]] = B) -> StepDecision:
            return go_to(step, input)

        if input % 3 == 0:
            choose()
        return last() if input % 3 == 1 else last(target)


class Base(Step[int]):
    """What others inherit."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        return self.decide(input) if input % 2 else go_to(A, input)

    def decide(self, input: int) -> StepDecision:
        """Decide otherwise in a subclass."""
        return force_fail(str(input))


@hard("A", "B")
class Derived(Base):
    """A subclass that overrides what the base class calls."""

    def decide(self, input: int) -> StepDecision:
        """Decide."""
        return go_to(B, input)


@hard("A", "B", "C")
class Partial(Step[int]):
    """Calls of what functools.partial made, here and elsewhere."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        if input % 3 == 0:
            return to_b(input)
        further = partial(self.further, step=A)
        return further(input) if input % 3 == 1 else further(input, step=C)

    def further(self, input: int, step: type[Step[int]]) -> StepDecision:
        """Go on."""
        return go_to(step, input)


@hard("A", "B", UNKNOWN)
class Starred(Step[int]):
    """Arguments out of a tuple, a dict, and something else."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        if input % 3 == 0:
            given = (A, input)
            return go_to(*given)
        if input % 3 == 1:
            named: Any = {"step": B, "input": input}
            return go_to(**named)
        return go_to(*reversed([input, C]))


@hard("A", "B")
class OwnAttribute(Step[int]):
    """An attribute of the Step that its method changes."""

    def __init__(self) -> None:
        """Lead to one Step at first."""
        self.target: type[Step[int]] = A

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        self.target = B if input % 2 else A
        return go_to(self.target, input)


@hard("A", "B", "C")
class Alias(Step[int]):
    """A maker under another name, given to a helper."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        onwards = go_to
        if input % 3 == 0:
            return onwards(A, input)
        return self.by(go_to, B if input % 3 == 1 else C)

    def by(self, make: Callable[..., StepDecision], step: type[Step[int]]) -> StepDecision:
        """Decide by what was given."""
        return make(step, 1)


@hard("A", "B", UNKNOWN)
class Next(Step[int]):
    """The first that fits, or else another; a parameter that is given something else."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Decide."""
        found = next((step for step in (A,) if input % 3 == 0), B)
        return self.last(found, input)

    def last(self, step: type[Step[int]], input: int) -> StepDecision:
        """Go on."""
        if input % 3 == 1:
            step = {"C": C}.setdefault("C", step)
        return go_to(step, input)
