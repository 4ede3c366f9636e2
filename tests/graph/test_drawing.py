"""The picture of a graph: every kind of node and edge is there, loops outside, badges in place."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dexnb.clock import perf_counter
from dexnb.errors import DefinitionError
from dexnb.graph.drawing.layers import Layer
from dexnb.graph.drawing.measure import fit, text_width
from dexnb.graph.drawing.theme import DARK, LIGHT
from dexnb.graph.exports import to_svg
from dexnb.model.finding import Finding
from dexnb.model.flow_graph import Diagnostic, FlowGraph
from tests.graph import made
from tests.graph.paths import points_of
from tests.house.tree import ROOT

THEMES: list[Any] = ["light", "dark", "auto"]
SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ET.Element:
    """Read a picture of our own."""
    return ET.fromstring(svg)  # noqa: S314 - what we drew ourselves


def said(svg: str) -> str:
    """Give all of a picture's text, titles included."""
    return " ".join(parsed(svg).itertext())


def labels(svg: str, kind: str) -> list[str]:
    """Give the texts of a class."""
    found = parsed(svg).iter(f"{SVG}text")
    return ["".join(each.itertext()) for each in found if each.get("class") == kind]


def finding(code: str, severity: Any, node: str) -> Finding:
    """Make a finding about a node."""
    return Finding(code, code.lower(), severity, f"{code} of {node}", node=node)


@pytest.mark.parametrize("theme", THEMES)
def test_every_kind_of_node_and_edge_is_drawn(theme: Any) -> None:
    """By name, with its own sign, its guards, and what a Step does with what the Flow keeps."""
    svg = to_svg(made.shop(), theme=theme)
    words = said(svg)
    for part in (
        *("OrderFlow", "python · orders.py · 1 remark", "Valid", "START", "TIMEOUT"),
        *("any_of", "timer 15 min", "payments at least 1", "skip_wait_immediately"),
        *("go_to_many", "force_complete_if_channels_empty", "if empty payments", "dead_end"),
        *("cancels NotifyCustomer (siblings)", "Execute failure", "paid >= order.total"),
        *("RPC cancel_order", "SubFlow ParcelFlow", "Unknown", "orders.py, line 48"),
        *("writes status", "locks lines", "reads status", "publishes payments"),
        *("writes Progress, Nowhere", "not registered", "map of Line"),
    ):
        assert part in words, part
    assert svg.count('class="d"') == 3 + 1  # the dispatches and the legend
    assert len(re.findall(r'<path class="e', svg)) == 10 + 2


@pytest.mark.parametrize("theme", THEMES)
def test_d01_a_way_to_the_same_step_is_seen_outside_of_it(theme: Any) -> None:
    """At least 20 px above its box, with a point and its guard, on no other box."""
    loop = FlowGraph(
        "Loop",
        "step:Check",
        nodes=(made.step("Check", start=True), made.step("Next")),
        edges=(
            made.way("step:Check", "step:Check", when="job.state is RUNNING"),
            made.way("step:Check", "step:Next"),
        ),
    )
    svg = to_svg(loop, theme=theme, layers=["guards"])
    paths = [points_of(data) for data in re.findall(r'<path class="e" d="([^"]+)"', svg)]
    x, y = (float(each) for each in re.findall(r'<rect class="f" x="([^"]+)" y="([^"]+)"', svg)[0])
    (way,) = [points for points in paths if points[0][1] == points[-1][1] == y]
    assert min(point[1] for point in way) <= y - 20
    assert all(point[0] >= x for point in way)
    assert f"{way[-1][0]:g},{y:g}" in svg  # the point's tip
    assert labels(svg, "l") == ["job.state is RUNNING"]
    assert min(point[1] for point in way) > float(svg.partition('viewBox="')[2].split()[1])


def test_two_graphs_alike_give_the_same_bytes_in_another_process_too() -> None:
    """Whatever order that process gives to sets."""
    code = (
        "from tests.graph import made\nfrom dexnb.graph.exports import to_svg\n"
        "import hashlib\nprint(hashlib.sha256((to_svg(made.shop()) + "
        "to_svg(made.tangle(3))).encode()).hexdigest())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("layer", "word"),
    [
        ("header", "orders.py ·"),
        ("settings", "heartbeat_timeout"),
        ("waits", "any_of"),
        ("guards", ""),
        ("failures", "Execute failure"),
        ("streams", "Progress"),
        ("channels", "publishes"),
        ("attributes", "map of Line"),
        ("rpcs", "cancel_order"),
        ("subflows", "ParcelFlow"),
        ("resources", "not registered"),
        ("legend", "cannot be told from the source"),
        ("ground", ""),
    ],
)
def test_a_layer_can_be_left_out(layer: str, word: str) -> None:
    """What it shows is gone, and all else is there."""
    layers = set(get_args(Layer))
    assert layer in layers
    whole, less = to_svg(made.shop()), to_svg(made.shop(), layers=layers - {layer})
    # What a Step waits for stays in its cards when the other names it.
    if word:
        assert word in said(whole)
        assert word not in said(less).replace("SubFlow ParcelFlow", "")
    assert len(less) < len(whole)
    assert "AwaitPayment" in said(less)


