"""`Flow`: a durable process, made of Steps."""

from __future__ import annotations

from abc import ABC
from typing import Any, Generic, TypeVar

from dexnb.flow.persistence import PersistenceSchema
from dexnb.flow.step import StepList

StartT = TypeVar("StartT")


class Flow(ABC, Generic[StartT]):
    """What is registered and started; subclass it and list the Steps.

    Methods under `@rpc` can be called from outside while a run is open.
    """

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        """Answer by the bases alone: Python would ask each class that there is of this kind."""
        return cls in other.__mro__

    def get_flow_type(self) -> str:
        """Give the name that the store keeps; the class name unless overridden."""
        return type(self).__name__

    def get_steps(self) -> StepList[StartT]:
        """Give the Steps."""
        empty: StepList[Any] = StepList.empty()
        return empty

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give the Streams and other named things that the Flow keeps."""
        return PersistenceSchema()

    def handle_timeout(self, context: Any) -> Any:
        """Decide what follows when the run's timeout is over; written as a Step's execute is.

        Overriding it makes HANDLER the policy of a start with a timeout. It runs once, as Step
        `sys:timeout_handler`, beside whatever is active.
        """
        raise NotImplementedError
