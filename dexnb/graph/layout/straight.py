"""Take small bends out of links: each runs level as far as its neighbours leave it room."""

from __future__ import annotations

from collections.abc import Sequence

from dexnb.graph.layout.boxes import Link
from dexnb.graph.layout.grid import Grid
from dexnb.graph.layout.heights import Ports

_Room = tuple[float, float]
"""The lowest and the highest middle that an item may have."""


def straighten(
    grid: Grid, links: Sequence[Link], tops: list[float], outs: Ports, ins: Ports
) -> None:
    """Move the places of each link to common heights, those of its ends where there is room."""
    at = {number: place for column in grid.columns for place, number in enumerate(column)}
    for number, chain in grid.chains.items():
        source, target = grid.boxes[links[number].source], grid.boxes[links[number].target]
        begin = tops[source] + outs[source, number]
        end = tops[target] + ins[target, number]
        run: list[int] = []
        room: _Room = (float("-inf"), float("inf"))
        for item in chain:
            free = _free(grid, at, tops, item)
            both = max(room[0], free[0]), min(room[1], free[1])
            if both[0] > both[1]:
                _level(grid, tops, run, room, begin if chain[0] in run else None)
                run, both = [], free
            run.append(item)
            room = both
        wanted = begin if chain[0] in run and _inside(begin, room) else end
        _level(grid, tops, run, room, wanted)


def _inside(y: float, room: _Room) -> bool:
    return room[0] <= y <= room[1]


def _free(grid: Grid, at: dict[int, int], tops: list[float], number: int) -> _Room:
    """Give between which heights the middle of an item can move."""
    item = grid.items[number]
    column, place = grid.columns[item.column], at[number]
    low, high = float("-inf"), float("inf")
    if place:
        above = column[place - 1]
        other = grid.items[above]
        low = tops[above] + other.height + (other.gap + item.gap) / 2 + item.height / 2
    if place + 1 < len(column):
        below = column[place + 1]
        high = tops[below] - (grid.items[below].gap + item.gap) / 2 - item.height / 2
    return low, max(low, high)


def _level(
    grid: Grid, tops: list[float], run: list[int], room: _Room, wanted: float | None
) -> None:
    middles = [tops[number] + grid.items[number].height / 2 for number in run]
    if wanted is None or len(run) == 1:
        mean = sum(middles) / len(middles)
        wanted = mean if wanted is None or not _inside(wanted, room) else wanted
    y = max(room[0], min(room[1], wanted))
    for number in run:
        tops[number] = y - grid.items[number].height / 2
