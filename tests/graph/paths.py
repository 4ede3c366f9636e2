"""Path data of SVG as points, to see where a line of a picture runs."""

from __future__ import annotations

import re
from itertools import pairwise

Point = tuple[float, float]

_STEPS = 12


def points_of(data: str) -> list[Point]:
    """Walk along a path of M, L, H, C and Q with absolute coordinates."""
    found: list[Point] = []
    for letter, rest in re.findall(r"([MLHVCQ])([^MLHVCQ]*)", data):
        numbers = [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?", rest)]
        if letter == "H":
            numbers = [numbers[0], found[-1][1]]
        elif letter == "V":
            numbers = [found[-1][0], numbers[0]]
        corners = list(zip(numbers[::2], numbers[1::2], strict=True))
        if letter == "M":
            found.append(corners[0])
        else:
            found += _walk([found[-1], *corners])
    return found


def _walk(corners: list[Point]) -> list[Point]:
    return [_at(corners, step / _STEPS) for step in range(1, _STEPS + 1)]


def _at(corners: list[Point], share: float) -> Point:
    """Give a point of a Bezier curve of any degree."""
    while len(corners) > 1:
        corners = [
            (a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share)
            for a, b in pairwise(corners)
        ]
    return corners[0]
