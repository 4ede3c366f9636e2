"""Which item stands above which: each near what it is connected with, with few crossings."""

from __future__ import annotations

from bisect import bisect_right, insort
from itertools import pairwise

from dexnb.graph.layout.grid import Grid

SWEEPS = 10
MOST_SWITCHED = 4000
"""Items up to which neighbours are tried the other way round."""

_PATIENCE = 3


def put_in_order(grid: Grid) -> None:
    """Sort the columns, from what they are, so that few links cross; the best of some sweeps."""
    best = [list(column) for column in grid.columns]
    fewest = crossings(grid, grid.columns)
    idle = 0
    for sweep in range(SWEEPS):
        if fewest == 0 or idle >= _PATIENCE:
            break
        _sweep(grid, rightward=sweep % 2 == 0)
        count = crossings(grid, grid.columns)
        idle = 0 if count < fewest else idle + 1
        if count < fewest:
            fewest, best = count, [list(column) for column in grid.columns]
    grid.columns = best
    for _ in range(SWEEPS if fewest and len(grid.items) <= MOST_SWITCHED else 0):
        if not sum(_switched(grid, at) for at in range(len(grid.columns))):
            break


def _switched(grid: Grid, at: int) -> bool:
    """Switch neighbours of a column wherever that takes crossings away; tell whether any did."""
    column = grid.columns[at]
    left = _places(grid, at - 1)
    right = _places(grid, at + 1)
    changed = False
    for upper in range(len(column) - 1):
        one, other = grid.items[column[upper]], grid.items[column[upper + 1]]
        ends = [
            ([left[each] for each in one.before], [left[each] for each in other.before]),
            ([right[each] for each in one.after], [right[each] for each in other.after]),
        ]
        gain = sum(_crossed(a, b) - _crossed(b, a) for a, b in ends)
        if gain > 0:
            column[upper : upper + 2] = column[upper + 1], column[upper]
            changed = True
    return changed


def _places(grid: Grid, at: int) -> dict[int, int]:
    column = grid.columns[at] if 0 <= at < len(grid.columns) else []
    return {number: place for place, number in enumerate(column)}


def _crossed(upper: list[int], lower: list[int]) -> int:
    return sum(one > other for one in upper for other in lower)


def _sweep(grid: Grid, *, rightward: bool) -> None:
    place = [0.0] * len(grid.items)
    for column in grid.columns if rightward else reversed(grid.columns):
        wanted: dict[int, float] = {}
        for at, number in enumerate(column):
            shares = _shares(grid, number, place, rightward=rightward)
            wanted[number] = sum(shares) / len(shares) if shares else at / len(column)
        column.sort(key=wanted.__getitem__)
        for at, number in enumerate(column):
            place[number] = (at + 0.5) / len(column)


def _shares(grid: Grid, number: int, place: list[float], *, rightward: bool) -> list[float]:
    """Give where the neighbours are; of a box, where on it the link leaves."""
    item = grid.items[number]
    if not rightward:
        return [place[other] for other in item.after]
    shares = []
    for other in item.before:
        after = grid.items[other].after
        tilt = (after.index(number) + 0.5) / len(after) - 0.5 if len(after) > 1 else 0.0
        shares.append(place[other] + tilt / len(grid.columns[grid.items[other].column]))
    return shares


def crossings(grid: Grid, columns: list[list[int]]) -> int:
    """Count the links that cross between neighbouring columns."""
    total = 0
    for left, right in pairwise(columns):
        place = {number: at for at, number in enumerate(right)}
        seen: list[int] = []
        for number in left:
            for other in grid.items[number].after:
                total += len(seen) - bisect_right(seen, place[other])
                insort(seen, place[other])
    return total
