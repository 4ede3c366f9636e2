"""No way that a run takes is missing in the graph, in whatever form its target is written."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from dexnb import Clock, Flow, Step
from dexnb.engine import Runtime
from dexnb.graph import read_graph
from dexnb.model.flow_graph import FlowGraph
from dexnb.model.run_view import view_of
from dexnb.providers import MemoryProvider
from tests.graph.hard_forms import HARD, UNKNOWN, Hard, Ways

RUNS = 200
each_form = pytest.mark.parametrize(("step", "ways"), HARD, ids=[step.__name__ for step, _ in HARD])


def drawn(graph: FlowGraph) -> Ways:
    """Give the ways of a graph, by the names of Steps."""
    return {
        (
            edge.kind,
            edge.source.removeprefix("step:"),
            UNKNOWN if edge.target.endswith("?") else edge.target.removeprefix("step:"),
        )
        for edge in graph.edges
    }


async def taken(flow: Flow[int], inputs: list[int]) -> Ways:
    """Run a Flow with each input, and give the ways that its runs took."""
    async with Runtime(MemoryProvider()) as runtime:
        runs = [await runtime.start(flow, str(n), each) for n, each in enumerate(inputs)]
        await asyncio.gather(*(run.wait() for run in runs), return_exceptions=True)
        views = [view_of(await run.events()) for run in runs]
    return {(way[2], way[0], way[1]) for view in views for way in view["taken"]}


@each_form
def test_d08_a_hard_form_gives_the_edges_that_a_person_would_draw(
    step: type[Step[Any]], ways: Ways
) -> None:
    """Just these; an unknown one is where only running the code can tell, and has its line."""
    graph = read_graph(Hard(step))
    assert drawn(graph) == ways
    hidden = [node for node in graph.nodes if node.kind == "unknown"]
    assert len(hidden) == sum(target == UNKNOWN for _, _, target in ways)
    first = step.execute.__code__.co_firstlineno
    assert all(node.line > first for node in hidden)
    assert graph.path == "hard_forms.py"
    codes = {each.code for each in graph.diagnostics} - {"unreachable_step"}
    assert codes == ({"dynamic_step_target"} if hidden else set())


@each_form
def test_d08_no_way_that_a_run_takes_is_missing(step: type[Step[Any]], ways: Ways) -> None:
    """Over many runs with inputs drawn at random; all that is drawn by name is really taken."""
    draw = random.Random(step.__name__)
    inputs = [draw.randrange(1000) for _ in range(RUNS)]
    found = Clock.virtual().run(taken(Hard(step), inputs))
    shown = drawn(read_graph(Hard(step)))
    hidden = {way[:2] for way in shown if way[2] == UNKNOWN}
    assert {way for way in found - shown if way[:2] not in hidden} == set()
    assert {way for way in shown if way[2] != UNKNOWN} <= found
