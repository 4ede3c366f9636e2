"""Graphs of Flows from cells, from exec, from edited files; diagnostics; nothing secret in them."""

from __future__ import annotations

import importlib.util
import json
import linecache
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dexnb import (
    Context,
    Flow,
    FlowTimeoutHandlerOptions,
    PersistenceSchema,
    StartFlowOptions,
    Step,
    StepDecision,
    StepList,
    Stream,
    force_fail,
    go_to,
    graceful_complete,
)
from dexnb.errors import FlowDefinitionError
from dexnb.examples.polling import PollingFlow
from dexnb.flow.mapping import map_start
from dexnb.flow.registry import read_flow
from dexnb.graph import read_graph
from dexnb.jobs import InProcessJobs
from dexnb.model.flow_graph import FlowGraph
from tests.graph.forms import A, OneOf

CELL = """
from __future__ import annotations
from dexnb import *

class End(Step[int]):
    def execute(self, context: Context, input: int) -> StepDecision:
        return graceful_complete()

class Begin(Step[int]):
    def execute(self, context: Context, input: int) -> StepDecision:
        {body}

class Cell(Flow[int]):
    def get_steps(self):
        return StepList.start_step(Begin()).other_steps(End())
"""


def run_cell(source: str, name: str, namespace: dict[str, Any], *, kept: bool = True) -> Flow[int]:
    """Run a cell as IPython does: its text is kept for whoever asks, unless told otherwise."""
    if kept:
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), namespace)  # noqa: S102 - what a cell is
    flow: Flow[int] = namespace["Cell"]()
    return flow


@pytest.fixture
def namespace() -> Iterator[dict[str, Any]]:
    """The namespace of a notebook, whose annotations can be resolved."""
    module = ModuleType("__notebook__")
    sys.modules["__notebook__"] = module
    yield vars(module)
    del sys.modules["__notebook__"]


def ways(graph: FlowGraph) -> list[tuple[str, str]]:
    """Give where the start Step leads."""
    return [(edge.source, edge.target) for edge in graph.edges if edge.kind == "transition"]


def test_c08_a_flow_in_cells_is_read_and_a_redefinition_is_seen(namespace: dict[str, Any]) -> None:
    """The second graph has the edge that the second cell added, and the first cell is forgotten."""
    first = run_cell(CELL.format(body="return dead_end()"), "<cell 1>", namespace)
    assert ways(read_graph(first)) == []
    second = run_cell(CELL.format(body="return go_to(End, input)"), "<cell 2>", namespace)
    assert ways(read_graph(second)) == [("step:Begin", "step:End")]
    assert read_graph(second).path == ""


def test_c08_a_class_made_by_exec_gives_its_steps_and_an_unknown_node(
    namespace: dict[str, Any],
) -> None:
    """No exception: what cannot be read is drawn as unknown, with a notice."""
    source = CELL.format(body="return go_to(End, input)")
    graph = read_graph(run_cell(source, "<made>", namespace, kept=False))
    assert [node.name for node in graph.nodes if node.kind == "step"] == ["Begin", "End"]
    assert ways(graph) == [
        ("step:Begin", "unknown:step:Begin?"),
        ("step:End", "unknown:step:End?"),
    ]
    assert {each.code for each in graph.diagnostics} == {"hidden_dex_decision"}
    assert graph.valid
    assert "no readable source" in graph.diagnostics[0].message


