"""Which Streams a Step writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.flow.stream import Stream
from dexnb.graph.alternatives import Alternatives
from dexnb.graph.frames import Frame, reachable
from dexnb.graph.scope import UNKNOWN


def read_writes(frame: Frame) -> list[str]:
    """Give the names of the Streams that a method and its helpers write, in alphabetical order."""
    return sorted({name for each in reachable(frame) for name in _writes(each)})


def _writes(frame: Frame) -> Iterator[str]:
    for call in frame.calls():
        match call.func:
            case ast.Attribute(value=base, attr="write"):
                for leaf in Alternatives().of(base, frame):
                    if leaf.value is not UNKNOWN and isinstance(leaf.value, Stream):
                        yield leaf.value.name
            case _:
                pass
