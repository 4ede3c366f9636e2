"""Blocks: what stands in a frame from top to bottom, each with its size before it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dexnb.graph.drawing import shapes

Draw = Callable[[float, float, float], str]
"""Draws at x and y, over a width."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a frame.

    Args:
        height: How much it takes.
        width: How much it would like.
        draw: Draws it.
        ports: By the id of a target, how far under its top the way there leaves.
        marks: By the id of a node that it shows, how far under its top that begins.
    """

    height: float
    width: float
    draw: Draw
    ports: tuple[tuple[str, float], ...] = ()
    marks: tuple[tuple[str, float], ...] = ()


def gap(height: float) -> Block:
    """Give room with nothing in it."""
    return Block(height, 0.0, lambda _x, _y, _width: "")


def stack(blocks: Sequence[Block], between: float = 0.0) -> Block:
    """Put blocks under one another."""
    tops: list[float] = []
    y = 0.0
    for block in blocks:
        tops.append(y)
        y += block.height + between
    height = y - between if blocks else 0.0

    def draw(x: float, top: float, width: float) -> str:
        return "".join(
            block.draw(x, top + at, width) for block, at in zip(blocks, tops, strict=True)
        )

    placed = list(zip(blocks, tops, strict=True))
    return Block(
        height,
        max((block.width for block in blocks), default=0.0),
        draw,
        tuple((key, at + dy) for block, at in placed for key, dy in block.ports),
        tuple((key, at + dy) for block, at in placed for key, dy in block.marks),
    )


def indented(block: Block, by: float) -> Block:
    """Move a block to the right."""
    return Block(
        block.height,
        block.width + by,
        lambda x, y, width: block.draw(x + by, y, width - by),
        block.ports,
        block.marks,
    )


def titled(block: Block, title: str) -> Block:
    """Say something where the pointer rests on a block."""
    return Block(
        block.height,
        block.width,
        lambda x, y, width: shapes.titled(block.draw(x, y, width), title),
        block.ports,
        block.marks,
    )
