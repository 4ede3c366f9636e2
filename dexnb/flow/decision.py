"""`StepDecision` and its makers: what follows after a Step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from dexnb.flow.output import OMITTED
from dexnb.model.decision import DecisionKind

if TYPE_CHECKING:
    from dexnb.flow.channel import Channel
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
    """What a Step method returns; use `go_to` and its siblings to make one.

    Args:
        kind: What follows.
        movements: The Steps to go to.
        output: What this branch of the Flow gives; left out and None differ.
        reason: Why the Flow fails.
        empty_channels: What must be empty for a conditional completion.
        fallback: Where to go if it is not.
        canceling_steps: Steps whose other executions are cancelled first.
        canceling_sibling_steps: The same, of those only that came from the same execution.
    """

    kind: DecisionKind
    movements: tuple[StepMovement, ...] = ()
    output: Any = OMITTED
    reason: str = ""
    empty_channels: tuple[Channel[Any], ...] = ()
    fallback: StepMovement | None = None
    canceling_steps: tuple[type[Step[Any]], ...] = ()
    canceling_sibling_steps: tuple[type[Step[Any]], ...] = ()

    def with_canceling_steps(self, *steps: type[Step[Any]]) -> StepDecision:
        """Give a copy that first cancels every other execution of these Steps.

        A cancelled execution is not retried and leads to no recovery. A second call adds.
        """
        every = added(self.canceling_steps, steps)
        siblings = tuple(step for step in self.canceling_sibling_steps if step not in every)
        return replace(self, canceling_steps=every, canceling_sibling_steps=siblings)

    def with_canceling_sibling_steps(self, *steps: type[Step[Any]]) -> StepDecision:
        """Give a copy that first cancels those that came from the same execution as this one.

        A Step that `with_canceling_steps` names is cancelled everywhere anyway.
        """
        named = added(self.canceling_sibling_steps, steps)
        siblings = tuple(step for step in named if step not in self.canceling_steps)
        return replace(self, canceling_sibling_steps=siblings)


def added(steps: tuple[Any, ...], more: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give these and those, each once."""
    found = list(steps)
    for step in more:
        if step not in found:
            found.append(step)
    return tuple(found)


def go_to(step: type[Step[InputT]], input: InputT) -> StepDecision:
    """Go on with another Step (or the same one) and this input."""
    return StepDecision("next", movements=(StepMovement(step, input),))


def go_to_many(*movements: StepMovement) -> StepDecision:
    """Go on with several Steps side by side, each made by `StepMovement.of(YourStep, input)`."""
    return StepDecision("next", movements=movements)


def graceful_complete(output: object = OMITTED) -> StepDecision:
    """End this branch with an output; the Flow completes when nothing else is active."""
    return StepDecision("graceful_complete", output=output)


def force_complete(output: object = OMITTED) -> StepDecision:
    """Complete the Flow now; other active Steps are cancelled."""
    return StepDecision("force_complete", output=output)


def force_complete_if_channels_empty(
    output: object, fallback: StepMovement, *channels: Channel[Any]
) -> StepDecision:
    """Complete the Flow now if these Channels are empty, else go on with `fallback`.

    A message that a running execute is handling still counts. A ChannelMap cannot be given.
    """
    return StepDecision(
        "force_complete_if_channels_empty",
        output=output,
        fallback=fallback,
        empty_channels=channels,
    )


def force_fail(reason: str) -> StepDecision:
    """Fail the Flow now; other active Steps are cancelled."""
    return StepDecision("force_fail", reason=reason)


def dead_end() -> StepDecision:
    """End this branch only; a Flow with nothing active stays RUNNING until it is stopped."""
    return StepDecision("dead_end")
