"""Each form in which code says what follows gives the edges that a person would draw."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Any

import pytest

from dexnb.flow.step import Step
from dexnb.graph import read_graph
from dexnb.model.flow_graph import FlowGraph
from tests.graph.forms import FORMS, UNKNOWN, Expected, OneOf
from tests.graph.more_forms import DONE

each_form = pytest.mark.parametrize(
    ("step", "expected"), FORMS, ids=[step.__name__ for step, _ in FORMS]
)


def shown(graph: FlowGraph, step: str) -> Expected:
    """Give what a graph says of one Step: type, target and condition of each decision."""
    found: Expected = set()
    for node in graph.nodes:
        if node.kind == "decision" and node.parentId == f"step:{step}" and node.decision:
            targets = [
                UNKNOWN if target.endswith("?") else target.removeprefix("step:")
                for target in node.decision["targets"]
            ]
            for target in targets or [""]:
                found.add((node.decision["type"], target, node.condition))
    return found


@each_form
def test_a_form_gives_its_edges(step: type[Step[Any]], expected: Expected) -> None:
    """Decisions, targets and conditions equal the answer written by hand beside the form."""
    graph = read_graph(OneOf(step))
    name = step.__name__

    assert shown(graph, name) == {(kind, target, condition) for kind, target, condition in expected}
    ways = {edge.target for edge in graph.edges if edge.source == f"step:{name}"}
    assert ways == {
        f"unknown:step:{name}?" if target == UNKNOWN else f"step:{target}"
        for _, target, _ in expected
        if target
    }


@each_form
def test_a_form_is_read_the_same_twice_and_survives_json(
    step: type[Step[Any]], expected: Expected
) -> None:
    """Reading is deterministic, and the document comes back from its JSON text."""
    graph = read_graph(OneOf(step))

    assert read_graph(OneOf(step)) == graph
    assert FlowGraph.from_json(json.loads(json.dumps(graph.to_json(), allow_nan=False))) == graph


def decided(step: Step[Any], value: int) -> Any:
    """Run a Step's method without an engine; None where it raises."""

    async def awaited(coroutine: Any) -> Any:
        return await asyncio.wait_for(coroutine, 0.01)

    try:
        result = step.execute(None, value)
        if inspect.iscoroutine(result):
            return asyncio.run(awaited(result))
        while inspect.isgenerator(result):
            next(result)
    except StopIteration as stop:
        return stop.value
    except Exception:  # noqa: BLE001 - a form may fail for some inputs
        return None
    return result


@each_form
def test_no_decision_is_taken_that_the_graph_lacks(
    step: type[Step[Any]], expected: Expected
) -> None:
    """Each decision that really running the form gives is in its graph, or an unknown edge is."""
    found = {(kind, target) for kind, target, _ in shown(read_graph(OneOf(step)), step.__name__)}
    unknown = any(target == UNKNOWN for _, target in found)
    for value in range(-3, 13):
        decision = decided(step(), value)
        if decision is not None:
            kind = {"next": "goTo", "graceful_complete": "gracefulComplete"}.get(decision.kind)
            for movement in decision.movements:
                assert unknown or ("goTo", movement.step.__name__) in found
            if kind == "gracefulComplete":
                assert (kind, "") in found


def test_a_decision_that_is_there_already_is_read_from_the_object() -> None:
    """A module's own decision is no unknown."""
    assert DONE.kind == "force_complete"


def test_what_cannot_be_told_is_said_with_its_line() -> None:
    """An unknown edge comes with a diagnostic that names the Step and the line."""
    step = next(step for step, _ in FORMS if step.__name__ == "ByName")
    (found,) = [d for d in read_graph(OneOf(step)).diagnostics if d.code == "dynamic_step_target"]

    assert found.line == step.execute.__code__.co_firstlineno + 2
    assert "ByName" in found.message
