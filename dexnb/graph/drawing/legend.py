"""What the signs of a picture mean, for those that it has."""

from __future__ import annotations

from collections.abc import Callable

from dexnb.graph.drawing import shapes
from dexnb.graph.drawing.measure import text_width
from dexnb.graph.drawing.parts import Parts

_SIGN = 30.0
_ROW = 22.0
_GAP = 22.0
_SUB = 10.5

Sign = Callable[[float, float], str]
Entry = tuple[str, Sign]


def _way(kind: str) -> Sign:
    def draw(x: float, y: float) -> str:
        name = f"e {kind}".strip()
        return shapes.path(name, f"M{x:.1f} {y:.1f}H{x + 20:.1f}") + shapes.arrow((x + 24, y), kind)

    return draw


def _frame(kind: str) -> Sign:
    return lambda x, y: shapes.rect(kind, x, y - 7, 24, 14, 4)


def _hexagon(x: float, y: float) -> str:
    corners = [
        (x, y),
        (x + 6, y - 7),
        (x + 18, y - 7),
        (x + 24, y),
        (x + 18, y + 7),
        (x + 6, y + 7),
    ]
    return shapes.polygon("f rpc", corners)


def _diamond(x: float, y: float) -> str:
    return shapes.diamond(x + 12, y, 9)


def legend_entries(parts: Parts) -> list[Entry]:
    """Give the signs that need a word, in a fixed order."""
    kinds = {way.edge.kind for way in parts.ways}
    boxes = {node.kind for node in parts.boxes.values()}
    inner = {node.kind for nodes in parts.inner.values() for node in nodes}
    found: list[tuple[bool, Entry]] = [
        ("transition" in kinds, ("decision leads to", _way(""))),
        ("failure_transition" in kinds, ("when every attempt of execute has failed", _way("rec"))),
        (bool(inner & {"decision_dispatch", "wait_dispatch"}), ("one of these", _diamond)),
        ("wait" in inner, ("waits first", _frame("c w"))),
        ("rpc" in boxes, ("called from outside", _hexagon)),
        ("subflow" in boxes, ("another Flow", _frame("f sub"))),
        ("unknown" in boxes, ("cannot be told from the source", _frame("f unknown"))),
    ]
    return [entry for there, entry in found if there]


def draw_legend(
    entries: list[Entry], left: float, y: float, right: float
) -> tuple[float, float, str]:
    """Draw a legend; give its right edge, its height and the markup."""
    parts, x, widest, top = [], left, left, y
    for words, sign in entries:
        width = _SIGN + text_width(words, _SUB)
        if x > left and x + width > right:
            x, y = left, y + _ROW
        parts.append(sign(x, y - 3.5) + shapes.text("s", x + _SIGN, y, words))
        x += width + _GAP
        widest = max(widest, x - _GAP)
    return widest, y - top + 4, "".join(parts)
