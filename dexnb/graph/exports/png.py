"""A graph as a PNG picture: the SVG, drawn by resvg with the fonts of this machine.

The package brings no font of its own. Letters that no font here has are drawn as boxes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any, Literal

from dexnb.errors import DefinitionError, DexnbError
from dexnb.graph.drawing.theme import DARK, FONT, LIGHT
from dexnb.graph.exports.svg import to_svg
from dexnb.model.finding import Finding
from dexnb.model.flow_graph import FlowGraph

MISSING = "PNG pictures need resvg-py: pip install 'dexnb[png]'; to_svg() needs nothing"
NO_FONT = (
    "PNG pictures need a font, and none of this machine's draws a letter: install one, such as "
    "fonts-dejavu-core or DejaVu Sans; to_svg() needs none"
)
MOST_PIXELS = 36_000_000
"""Of a picture; a larger one takes many seconds and hundreds of megabytes to draw."""


def to_png(
    graph: FlowGraph,
    *,
    scale: float = 2,
    theme: Literal["light", "dark"] = "light",
    layers: Iterable[str] | None = None,
    findings: Iterable[Finding] = (),
) -> bytes:
    """Draw a graph as pixels.

    Args:
        graph: What to draw.
        scale: Pixels for one of the SVG's; less where the picture would be too large.
        theme: Its colours, on a ground of their own.
        layers: As of `to_svg`.
        findings: As of `to_svg`.

    Raises:
        DexnbError: resvg-py is not installed, or there is no font.
        DefinitionError: There is no such layer, or scale is not positive.
    """
    if not scale > 0:
        message = f"to_png scale is {scale!r}: give a number above 0"
        raise DefinitionError(message)
    svg = to_svg(graph, theme=theme, layers=layers, findings=findings)
    check_font()
    ground = (LIGHT if theme == "light" else DARK)["bg"]
    return _draw(svg, background=ground, zoom=min(scale, _largest(svg)))


def _draw(svg: str, **options: Any) -> bytes:
    try:
        draw = import_module("resvg_py").svg_to_bytes
    except ImportError:
        raise DexnbError(MISSING) from None
    return bytes(draw(svg_string=svg, **options))


def _largest(svg: str) -> float:
    """Give the largest scale at which a picture of this size can be drawn."""
    width, height = svg.partition('viewBox="')[2].partition('"')[0].split()[2:]
    return float((MOST_PIXELS / (float(width) * float(height))) ** 0.5)


@cache
def check_font() -> None:
    """See whether a letter leaves any trace in a picture; what was found out is kept.

    Raises:
        DexnbError: No letter does, or resvg-py is not installed.
    """
    frame = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40">{}</svg>'
    letter = f'<text x="4" y="30" style="font-family:{FONT};font-size:30px">W</text>'
    if _draw(frame.format(letter)) == _draw(frame.format("")):
        raise DexnbError(NO_FONT)
