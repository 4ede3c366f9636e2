"""Layout: links keep off boxes and labels, ways back run apart, and large graphs are quick."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dexnb.clock import perf_counter
from dexnb.graph.layout import Box, Layout, Link, Size, arrange
from dexnb.graph.layout.ranks import backward, ranks
from tests.graph.paths import points_of

LABEL = Size(90, 16)
PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=24, unique=True)


def laid_out(pairs: list[tuple[int, int]], label: Size | None = LABEL) -> Layout:
    """Arrange ten boxes of several sizes."""
    sizes = {str(n): Size(120 + 12 * (n % 4), 50 + 22 * (n % 5), 8) for n in range(10)}
    return arrange(sizes, [Link(str(a), str(b), label) for a, b in pairs], "0")


def inside(point: tuple[float, float], box: Box) -> bool:
    """Tell whether a point is in a box, its edge left out."""
    x, y = point
    return box.x + 1 < x < box.x + box.width - 1 and box.y + 1 < y < box.y + box.height - 1


def label_box(layout: Layout, number: int) -> Box:
    """Give the room of a link's label."""
    x, y = layout.routes[number].label
    return Box(x - LABEL.width / 2, y - LABEL.height / 2, LABEL.width, LABEL.height, 0)


def overlap(one: Box, other: Box) -> bool:
    """Tell whether two boxes share room."""
    across = one.x < other.x + other.width - 0.1 and other.x < one.x + one.width - 0.1
    down = one.y < other.y + other.height - 0.1 and other.y < one.y + one.height - 0.1
    return across and down


@settings(max_examples=60)
@given(PAIRS)
def test_no_link_runs_through_a_box(pairs: list[tuple[int, int]]) -> None:
    """Circles, two-way links and those over many ranks included; each has a route."""
    layout = laid_out(pairs)
    assert set(layout.routes) == {n for n, (a, b) in enumerate(pairs) if a != b}
    for number, route in layout.routes.items():
        points = points_of(route.path)
        hit = [name for name, box in layout.boxes.items() if any(inside(p, box) for p in points)]
        assert hit == [], pairs[number]


@given(PAIRS)
def test_ranks_are_topological_generations_once_nothing_leads_back(
    pairs: list[tuple[int, int]],
) -> None:
    """As networkx counts them, but for boxes that nothing leads to."""
    names = [str(n) for n in range(10)]
    named = [(str(a), str(b)) for a, b in pairs]
    back = backward(names, named, "0")
    graph: nx.DiGraph[str] = nx.DiGraph([pair for pair in named if pair not in back])
    graph.add_nodes_from(names)
    expected = {
        name: rank
        for rank, generation in enumerate(nx.topological_generations(graph))
        for name in generation
    }
    found = ranks(names, graph.edges, "0")
    for name in names:
        if graph.in_degree(name) or name == "0":
            assert found[name] == expected[name]
        else:
            assert found[name] >= expected[name]
    assert all(found[source] < found[target] for source, target in graph.edges)


@settings(max_examples=60)
@given(PAIRS)
def test_labels_stand_on_no_box_and_on_no_other_label(pairs: list[tuple[int, int]]) -> None:
    """Each has room of its own, and what is drawn ends where the layout says."""
    layout = laid_out(pairs)
    labels = [label_box(layout, number) for number in layout.routes]
    for one, other in itertools.combinations([*labels, *layout.boxes.values()], 2):
        assert not overlap(one, other)
    for label in labels:
        assert layout.left <= label.x
        assert label.x + label.width <= layout.right
        assert layout.top <= label.y
        assert label.y + label.height <= layout.bottom


def test_links_begin_and_end_at_their_boxes() -> None:
    """On the right of the source, at the height asked for, and on the left of the target."""
    sizes = {"A": Size(200, 90, 30), "B": Size(150, 60)}
    layout = arrange(sizes, [Link("A", "B", port=70), Link("B", "A")], "A")
    boxes, there, back = layout.boxes, layout.routes[0], layout.routes[1]
    x, y = points_of(there.path)[0]
    assert (x, round(y)) == (boxes["A"].x + 200, round(boxes["A"].y + 70))
    for route, name in ((there, "B"), (back, "A")):
        box = boxes[name]
        assert route.tip[0] == box.x
        assert box.y < route.tip[1] < box.y + box.height
    assert (there.back, back.back) == (False, True)


def test_two_ways_between_the_same_boxes_run_apart() -> None:
    """There and back, and twice there: at least ten pixels between their middles."""
    sizes = {"A": Size(200, 90), "B": Size(150, 90)}
    links = [Link("A", "B", LABEL), Link("A", "B", LABEL), Link("B", "A", LABEL)]
    layout = arrange(sizes, links, "A")
    heights = sorted(route.label[1] for route in layout.routes.values())
    assert all(below - above >= 10 for above, below in itertools.pairwise(heights))


def test_a_long_link_runs_around_all_boxes_and_back_under_them() -> None:
    """Forward over the top, back under the bottom."""
    names = [f"S{n}" for n in range(12)]
    links = [Link(a, b) for a, b in itertools.pairwise(names)]
    links += [Link("S0", "S11"), Link("S11", "S0"), Link("S1", "S10")]
    layout = arrange(dict.fromkeys(names, Size(100, 50)), links, "S0")
    over, under, also = (layout.routes[n].label[1] for n in (11, 12, 13))
    assert over < 0
    assert also < 0
    assert over != also
    assert under > max(box.y + box.height for box in layout.boxes.values())


def test_the_start_stands_left_of_all_that_it_leads_to() -> None:
    """What leads back to it too; only what nothing leads to may stand before it."""
    sizes = dict.fromkeys("BACD", Size(100, 50))
    links = [Link("A", "B"), Link("B", "C"), Link("C", "A"), Link("D", "A")]
    boxes = arrange(sizes, links, "A").boxes
    assert [boxes[name].rank for name in "DABC"] == [0, 1, 2, 3]
    assert [boxes[name].x for name in "DABC"] == sorted(box.x for box in boxes.values())


def test_a_box_that_nothing_leads_to_stands_before_what_it_leads_to() -> None:
    """And not at the far left; one without any link stands under all others."""
    sizes = dict.fromkeys("ABCDX", Size(100, 50))
    links = [Link("A", "B"), Link("B", "C"), Link("D", "C")]
    boxes = arrange(sizes, links, "A").boxes
    assert (boxes["D"].rank, boxes["C"].rank) == (1, 2)
    assert boxes["X"].y > max(boxes[name].y + 50 for name in "ABCD")


def test_a_chain_longer_than_the_stack_is_laid_out() -> None:
    """Nothing here calls itself."""
    names = [str(n) for n in range(2000)]
    links = [Link(a, b) for a, b in itertools.pairwise(names)]
    boxes = arrange(dict.fromkeys(names, Size(100, 50)), links, "0").boxes
    assert boxes["1999"].rank == 1999


@pytest.mark.timing
def test_500_boxes_with_labels_are_laid_out_within_two_seconds() -> None:
    """Random trees and chains, 700 links, some far ahead and back."""
    names = [str(n) for n in range(500)]
    links = [Link(names[n // 2], names[n], LABEL) for n in range(1, 500)]
    links += [Link(names[n], names[(n * 7 + 13) % 500], LABEL) for n in range(201)]
    began = perf_counter()
    layout = arrange(dict.fromkeys(names, Size(200, 80)), links, "0")
    assert perf_counter() - began < 2
    assert len(layout.boxes) == 500
