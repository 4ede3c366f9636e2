"""How high everything stands: links as straight as the boxes allow, and nothing overlaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dexnb.graph.layout.boxes import Link, Size
from dexnb.graph.layout.grid import Grid, Item

SWEEPS = 12
_FIRST_PORT = 64.0
_LEAST_PORT = 18.0
_PORT_GAP = 14.0
_STRAIGHT = 6.0
"""How much more a bend between two places of a link weighs than one beside a box."""

Ports = dict[tuple[int, int], float]
"""Where a link meets an item, from the item's top: by item and link."""


def find_ports(grid: Grid, links: Sequence[Link], sizes: Mapping[str, Size]) -> tuple[Ports, Ports]:
    """Give where links leave their sources and where they arrive; the columns are in order."""
    place = {number: at for column in grid.columns for at, number in enumerate(column)}
    leaving: dict[int, list[tuple[float, int]]] = {}
    arriving: dict[int, list[tuple[float, int]]] = {}
    for number, link in enumerate(links):
        chain = grid.chains.get(number)
        if chain is None and number not in grid.far:
            continue
        ends = (place[chain[0]], place[chain[-1]]) if chain else (len(place), len(place))
        leaving.setdefault(grid.boxes[link.source], []).append((ends[0], number))
        arriving.setdefault(grid.boxes[link.target], []).append((ends[1], number))
    outs, ins = _spread(grid, leaving, sizes), _spread(grid, arriving, sizes)
    for item, number in outs:
        port = links[number].port
        if port is not None:
            outs[item, number] = port + sizes[grid.items[item].box].head
    return outs, ins


def _spread(
    grid: Grid, ends: dict[int, list[tuple[float, int]]], sizes: Mapping[str, Size]
) -> Ports:
    ports: Ports = {}
    for item, found in ends.items():
        size = sizes[grid.items[item].box]
        span = min(_PORT_GAP * (len(found) - 1), size.height - 2 * _LEAST_PORT)
        first = min(_FIRST_PORT, size.height / 2) - span / 2
        first = max(_LEAST_PORT, min(first, size.height - _LEAST_PORT - span))
        step = span / max(1, len(found) - 1)
        for at, (_, number) in enumerate(sorted(found)):
            ports[item, number] = size.head + first + at * step
    return ports


def find_heights(grid: Grid, outs: Ports, ins: Ports) -> list[float]:
    """Give the top of each item, from any height."""
    tops = [0.0] * len(grid.items)
    for column in grid.columns:
        shelf = _stacked(grid, column)
        middle = shelf[-1] / 2 if shelf else 0.0
        for number, top in zip(column, shelf, strict=True):
            tops[number] = top - middle
    for sweep in range(SWEEPS):
        last = sweep >= SWEEPS - 2
        for column in grid.columns if sweep % 2 == 0 else reversed(grid.columns):
            sides = (True, True) if last else (sweep % 2 == 0, sweep % 2 == 1)
            _settle(grid, column, tops, (outs, ins), sides)
    return tops


def _stacked(grid: Grid, column: list[int]) -> list[float]:
    """Give the tops of a column's items when each stands right under the one before."""
    tops: list[float] = []
    y = 0.0
    for at, number in enumerate(column):
        item = grid.items[number]
        if at:
            y += (grid.items[column[at - 1]].gap + item.gap) / 2
        tops.append(y)
        y += item.height
    return tops


def _settle(
    grid: Grid,
    column: list[int],
    tops: list[float],
    ports: tuple[Ports, Ports],
    sides: tuple[bool, bool],
) -> None:
    """Move a column's items to where their neighbours want them, as near as their order allows.

    The least sum of squares under an order is found by pooling neighbours that would overlap.
    """
    shelf = _stacked(grid, column)
    pools: list[list[float]] = []  # where, weight, count
    for number, offset in zip(column, shelf, strict=True):
        where, weight = _wanted(grid, number, tops, ports, sides)
        pools.append([where - offset, weight, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            place, other, count = pools.pop()
            pool = pools[-1]
            pool[0] = (pool[0] * pool[1] + place * other) / (pool[1] + other)
            pool[1] += other
            pool[2] += count
    at = 0
    for place, _, count in pools:
        for _ in range(int(count)):
            tops[column[at]] = place + shelf[at]
            at += 1


def _wanted(
    grid: Grid, number: int, tops: list[float], ports: tuple[Ports, Ports], sides: tuple[bool, bool]
) -> tuple[float, float]:
    """Give the top that an item's neighbours ask for, and how much they ask."""
    item = grid.items[number]
    outs, ins = ports
    total, weight = 0.0, 0.0
    for here, there, near, wanted in (
        (ins, outs, item.before, sides[0]),
        (outs, ins, item.after, sides[1]),
    ):
        for other in near if wanted else ():
            neighbour = grid.items[other]
            link = item.link if item.link >= 0 else neighbour.link
            by = _STRAIGHT if item.link >= 0 and neighbour.link >= 0 else 1.0
            y = tops[other] + _port(neighbour, other, link, there)
            total += by * (y - _port(item, number, link, here))
            weight += by
    return (total / weight, weight) if weight else (tops[number], 0.05)


def _port(item: Item, number: int, link: int, ports: Ports) -> float:
    return item.height / 2 if item.link >= 0 else ports[number, link]
