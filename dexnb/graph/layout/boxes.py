"""What the layout takes and gives: boxes, links between them, and the ways that links take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Size:
    """How large a box is, and how much room above it belongs to it."""

    width: float
    height: float
    head: float = 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """Where a box stands: its upper left corner, its size and its rank from the left."""

    x: float
    y: float
    width: float
    height: float
    rank: int


@dataclass(frozen=True, slots=True)
class Link:
    """A way from a box to another one.

    Args:
        source: Where it leaves, on the right.
        target: Where it arrives, on the left.
        label: Room to keep free for what stands on it.
        port: How far under the upper edge of its source it leaves; None for anywhere.
    """

    source: str
    target: str
    label: Size | None = None
    port: float | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """How a link runs.

    Args:
        path: As the path data of SVG, from box to box.
        tip: Where it arrives, from the left.
        label: Middle of the room for its label.
        back: Whether it leads back to where the Flow has been.
    """

    path: str
    tip: Point
    label: Point
    back: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands; `routes` has the links' numbers, without ways to the same box.

    Args:
        boxes: By name.
        routes: By the place of the link in what was given.
        left: Smallest x of all.
        top: Smallest y of all.
        right: Largest x of all.
        bottom: Largest y of all.
    """

    boxes: Mapping[str, Box]
    routes: Mapping[int, Route]
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
