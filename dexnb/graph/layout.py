"""Where the boxes of a graph stand: ranks from left to right, deterministic, in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SWEEPS = 4
GAP_X = 112.0
GAP_Y = 36.0


@dataclass(frozen=True, slots=True)
class Size:
    """How large a box is."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Box:
    """Where a box stands: its upper left corner, its size and its rank from the left."""

    x: float
    y: float
    width: float
    height: float
    rank: int


def lay_out(
    sizes: Mapping[str, Size], ways: Iterable[tuple[str, str]], start: str = ""
) -> dict[str, Box]:
    """Place boxes so that ways lead to the right where they can.

    Args:
        sizes: The boxes by name; their order settles what is otherwise equal.
        ways: From box to box; circles and ways to itself are allowed.
        start: The box that is to stand leftmost.
    """
    targets: dict[str, list[str]] = {name: [] for name in sizes}
    for source, target in ways:
        if source in targets and target in targets and source != target:
            targets[source].append(target)
    forward = _without_circles(targets, start)
    ranks = _ranks(forward)
    columns = _columns(sizes, forward, ranks)
    return _places(sizes, columns)


def _without_circles(targets: dict[str, list[str]], start: str) -> dict[str, list[str]]:
    """Leave out each way that leads back to a box on the path to it; without recursion."""
    forward: dict[str, list[str]] = {name: [] for name in targets}
    done: set[str] = set()
    order = ([start] if start in targets else []) + [name for name in targets if name != start]
    for root in order:
        path = [(root, iter(targets[root]))]
        on_path = {root}
        while path and root not in done:
            name, rest = path[-1]
            target = next(rest, None)
            if target is None:
                path.pop()
                on_path.discard(name)
                done.add(name)
            elif target not in on_path:
                forward[name].append(target)
                if target not in done:
                    path.append((target, iter(targets[target])))
                    on_path.add(target)
    return forward


def _ranks(forward: dict[str, list[str]]) -> dict[str, int]:
    """Give each box the length of the longest way to it."""
    waiting = dict.fromkeys(forward, 0)
    for targets in forward.values():
        for target in targets:
            waiting[target] += 1
    ranks = dict.fromkeys(forward, 0)
    ready = [name for name, count in waiting.items() if count == 0]
    for name in ready:
        for target in forward[name]:
            ranks[target] = max(ranks[target], ranks[name] + 1)
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    return ranks


def _columns(
    sizes: Mapping[str, Size], forward: dict[str, list[str]], ranks: dict[str, int]
) -> list[list[str]]:
    """Give the boxes of each rank from top to bottom, near what they are connected with."""
    columns: list[list[str]] = [[] for _ in range(max(ranks.values(), default=-1) + 1)]
    for name in sizes:
        columns[ranks[name]].append(name)
    near: dict[str, list[str]] = {name: [] for name in sizes}
    for source, targets in forward.items():
        for target in targets:
            near[source].append(target)
            near[target].append(source)
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            place = {name: row / len(each) for each in columns for row, name in enumerate(each)}
            column.sort(key=lambda name: _mean([place[other] for other in near[name]], place[name]))
    return columns


def _mean(places: list[float], default: float) -> float:
    return sum(places) / len(places) if places else default


def _places(sizes: Mapping[str, Size], columns: list[list[str]]) -> dict[str, Box]:
    heights = [sum(sizes[name].height + GAP_Y for name in column) - GAP_Y for column in columns]
    tallest = max(heights, default=0.0)
    boxes: dict[str, Box] = {}
    x = 0.0
    for rank, column in enumerate(columns):
        y = (tallest - heights[rank]) / 2
        width = max(sizes[name].width for name in column)
        for name in column:
            size = sizes[name]
            boxes[name] = Box(x + (width - size.width) / 2, y, size.width, size.height, rank)
            y += size.height + GAP_Y
        x += width + GAP_X
    return boxes
