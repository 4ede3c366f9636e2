"""`Flow`: a durable process, made of Steps."""

from __future__ import annotations

from abc import ABC
from typing import Any, Generic, TypeVar

from dexnb.flow.persistence import PersistenceSchema
from dexnb.flow.step import StepList

StartT = TypeVar("StartT")


class Flow(ABC, Generic[StartT]):
    """What is registered and started; subclass it and list the Steps."""

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
