"""Columns of boxes and, between them, of the places where links pass.

The boxes of rank r stand in column 2r + 1. A link has a place in every column that it passes, so
no box can stand in its way. One that leads back turns round in the column behind its source, runs
beside the boxes of each rank down to its target's, and turns again before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dexnb.graph.layout.boxes import Link, Size

LONGEST = 6
"""A link over more ranks than this runs around all boxes instead of between them."""

GAP_BOX = 34.0
GAP_LINK = 12.0
_THIN = 2.0


@dataclass(slots=True)
class Item:
    """A box or a link's place in a column; `before` and `after` are neighbours by number."""

    column: int
    height: float
    width: float
    gap: float
    box: str = ""
    link: int = -1
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Grid:
    """All items, the columns that hold them by number, and the chain of each link."""

    items: list[Item] = field(default_factory=list)
    columns: list[list[int]] = field(default_factory=list)
    boxes: dict[str, int] = field(default_factory=dict)
    chains: dict[int, list[int]] = field(default_factory=dict)
    far: list[int] = field(default_factory=list)

    def add(self, item: Item) -> int:
        """Put an item at the end of its column."""
        while len(self.columns) <= item.column:
            self.columns.append([])
        self.items.append(item)
        self.columns[item.column].append(len(self.items) - 1)
        return len(self.items) - 1

    def join(self, left: int, right: int) -> None:
        """Make two items of neighbouring columns neighbours."""
        self.items[left].after.append(right)
        self.items[right].before.append(left)


def make_grid(sizes: Mapping[str, Size], links: Sequence[Link], rank_of: Mapping[str, int]) -> Grid:
    """Put boxes and links into columns, in the order in which they are given."""
    grid = Grid()
    for name, size in sizes.items():
        height = size.height + size.head
        item = Item(2 * rank_of[name] + 1, height, size.width, GAP_BOX, box=name)
        grid.boxes[name] = grid.add(item)
    for number, link in enumerate(links):
        if link.source == link.target:
            continue
        if abs(rank_of[link.target] - rank_of[link.source]) > LONGEST:
            grid.far.append(number)
        else:
            _chain(grid, number, link, rank_of)
    for item in grid.items:
        if item.box:
            item.after.sort(key=lambda other: _port(links[grid.items[other].link]))
    return grid


def _port(link: Link) -> float:
    return 0.0 if link.port is None else link.port


def _chain(grid: Grid, number: int, link: Link, rank_of: Mapping[str, int]) -> None:
    first, last = 2 * rank_of[link.source] + 1, 2 * rank_of[link.target] + 1
    forward = last > first
    columns = range(first + 1, last) if forward else range(first + 1, last - 2, -1)
    # A link that leads back has its label beside its source, where it runs straight.
    labelled = first + 1 if forward else first
    chain = []
    for column in columns:
        label = link.label if column == labelled else None
        height, width = (label.height, label.width) if label else (_THIN, 0.0)
        chain.append(grid.add(Item(column, height, width, GAP_LINK, link=number)))
    grid.chains[number] = chain
    source, target = grid.boxes[link.source], grid.boxes[link.target]
    grid.join(source, chain[0])
    for one, other in pairwise(chain):
        grid.join(*((one, other) if forward else (other, one)))
    grid.join(chain[-1], target)
