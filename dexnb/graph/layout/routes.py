"""How links run: level through every column that they pass, and bent only between columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dexnb.graph.layout.boxes import Box, Link, Point, Route
from dexnb.graph.layout.grid import Grid
from dexnb.graph.layout.heights import Ports

LANE = 22.0
"""Between two links that run around all boxes."""

_TURN = 14.0
_TURN_FAR = 200.0
_CORNER = 9.0


@dataclass(slots=True)
class Plan:
    """What routes are made of: columns from left to right, tops of items, ports of boxes."""

    grid: Grid
    links: Sequence[Link]
    boxes: dict[str, Box]
    lefts: list[float]
    rights: list[float]
    tops: list[float]
    outs: Ports
    ins: Ports
    slots: dict[tuple[int, int], int] = field(default_factory=dict)

    def leaves(self, number: int) -> Point:
        """Give where a link leaves its source."""
        name = self.links[number].source
        item, box = self.grid.boxes[name], self.boxes[name]
        return box.x + box.width, self.tops[item] + self.outs[item, number]

    def arrives(self, number: int) -> Point:
        """Give where a link arrives at its target."""
        name = self.links[number].target
        item = self.grid.boxes[name]
        return self.boxes[name].x, self.tops[item] + self.ins[item, number]

    def height(self, item: int) -> float:
        """Give how high a link passes through its place."""
        return self.tops[item] + self.grid.items[item].height / 2

    def column(self, name: str) -> int:
        """Give the column that a box stands in."""
        return self.grid.items[self.grid.boxes[name]].column


def near_route(plan: Plan, number: int) -> Route:
    """Give the way of a link that passes between the boxes."""
    first, last = plan.leaves(number), plan.arrives(number)
    chain = plan.grid.chains[number]
    link = plan.links[number]
    source, target = plan.column(link.source), plan.column(link.target)
    pen = _Pen(first)
    pen.level(plan.rights[source])
    if target > source:
        for item in chain:
            column = plan.grid.items[item].column
            if plan.rights[column] > plan.lefts[column]:
                pen.bend((plan.lefts[column], plan.height(item)))
                pen.level(plan.rights[column])
        pen.bend((plan.lefts[target], last[1]))
        labelled = chain[0]
    else:
        labelled = chain[1]
        _lead_back(plan, pen, chain, last)
    pen.level(last[0])
    column = plan.grid.items[labelled].column
    middle = (plan.lefts[column] + plan.rights[column]) / 2
    return Route(pen.path, last, (middle, plan.height(labelled)), target <= source)


def _lead_back(plan: Plan, pen: _Pen, chain: list[int], last: Point) -> None:
    pen.turn(plan.height(chain[1]), 1)
    for at, item in enumerate(chain[1:-1]):
        column = plan.grid.items[item].column
        if at and plan.rights[column] <= plan.lefts[column]:
            continue
        if at:
            pen.bend((plan.rights[column], plan.height(item)))
        pen.level(plan.lefts[column])
    pen.turn(last[1], -1)


def far_routes(plan: Plan, top: float, bottom: float) -> dict[int, Route]:
    """Give the ways of links that run around: forward over all boxes, back under them."""
    lanes: dict[bool, list[float]] = {False: [], True: []}
    spans = []
    for number in plan.grid.far:
        x1, x2 = _edges(plan, number)
        spans.append((min(x1, x2), max(x1, x2), number, x1, x2))
    routes: dict[int, Route] = {}
    for low, high, number, x1, x2 in sorted(spans):
        back = x2 < x1
        ends = lanes[back]
        lane = next((at for at, end in enumerate(ends) if end < low), len(ends))
        ends[lane : lane + 1] = [high + LANE]
        y = bottom + LANE * (lane + 1) if back else top - LANE * (lane + 1)
        routes[number] = _around(plan, number, (x1, x2), y)
    return routes


def _edges(plan: Plan, number: int) -> tuple[float, float]:
    """Give where a link that runs around goes up or down, apart from others beside that column."""
    link = plan.links[number]
    source, target = plan.column(link.source), plan.column(link.target)
    return (
        plan.rights[source] + 7 + 4 * _slot(plan, source, 1),
        plan.lefts[target] - 15 - 3 * _slot(plan, target, -1),
    )


def _slot(plan: Plan, column: int, side: int) -> int:
    slot = plan.slots.get((column, side), 0)
    plan.slots[column, side] = slot + 1
    return slot % 4


def _around(plan: Plan, number: int, xs: Point, y: float) -> Route:
    first, last = plan.leaves(number), plan.arrives(number)
    corners = [(xs[0], first[1]), (xs[0], y), (xs[1], y), (xs[1], last[1])]
    pen = _Pen(first)
    for corner, after in zip(corners, [*corners[1:], last], strict=True):
        pen.corner(corner, after)
    pen.level(last[0])
    label = plan.links[number].label
    half = (label.width if label else 0.0) / 2 + _CORNER + 4
    x = xs[0] + half if xs[1] > xs[0] else xs[0] - half
    return Route(pen.path, last, (x, y), xs[1] < xs[0])


class _Pen:
    """Writes path data; it knows where it stands."""

    def __init__(self, start: Point) -> None:
        self.at = start
        self.path = f"M{start[0]:.1f} {start[1]:.1f}"

    def level(self, x: float) -> None:
        if abs(x - self.at[0]) > 0.05:  # noqa: PLR2004 - what path data does not show
            self.path += f"H{x:.1f}"
            self.at = (x, self.at[1])

    def bend(self, to: Point) -> None:
        middle = (self.at[0] + to[0]) / 2
        self.path += (
            f"C{middle:.1f} {self.at[1]:.1f} {middle:.1f} {to[1]:.1f} {to[0]:.1f} {to[1]:.1f}"
        )
        self.at = to

    def turn(self, y: float, side: int) -> None:
        """Turn round to another height, towards the right for a positive side.

        Farther for what turns to a farther height, so that one turn runs inside another.
        """
        climb = abs(y - self.at[1])
        by = side * _TURN * (1 + climb / (climb + _TURN_FAR))
        # A cubic reaches three quarters of the way to its controls.
        x, reach = self.at[0], self.at[0] + by * 4 / 3
        self.path += f"C{reach:.1f} {self.at[1]:.1f} {reach:.1f} {y:.1f} {x:.1f} {y:.1f}"
        self.at = (x, y)

    def corner(self, at: Point, after: Point) -> None:
        """Go straight to a corner and round it."""
        begin, end = _towards(at, self.at), _towards(at, after)
        self.path += f"L{begin[0]:.1f} {begin[1]:.1f}"
        self.path += f"Q{at[0]:.1f} {at[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
        self.at = end


def _towards(corner: Point, other: Point) -> Point:
    """Give the point beside a corner on the straight line to another point."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = abs(dx) + abs(dy)
    by = min(_CORNER, length / 2) / length if length else 0.0
    return corner[0] + dx * by, corner[1] + dy * by
