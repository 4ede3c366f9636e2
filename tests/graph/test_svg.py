"""The graph's picture: deterministic, well-formed, bounded, loops outside their boxes, no code."""

from __future__ import annotations

import itertools
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from dexnb.clock import perf_counter
from dexnb.examples.polling import PollingFlow
from dexnb.graph import read_graph
from dexnb.graph.layout import Size, lay_out
from dexnb.graph.svg import graph_svg
from dexnb.jobs import InProcessJobs
from dexnb.model.flow_graph import Edge, FlowGraph, Node
from dexnb.model.settings import StepSettings

NASTY = '"><script>alert(1)</script>\x00\ud800\u202e onload="x'


def node(name: str) -> Node:
    """Make a Step's node."""
    return Node(f"step:{name}", "step", name, settings=StepSettings().to_json())


def edge(source: str, target: str, kind: Any = "transition", label: str = "") -> Edge:
    """Make a way between Steps."""
    return Edge(f"{kind}:{source}:{target}", kind, f"step:{source}", f"step:{target}", label)


def graph(*names: str, ways: list[tuple[str, str]]) -> FlowGraph:
    """Make a graph of Steps."""
    edges = tuple(edge(source, target) for source, target in ways)
    return FlowGraph("Flow", f"step:{names[0]}", nodes=tuple(map(node, names)), edges=edges)


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_the_example_is_drawn_the_same_twice(theme: Any) -> None:
    """Its Steps, cards, conditions, Stream and recovery can be read."""
    read = read_graph(PollingFlow(InProcessJobs()))
    svg = graph_svg(read, theme=theme)
    said = " ".join(ET.fromstring(svg).itertext())  # noqa: S314 - what we drew ourselves
    parts = ["StartJob", "AwaitJob", "START", "graceful_complete", "force_fail", "go_to AwaitJob"]
    for part in [*parts, "Execute failure", "writes JobProgress", "10 min", "otherwise"]:
        assert part in said
    assert graph_svg(read, theme=theme) == svg
    assert ("prefers-color-scheme" in svg) == (theme == "auto")


def test_a_steps_settings_say_what_each_is() -> None:
    """Where the pointer rests on the line of numbers."""
    svg = graph_svg(graph("Poll", ways=[]))
    (title,) = re.findall(r"<title>(execute_method_timeout[^<]*)</title>", svg)
    assert title == (
        "execute_method_timeout 2 h: one attempt at most · ♥ heartbeat_timeout 1 min: silence at "
        "most · ↻ execute_retry 4 h: no retry after that"
    )


def test_what_a_run_did_is_marked() -> None:
    """Ways that were taken, and where the run is."""
    read = read_graph(PollingFlow(InProcessJobs()))
    svg = graph_svg(
        read,
        taken=[("StartJob", "AwaitJob", "transition")],
        states={"StartJob": "done", "AwaitJob": "running"},
    )
    for kind in ("e taken", "f done", "f running"):
        assert f'class="{kind}"' in svg


def test_a_way_to_itself_is_drawn_outside_its_box() -> None:
    """By 20 px and more."""
    svg = graph_svg(graph("Loop", ways=[("Loop", "Loop")]))
    (path,) = re.findall(r'<path class="e[^"]*" d="([^"]+)"', svg)
    (box,) = re.findall(r'<rect class="f" x="([^"]+)" y="([^"]+)"', svg)
    heights = [float(y) for _, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]
    # A cubic with both controls at that height reaches three quarters of it.
    assert (float(box[1]) - min(heights)) * 0.75 >= 20


def test_names_from_outside_stay_text() -> None:
    """Escaped, cleaned and cut; the picture stays XML."""
    nasty = node(NASTY * 50)
    card = Node(
        "decision:x",
        "decision",
        NASTY,
        parentId=nasty.id,
        condition=NASTY * 50,
        decision={"type": NASTY, "targets": [NASTY]},
    )
    made = FlowGraph(
        NASTY, nasty.id, nodes=(nasty, card), edges=(edge(NASTY * 50, NASTY * 50, label=NASTY),)
    )
    svg = graph_svg(made)
    ET.fromstring(svg)  # noqa: S314 - what we drew ourselves
    assert "<script" not in svg
    assert 'onload="' not in svg
    assert len(svg) < 8000


def test_a_large_graph_is_laid_out_quickly_and_drawn_bounded() -> None:
    """500 Steps and 700 ways in two seconds; the picture says how many it leaves out."""
    names = [f"S{number}" for number in range(500)]
    ways = list(itertools.pairwise(names))
    ways += [(names[n], names[(n * 7 + 13) % 500]) for n in range(201)]
    large = graph(*names, ways=ways)
    began = perf_counter()
    boxes = lay_out(dict.fromkeys(names, Size(200, 80)), ways, "S0")
    svg = graph_svg(large)
    assert perf_counter() - began < 2
    assert len(boxes) == 500
    assert "… and 420 more" in svg
    assert len(svg) < 120_000


def overlaps(boxes: dict[str, Any]) -> list[tuple[str, str]]:
    """Give pairs of boxes that stand on each other."""
    return [
        (a, b)
        for (a, one), (b, other) in itertools.combinations(boxes.items(), 2)
        if one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    ]


@pytest.mark.parametrize(
    "ways",
    [
        [],
        [("A", "B"), ("B", "C"), ("C", "A")],
        [("A", "A"), ("A", "B"), ("A", "C"), ("A", "D"), ("D", "A")],
        [("B", "C"), ("C", "D"), ("D", "B")],
        [("A", "B"), ("A", "X"), ("X", "B")],
    ],
)
def test_boxes_never_overlap_and_the_start_stands_left(ways: list[tuple[str, str]]) -> None:
    """Circles, unreachable boxes and ways to boxes that are not there included."""
    sizes = {name: Size(100 + 10 * n, 60 + 30 * n) for n, name in enumerate("ABCD")}
    boxes = lay_out(sizes, ways, "A")
    assert overlaps(boxes) == []
    assert boxes["A"].rank == 0
    assert lay_out(sizes, ways, "A") == boxes
    if ("A", "B") in ways:
        assert boxes["B"].rank > boxes["A"].rank
