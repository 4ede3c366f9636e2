"""PNG: the picture's own size and colours, letters that were really drawn, and clear refusals."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from dexnb.errors import DefinitionError, DexnbError
from dexnb.graph.exports import png, to_png, to_svg
from dexnb.model.flow_graph import FlowGraph
from tests.graph import made
from tests.graph.exports.png_file import rows_of

ONE = FlowGraph("F", "step:Wait", nodes=(made.step("Wait", start=True),))


@pytest.mark.parametrize(("theme", "ground"), [("light", (255, 255, 255)), ("dark", (21, 24, 30))])
def test_letters_are_drawn_in_the_themes_colours(theme: Any, ground: tuple[int, ...]) -> None:
    """On the theme's ground; without its text, much of the picture is missing."""
    rows = rows_of(to_png(ONE, theme=theme, scale=1, layers=["ground"]))
    assert rows[0][0][:3] == ground
    # The Step's name stands in its upper left part, where nothing else is drawn.
    name = [pixel[:3] for row in rows[34:58] for pixel in row[38:78]]
    assert len(set(name)) > 5
    assert 0.05 < sum(pixel != ground for pixel in name) / len(name) < 0.8


def test_scale_gives_the_pixels() -> None:
    """Twice as many each way as the SVG has, unless asked for another number."""
    svg = to_svg(ONE)
    _, _, width, height = map(float, svg.partition('viewBox="')[2].partition('"')[0].split())
    for scale in (1, 2, 0.5):
        rows = rows_of(to_png(ONE, scale=scale))
        assert len(rows) == pytest.approx(height * scale, abs=1)
        assert len(rows[0]) == pytest.approx(width * scale, abs=1)


def test_a_picture_too_large_for_memory_is_drawn_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of taking gigabytes."""
    monkeypatch.setattr(png, "MOST_PIXELS", 10_000)
    rows = rows_of(to_png(ONE, scale=50))
    assert 5_000 < len(rows) * len(rows[0]) <= 10_500


def test_a_scale_that_is_none_is_refused() -> None:
    """Zero and less, and what is no number."""
    for scale in (0, -1, float("nan")):
        with pytest.raises(DefinitionError, match="to_png scale is"):
            to_png(ONE, scale=scale)


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what needs nothing."""
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    png.check_font.cache_clear()
    with pytest.raises(DexnbError, match=r"pip install 'dexnb\[png\]'; to_svg\(\) needs nothing"):
        to_png(ONE)


def test_a_machine_without_fonts_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture without a single letter is no picture of a Flow."""
    import resvg_py

    drawn = resvg_py.svg_to_bytes
    monkeypatch.setattr(
        resvg_py, "svg_to_bytes", lambda **more: drawn(skip_system_fonts=True, **more)
    )
    png.check_font.cache_clear()
    with pytest.raises(DexnbError, match="need a font, and none of this machine's"):
        to_png(ONE)
    png.check_font.cache_clear()
