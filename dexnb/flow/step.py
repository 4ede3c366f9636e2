"""`Step` and `StepList`: the parts of a Flow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from dexnb.flow.options import StepOptions

InputT = TypeVar("InputT")
StartT = TypeVar("StartT")


class Step(ABC, Generic[InputT]):
    """One durable unit of work; runs at least once.

    Write `execute` as `async def` with an `AsyncContext`, as plain `def` with a `Context`, or as a
    generator that yields `StepOutput` values and returns the decision. Both parameters and the
    return must be annotated. The attempts of one Step share nothing but its checkpoint.
    """

    @abstractmethod
    def execute(self, context: Any, input: Any) -> Any:
        """Do the work and decide what follows."""

    def get_step_type(self) -> str:
        """Give the name that the store keeps; the class name unless overridden."""
        return type(self).__name__

    def get_step_options(self) -> StepOptions | None:
        """Give timeouts, retries and recovery; None for the defaults."""
        return None


@dataclass(frozen=True)
class StepList(Generic[StartT]):
    """The Steps of a Flow: instances here, classes in decisions."""

    start: Step[StartT] | None = None
    others: tuple[Step[Any], ...] = ()

    @classmethod
    def empty(cls) -> StepList[Any]:
        """Give a list without Steps."""
        return StepList()

    @classmethod
    def start_step(cls, step: Step[StartT]) -> StepList[StartT]:
        """Give a list whose start Step is this one."""
        return StepList(start=step)

    @classmethod
    def without_start_step(cls, *steps: Step[Any]) -> StepList[Any]:
        """Give a list of Steps that nothing starts by itself."""
        return StepList(others=steps)

    def other_steps(self, *steps: Step[Any]) -> StepList[StartT]:
        """Give a list with these Steps added."""
        return replace(self, others=(*self.others, *steps))

    def __iter__(self) -> Any:
        """Go through all Steps, the start Step first."""
        return iter((*(() if self.start is None else (self.start,)), *self.others))