def test_a_layer_that_there_is_not_is_refused_by_name() -> None:
    """With the names that there are."""
    with pytest.raises(DefinitionError, match=r"layers has edges: choose among ground, header"):
        to_svg(made.shop(), layers=["edges"])


def test_findings_are_badges_on_the_nodes_that_they_name() -> None:
    """Counted by severity; those about the Flow, or about what is not drawn, are in the header."""
    shop = made.shop()
    findings = [
        finding("DX101", "error", made.AWAIT),
        finding("DX104", "error", made.AWAIT),
        finding("DX103", "warning", made.AWAIT),
        finding("DX305", "note", f"decision:{made.AWAIT}:2"),
        finding("DX402", "note", "resource:attribute:lines"),
        finding("DX404", "warning", ""),
        finding("DX404", "note", "step:Gone"),
    ]
    root = parsed(to_svg(shop, findings=findings))
    told = {
        title.text: [rect.get("class") for rect in group.findall(f"{SVG}rect")]
        for group in root.iter(f"{SVG}g")
        for title in group.findall(f"{SVG}title")
        if (title.text or "").startswith("DX")
    }
    assert told == {
        "DX101 dx101: DX101 of step:AwaitPayment · DX104 dx104: DX104 of step:AwaitPayment": [
            "b error"
        ],
        "DX103 dx103: DX103 of step:AwaitPayment": ["b warning"],
        "DX305 dx305: DX305 of decision:step:AwaitPayment:2": ["b note"],
        "DX402 dx402: DX402 of resource:attribute:lines": ["b note"],
        "DX404 dx404: DX404 of": ["b warning"],
        "DX404 dx404: DX404 of step:Gone": ["b note"],
    }
    assert "Needs attention" in said(to_svg(shop, findings=findings))
    assert "Needs attention" not in said(to_svg(shop, findings=findings[3:5]))


def test_a_graph_with_an_error_needs_attention() -> None:
    """What it is stands under the pointer."""
    shop = made.shop()
    errors = (Diagnostic("unknown_step_target", "error", "goTo X, which is not listed"),)
    svg = to_svg(FlowGraph(shop.name, shop.startStepId, "", shop.nodes, shop.edges, errors))
    assert "Needs attention" in said(svg)
    assert "goTo X, which is not listed" in said(svg)


def test_edges_alike_are_drawn_as_one_with_their_number() -> None:
    """And a failure beside a transition stays a way of its own."""
    edges = (
        made.way("step:A", "step:B"),
        made.way("step:A", "step:B", label="again"),
        made.way("step:A", "step:B", "failure_transition", "Execute failure"),
    )
    graph = FlowGraph("Twice", "step:A", nodes=(made.step("A"), made.step("B")), edges=edges)
    svg = to_svg(graph, layers=["failures", "guards"])
    assert len(re.findall(r'<path class="e', svg)) == 2
    assert labels(svg, "l") == ["\u00d72"]
    assert labels(svg, "l rec") == ["Execute failure"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_of_its_own_needs_no_variables(theme: Any) -> None:
    """Programs that are no browser know none; every colour is there in full."""
    svg = to_svg(made.shop(), theme=theme)
    assert "var(" not in svg
    assert "prefers-color-scheme" not in svg


def test_a_picture_that_follows_its_page_has_both_themes() -> None:
    """The notebook's, where it says which it has, before the system's."""
    svg = to_svg(made.shop())
    assert "@media(prefers-color-scheme:dark){.dxg-auto{" in svg
    assert '[data-jp-theme-light="false"] .dxg-auto' in svg


def contrast(one: str, other: str) -> float:
    """Give the contrast of two colours as WCAG counts it, but for the darkest ones."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (float(((part + 0.055) / 1.055) ** 2.4) for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_text_and_signs_stand_out_from_their_ground() -> None:
    """Text 4.5 to 1, coloured lines 3 to 1, in both themes."""
    for palette in (LIGHT, DARK):
        for ground in ("bg", "panel"):
            for name in ("fg", "sub", "rec", "res", "ok", "bad"):
                assert contrast(palette[name], palette[ground]) >= 4.5, (name, ground)
            for name in ("edge", "go", "odd"):
                assert contrast(palette[name], palette[ground]) >= 3, (name, ground)
        for name in ("ok", "rec", "bad", "odd", "go"):
            assert contrast(palette["on"], palette[name]) >= 4.5, name


@settings(max_examples=100)
@given(st.text(max_size=120), st.floats(20, 400))
def test_text_that_is_cut_fits_its_room(text: str, room: float) -> None:
    """Wide letters and letters without a width of their own included."""
    short = fit(text, room, 11)
    assert text_width(short, 11) <= room + 0.1
    assert "\n" not in short


def test_wide_and_combining_letters_are_measured_as_such() -> None:
    """East Asian letters take twice a digit, accents nothing."""
    assert text_width("待機", 10) > 20
    assert text_width("e\u0301", 10) == text_width("e", 10)


@pytest.mark.timing
def test_d05_500_steps_and_700_edges_are_drawn_within_two_seconds() -> None:
    """All of them: nothing is left out."""
    large = made.large()
    began = perf_counter()
    svg = to_svg(large)
    assert perf_counter() - began < 2
    assert svg.count('class="n"') == 500
    assert len(re.findall(r'<path class="e', svg)) == len(large.edges) + 1  # the legend's
