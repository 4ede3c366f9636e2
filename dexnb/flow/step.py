"""`Step` and `StepList`: the parts of a Flow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Never, TypeVar

from dexnb.errors import DefinitionError
from dexnb.flow.options import StepOptions
from dexnb.flow.wait import Wait
from dexnb.model.shown import shown

InputT = TypeVar("InputT")
StartT = TypeVar("StartT")


class Step(ABC, Generic[InputT]):
    """One durable unit of work; runs at least once.

    A Step that overrides `wait_for` says there what to wait for, and runs `execute` when that is
    ready; both take the same input. Write each of them as `async def` with an `AsyncContext`, as
    plain `def` with a `Context`, or as a generator that yields `StepOutput` values and returns its
    result. Both parameters and the return must be annotated. The attempts of one Step share
    nothing but its checkpoint.
    """

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        """Answer by the bases alone: Python would ask each class that there is of this kind."""
        return cls in other.__mro__

    @abstractmethod
    def execute(self, context: Any, input: Any) -> Any:
        """Do the work and decide what follows."""

    def wait_for(self, context: Any, input: Any) -> Any:
        """Give the `Wait` that must be over before execute; a Step that has none leaves it out."""
        return Wait.skip_immediately()

    def get_step_type(self) -> str:
        """Give the name that the store keeps; the class name unless overridden."""
        return type(self).__name__

    def get_step_options(self) -> StepOptions | None:
        """Give timeouts, retries and recovery; None for the defaults."""
        return None


@dataclass(frozen=True, init=False)
class StepList(Generic[StartT]):
    """The Steps of a Flow: instances here, classes in decisions.

    Begin with `StepList.start_step(...)` and add the rest: `.other_steps(...)`.

    Raises:
        DefinitionError: The class was given Steps one by one; or a maker of lists was called on a
            list, whose Steps would be lost.
    """

    start: Step[StartT] | None
    others: tuple[Step[Any], ...]

    def __init__(
        self,
        start: Step[StartT] | None = None,
        others: tuple[Step[Any], ...] = (),
        *more: Step[Any],
    ) -> None:
        """Hold a start Step and the others, and let the makers be called on the class only."""
        if more or not isinstance(others, tuple | list):
            fix = "write StepList.start_step(YourStep()).other_steps(OtherStep())"
            given = (others, *more) if more else others
            raise DefinitionError(f"StepList others is {shown(given)}: {fix}")
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "others", others)
        for name in ("empty", "start_step", "without_start_step"):
            object.__setattr__(self, name, partial(_refuse_to_begin_again, name))

    @classmethod
    def empty(cls) -> StepList[Any]:
        """Give a list without Steps."""
        return StepList()

    @classmethod
    def start_step(cls, step: Step[InputT]) -> StepList[InputT]:
        """Give a list whose start Step is this one."""
        return StepList(start=step)

    @classmethod
    def without_start_step(cls, *steps: Step[Any]) -> StepList[Any]:
        """Give a list of Steps that nothing starts by itself."""
        return StepList(others=steps)

    def other_steps(self, *steps: Step[Any]) -> StepList[StartT]:
        """Give a list with these Steps added."""
        return replace(self, others=(*self.others, *steps))

    def __iter__(self) -> Iterator[Step[Any]]:
        """Go through all Steps, the start Step first."""
        if self.start is not None:
            yield self.start
        yield from self.others


def _refuse_to_begin_again(name: str, *_steps: Any) -> Never:
    message = (
        f"StepList.{name} makes a new list, without the Steps of this one: "
        "call it once, on the class, and add Steps with .other_steps(...)"
    )
    raise DefinitionError(message)
