"""`MethodFacts`: one method of a Step with its helpers, walked once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from dexnb.graph.frames import Frame
from dexnb.lint.facts.nodes import nodes_of
from dexnb.lint.facts.polls import Poll, read_polls
from dexnb.lint.facts.sources import Sources
from dexnb.lint.facts.spots import CallKind, CallSpot
from dexnb.lint.facts.stand_ins import stand_ins
from dexnb.lint.facts.walk import Spots, walk


@dataclass(eq=False)
class MethodFacts:
    """What a method does.

    Args:
        name: `execute`, `wait_for` or `handle_timeout`.
        frame: It.
        spots: All places in it and in its helpers.
    """

    name: str
    frame: Frame
    spots: Spots = field(init=False)

    def __post_init__(self) -> None:
        """Walk it."""
        self.spots = walk(self.frame)

    @property
    def is_async(self) -> bool:
        """Tell an `async def`."""
        return isinstance(self.frame.tree, ast.AsyncFunctionDef)

    @property
    def is_generator(self) -> bool:
        """Tell a generator."""
        return is_generator(self.frame)

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """The method and the helpers that were read."""
        found = {id(self.frame): self.frame}
        for spot in self.spots.calls:
            found.setdefault(id(spot.frame), spot.frame)
        return tuple(found.values())

    @cached_property
    def polls(self) -> tuple[Poll, ...]:
        """Its loops that wait for the state of somebody else's system, or may."""
        return tuple(read_polls(self.spots, self.frames))

    def sources(self, expression: ast.AST, frame: Frame) -> Sources:
        """Tell what an expression comes from."""
        return Sources(self.frames).add(expression, frame)

    def calls(self, *kinds: CallKind) -> Iterator[CallSpot]:
        """Give the calls of some kinds."""
        return (spot for spot in self.spots.calls if spot.kind in kinds)

    @cached_property
    def stand_ins(self) -> tuple[CallSpot, ...]:
        """The calls that a coroutine awaits of a fake beside the Step."""
        return tuple(spot for spot in stand_ins(self.spots.calls) if spot.awaited)

    def from_foreign(self, expression: ast.AST, frame: Frame) -> list[CallSpot]:
        """Give the calls of foreign code that an expression comes from, and of its stand-ins."""
        found = self.sources(expression, frame).calls
        asked = (*self.calls(CallKind.FOREIGN), *self.stand_ins)
        return [spot for spot in asked if spot.node in found]


def is_generator(frame: Frame) -> bool:
    """Tell a function that yields."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes_of(frame.tree))
