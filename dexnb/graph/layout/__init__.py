"""Where the boxes of a graph stand and how links run: ranks from left to right, deterministic.

The Sugiyama way: links that lead back are set aside, boxes get ranks, columns an order with few
crossings, everything a height at which links are as straight as boxes allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dexnb.graph.layout.boxes import Box, Layout, Link, Route, Size
from dexnb.graph.layout.grid import Grid, make_grid
from dexnb.graph.layout.heights import find_heights, find_ports
from dexnb.graph.layout.order import put_in_order
from dexnb.graph.layout.ranks import backward, ranks
from dexnb.graph.layout.routes import LANE, Plan, far_routes, near_route
from dexnb.graph.layout.straight import straighten

__all__ = ["Box", "Layout", "Link", "Route", "Size", "arrange", "lay_out"]

_GAP_X = 30.0
_STEEP = 0.05
_MOST_GAP_X = 64.0
_SHELF = 900.0
_SHELF_GAP = 40.0


def lay_out(
    sizes: Mapping[str, Size], ways: Iterable[tuple[str, str]], start: str = ""
) -> dict[str, Box]:
    """Place boxes so that ways lead to the right where they can.

    Args:
        sizes: The boxes by name; their order settles what is otherwise equal.
        ways: From box to box; circles and ways to itself are allowed.
        start: The box that is to stand leftmost of all that it leads to.
    """
    links = [Link(source, target) for source, target in ways]
    return dict(arrange(sizes, links, start).boxes)


def arrange(sizes: Mapping[str, Size], links: Sequence[Link], start: str = "") -> Layout:
    """Place boxes and lead links around them.

    No link runs through a box and no label stands on one. Boxes without any link stand on shelves
    under the others. Links from or to boxes that are not there, and to the same box, get no route.

    Args:
        sizes: The boxes by name; their order settles what is otherwise equal.
        links: Ways between them; circles are allowed.
        start: The box that is to stand leftmost of all that it leads to.
    """
    usable = {
        number: link
        for number, link in enumerate(links)
        if link.source in sizes and link.target in sizes and link.source != link.target
    }
    tied = {start, *(name for link in usable.values() for name in (link.source, link.target))}
    linked = {name: size for name, size in sizes.items() if name in tied}
    main = _arranged(linked, list(usable.values()), start)
    routes = {number: main.routes[at] for at, number in enumerate(usable)}
    loose = {name: size for name, size in sizes.items() if name not in tied}
    return _with_shelves(Layout(main.boxes, routes, *_bounds(main)), loose)


def _arranged(sizes: Mapping[str, Size], links: Sequence[Link], start: str) -> Layout:
    pairs = list(dict.fromkeys((link.source, link.target) for link in links))
    back = backward(list(sizes), pairs, start)
    rank_of = ranks(list(sizes), [pair for pair in pairs if pair not in back], start)
    grid = make_grid(sizes, links, rank_of)
    put_in_order(grid)
    outs, ins = find_ports(grid, links, sizes)
    tops = find_heights(grid, outs, ins)
    straighten(grid, links, tops, outs, ins)
    highest = min(tops, default=0.0)
    tops = [top - highest for top in tops]
    lefts, rights = _columns(grid, tops)
    boxes = {
        name: Box(
            lefts[grid.items[item].column],
            tops[item] + sizes[name].head,
            sizes[name].width,
            sizes[name].height,
            rank_of[name],
        )
        for name, item in grid.boxes.items()
    }
    plan = Plan(grid, links, boxes, lefts, rights, tops, outs, ins)
    bottom = max((tops[n] + item.height for n, item in enumerate(grid.items)), default=0.0)
    routes = {number: near_route(plan, number) for number in grid.chains}
    far = far_routes(plan, 0.0, bottom)
    top = min([0.0, *(route.label[1] - LANE / 2 for route in far.values())])
    bottom = max([bottom, *(route.label[1] + LANE / 2 for route in far.values())])
    turns = bool(grid.columns and grid.columns[0])
    return Layout(
        boxes, {**routes, **far}, -_GAP_X if turns else 0.0, top, max(rights, default=0.0), bottom
    )


def _columns(grid: Grid, tops: list[float]) -> tuple[list[float], list[float]]:
    """Give where each column begins and ends; links that climb far get more room to do it."""
    lefts: list[float] = []
    rights: list[float] = []
    x = 0.0
    for at, column in enumerate(grid.columns):
        if at > 1:
            x += _gap(grid, column, tops)
        lefts.append(x)
        x += max((grid.items[number].width for number in column), default=0.0)
        rights.append(x)
    return lefts, rights


def _gap(grid: Grid, column: list[int], tops: list[float]) -> float:
    climbs = (
        abs(tops[other] - tops[number])
        for number in column
        for other in grid.items[number].before
        if grid.items[number].link >= 0 or grid.items[other].link >= 0
    )
    return min(_MOST_GAP_X, _GAP_X + _STEEP * max(climbs, default=0.0))


def _bounds(layout: Layout) -> tuple[float, float, float, float]:
    return layout.left, layout.top, layout.right, layout.bottom


def _with_shelves(main: Layout, loose: Mapping[str, Size]) -> Layout:
    """Put boxes without links in rows under the others."""
    boxes = dict(main.boxes)
    widest = max(_SHELF, main.right)
    x, right, bottom = 0.0, main.right, main.bottom
    y = main.bottom + (_SHELF_GAP if boxes else 0.0)
    for name, size in loose.items():
        if x and x + size.width > widest:
            x, y = 0.0, bottom + _SHELF_GAP
        boxes[name] = Box(x, y + size.head, size.width, size.height, 0)
        right, bottom = max(right, x + size.width), max(bottom, y + size.head + size.height)
        x += size.width + _SHELF_GAP
    return Layout(boxes, main.routes, main.left, main.top, right, bottom)
