"""Which item stands above which: each near what it is connected with, with few crossings."""

from __future__ import annotations

from bisect import bisect_right, insort
from itertools import pairwise

from dexnb.graph.layout.grid import Grid

SWEEPS = 10
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