def test_a_file_edited_after_its_import_is_not_believed(tmp_path: Path) -> None:
    """Its text is that of another definition: the graph says that it does not know.

    What was read before the edit stays true of the code that is loaded.
    """
    file = tmp_path / "edited_flow.py"
    file.write_text(CELL.format(body="return dead_end()"), "utf-8")
    spec = importlib.util.spec_from_file_location("edited_flow", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["edited_flow"] = module
    try:
        spec.loader.exec_module(module)
        file.write_text(CELL.format(body="return go_to(End, 1)"), "utf-8")
        assert ways(read_graph(module.Cell())) == [("step:Begin", "unknown:step:Begin?")]
        file.write_text(CELL.format(body="return dead_end()"), "utf-8")
        assert read_graph(module.Cell()).path == "edited_flow.py"
        file.write_text(CELL.format(body="return go_to(End, 1)"), "utf-8")
        assert ways(read_graph(module.Cell())) == []
    finally:
        del sys.modules["edited_flow"]


class Stray(Step[int]):
    """Is not listed."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """End."""
        return go_to(A, 1)


class Lost(Step[int]):
    """Goes where nothing is."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Go."""
        OTHER.write(context, 1)
        return go_to(Stray, 1)


USED = Stream("Used", int, 1024)
OTHER = Stream("Other", int, 1024)


class Broken(Flow[int]):
    """Has one mistake of each kind."""

    def get_steps(self) -> StepList[int]:
        """List a Step that nothing leads to."""
        return StepList.start_step(Lost()).other_steps(A())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Keep a Stream that nothing writes."""
        return PersistenceSchema.of(USED)


def test_mistakes_are_diagnosed() -> None:
    """Steps and Streams that are not listed, not reached and not written."""
    graph = read_graph(Broken())
    assert sorted((each.code, each.severity) for each in graph.diagnostics) == [
        ("unknown_resource", "error"),
        ("unknown_step_target", "error"),
        ("unreachable_step", "warning"),
        ("unused_resource", "warning"),
    ]
    assert not graph.valid
    assert ("step:Lost", "unknown:step:Stray") in ways(graph)


def test_a_flow_that_cannot_be_registered_is_refused_with_its_problems() -> None:
    """The graph of what cannot run is no graph."""
    with pytest.raises(FlowDefinitionError, match="give an instance"):
        read_graph(PollingFlow)  # type: ignore[arg-type]  # the mistake under test


class Secretive(Step[str]):
    """Compares with what nobody should read."""

    def execute(self, context: Context, input: str) -> StepDecision:
        """Decide."""
        if input == "ghp_16C7e42F292c6912E7710c838347Ae178B4a":
            return go_to(A, 1)
        password = input
        if password == "hunter2":
            return go_to(A, 2)
        if input == "ready":
            return go_to(A, 3)
        return go_to(A, 4)


def test_literals_that_look_like_credentials_are_hidden() -> None:
    """By their form, and by what they are compared with; other literals are shown."""
    text = json.dumps(read_graph(OneOf(Secretive)).to_json())
    assert "ghp_" not in text
    assert "hunter2" not in text
    assert "input == 'ready'" in text


def test_the_polling_example_is_read_whole() -> None:
    """Its ways, its recovery, its Stream and its conditions."""
    graph = read_graph(PollingFlow(InProcessJobs()))
    assert [(edge.id, edge.label) for edge in graph.edges] == [
        ("transition:StartJob:AwaitJob", ""),
        ("resource_write:AwaitJob:JobProgress", ""),
        ("failure_transition:AwaitJob:RecordJobWaitFailure", "Execute failure"),
    ]
    conditions = [
        (node.name, node.condition)
        for node in graph.nodes
        if node.kind == "decision" and node.parentId == "step:AwaitJob"
    ]
    assert conditions == [
        ("gracefulComplete", "job.state is JobState.SUCCEEDED"),
        (
            "forceFail",
            "not (job.state is JobState.SUCCEEDED) and job.state is JobState.FAILED",
        ),
    ]
    assert [node.id for node in graph.nodes if node.kind == "decision_dispatch"] == [
        "decision-dispatch:step:AwaitJob",
        "decision-dispatch:step:RecordJobWaitFailure",
    ]
    assert graph.diagnostics == ()


class GiveUp(Step[None]):
    """Where the options of a start may lead."""

    def execute(self, context: Context, input: None) -> StepDecision:
        """Go on."""
        return go_to(CleanUp, "late")


class CleanUp(Step[str]):
    """What follows."""

    def execute(self, context: Context, input: str) -> StepDecision:
        """Complete."""
        return graceful_complete()


class Patient(Step[int]):
    """The start Step."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Complete."""
        return graceful_complete(input)


class InTime(Flow[int]):
    """Has Steps that no source leads to."""

    def get_steps(self) -> StepList[int]:
        """Give the Steps."""
        return StepList.start_step(Patient()).other_steps(GiveUp(), CleanUp(), A())


class Late(InTime):
    """Handles its timeout; who starts it says where a failure of that leads."""

    def handle_timeout(self, context: Context) -> StepDecision:
        """Fail."""
        return force_fail("late")


def test_a_step_that_only_a_failed_timeout_handler_leads_to_is_no_mistake() -> None:
    """`FlowTimeoutHandlerOptions` of a start name it, so the Flow's own sources cannot."""
    options = FlowTimeoutHandlerOptions().on_failure_proceed_to(GiveUp)
    late = StartFlowOptions(timedelta(seconds=9), timeout_handler_options=options)
    handler = map_start(read_flow(Late()), "id", 1, None, late).timeout_handler
    assert handler is not None
    assert handler.options is not None
    assert handler.options["recovery"] == "GiveUp"
    found = {
        type(flow).__name__: [
            each.message.rpartition(" ")[2]
            for each in read_graph(flow).diagnostics
            if each.code == "unreachable_step"
        ]
        for flow in (InTime(), Late())
    }
    assert found == {"InTime": ["GiveUp", "CleanUp", "A"], "Late": ["A"]}
