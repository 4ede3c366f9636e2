"""`StepDecision` and its makers: what follows after a Step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from dexnb.flow.output import OMITTED
from dexnb.model.message import DecisionKind

if TYPE_CHECKING:
    from dexnb.flow.options import StepOptions
    from dexnb.flow.step import Step

InputT = TypeVar("InputT")


@dataclass(frozen=True)
class StepMovement:
    """A Step to go to, its input, and options that replace the Step's own."""

    step: type[Step[Any]]
    input: Any
    options: StepOptions | None = None

    @classmethod
    def of(
        cls, step: type[Step[InputT]], input: InputT, *, options: StepOptions | None = None
    ) -> StepMovement:
        """Make a movement whose input is checked against the Step's by type checkers."""
        return cls(step, input, options)


@dataclass(frozen=True)
class StepDecision:
    """What a Step method returns; use `go_to` and its siblings to make one."""

    kind: DecisionKind
    movements: tuple[StepMovement, ...] = ()
    output: Any = OMITTED
    reason: str = ""


def go_to(step: type[Step[InputT]], input: InputT) -> StepDecision:
    """Go on with another Step (or the same one) and this input."""
    return StepDecision("next", movements=(StepMovement(step, input),))


def graceful_complete(output: object = OMITTED) -> StepDecision:
    """End this branch with an output; the Flow completes when nothing else is active."""
    return StepDecision("graceful_complete", output=output)


def force_complete(output: object = OMITTED) -> StepDecision:
    """Complete the Flow now; other active Steps are cancelled."""
    return StepDecision("force_complete", output=output)


def force_fail(reason: str) -> StepDecision:
    """Fail the Flow now; other active Steps are cancelled."""
    return StepDecision("force_fail", reason=reason)


def dead_end() -> StepDecision:
    """End this branch only; a Flow with nothing active stays RUNNING until it is stopped."""
    return StepDecision("dead_end")
