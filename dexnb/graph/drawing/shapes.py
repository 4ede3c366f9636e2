"""The few shapes that a picture is made of, as markup; text is escaped here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable

from dexnb.graph.drawing.measure import Face, fit
from dexnb.model.markup import escaped

_MOST_LETTERS = 420
MOST_TITLE = 300


def number(value: float) -> str:
    """Write a coordinate, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def rect(kind: str, x: float, y: float, width: float, height: float, corner: float = 6.0) -> str:
    """Give a rectangle."""
    return (
        f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
        f'height="{number(height)}" rx="{number(corner)}"/>'
    )


def text(kind: str, x: float, y: float, words: str, *, middle: bool = False) -> str:
    """Give a line of text as it is; each is a paragraph of its own to right-to-left writing."""
    anchor = ' text-anchor="middle"' if middle else ""
    place = f'x="{number(x)}" y="{number(y)}"'
    return f'<text class="{kind}"{anchor} {place}>{escaped(words, _MOST_LETTERS)}</text>'


def line(
    kind: str,
    at: tuple[float, float],
    words: str,
    room: float,
    size: float,
    *,
    face: Face = "sans",
) -> str:
    """Give a line of text that is cut to its room, and whole where the pointer rests on it."""
    short = fit(words, room, size, face)
    drawn = text(kind, *at, short)
    return titled(drawn, words) if short.endswith("…") and short != words else drawn


def polygon(kind: str, points: Iterable[tuple[float, float]]) -> str:
    """Give a closed shape."""
    corners = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return f'<polygon class="{kind}" points="{corners}"/>'


def path(kind: str, data: str) -> str:
    """Give a line of any form."""
    return f'<path class="{kind}" d="{data}"/>'


def titled(drawn: str, title: str) -> str:
    """Say something where the pointer rests on what is drawn."""
    return f"<g><title>{escaped(title, MOST_TITLE)}</title>{drawn}</g>" if title else drawn


def diamond(x: float, y: float, half: float) -> str:
    """Give the question that several answers follow, around its middle."""
    corners = [(x, y - half), (x + half, y), (x, y + half), (x - half, y)]
    return polygon("d", corners) + text("dt", x, y + 4, "?", middle=True)


def arrow(tip: tuple[float, float], kind: str, *, down: bool = False) -> str:
    """Give the point of a way that arrives from the left, or from above."""
    x, y = tip
    wings = [(x - 4.5, y - 9), (x + 4.5, y - 9)] if down else [(x - 9, y - 4.5), (x - 9, y + 4.5)]
    return polygon(f"a {kind}".strip(), [wings[0], (x, y), wings[1]])
