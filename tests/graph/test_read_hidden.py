"""What a Flow keeps in vain, uses without listing it, or hides from the reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dexnb import (
    Attribute,
    AttributeIndex,
    AttributeMap,
    Channel,
    Context,
    Flow,
    IndexType,
    PersistenceSchema,
    RPCResult,
    Step,
    StepDecision,
    StepList,
    Stream,
    SubFlow,
    Wait,
    dead_end,
    rpc,
)
from dexnb.graph import read_graph
from dexnb.model.flow_graph import FlowGraph

READ = Attribute("read", int)
SPOKEN = Attribute("spoken", int)
SOUGHT = Attribute("sought", str, index=AttributeIndex(IndexType.KEYWORD))
WAITED = Channel("waited", int)
VAIN = AttributeMap("vain", int)
VAIN_TOO = Channel("vain too", int)
NEWS = Stream("News", str, 1000)
UNLISTED = Channel("unlisted", int)
TABLE = {"spoken": SPOKEN}


class Store:
    """Somebody who is handed what a Flow keeps."""

    def keep(self, context: Context) -> None:
        """Keep it where only running the code can tell."""
        for each in TABLE.values():
            keep: Callable[[Context, int], None] = vars(type(each))["set"].__get__(each)
            keep(context, 1)


class Begin(Step[int]):
    """Reads one, and waits for another."""

    def wait_for(self, context: Context, input: int) -> Wait:
        """Wait."""
        return Wait.until(WAITED.for_one())

    def execute(self, context: Context, input: int) -> StepDecision:
        """Read."""
        Store().keep(context)
        return dead_end() if READ.get(context) else self.unlisted(context)

    def unlisted(self, context: Context) -> StepDecision:
        """End."""
        return dead_end()


class Careless(Begin):
    """Publishes to what is not listed."""

    def unlisted(self, context: Context) -> StepDecision:
        """Publish."""
        UNLISTED.publish(context, 1)
        return dead_end()


class Secretive(Step[Any]):
    """Says of nothing what it is."""

    def wait_for(self, context: Context, input: Any) -> Wait:
        """Wait for what came."""
        return Wait.any_of(input.for_one(), SubFlow.run(input, None), *input)

    def execute(self, context: Context, input: Any) -> StepDecision:
        """Use what came."""
        input.publish(context, 1)
        return dead_end().with_canceling_steps(input)


class Kept(Flow[Any]):
    """A Flow that begins with a Step."""

    def __init__(self, step: Step[Any]) -> None:
        """Begin with this."""
        self.step = step

    def get_steps(self) -> StepList[Any]:
        """Give the Step."""
        return StepList.start_step(self.step)

    def get_persistence_schema(self) -> PersistenceSchema:
        """Keep more than is used."""
        return PersistenceSchema.of(READ, SPOKEN, SOUGHT, WAITED, VAIN, VAIN_TOO, NEWS)


class Asked(Kept):
    """Has an RPC that gives what it finds."""

    @rpc
    def hand(self, context: Context, input: str) -> RPCResult[int]:
        """Give what is kept under a name."""
        found: RPCResult[int] = vars(self)[input]
        return found


def said(graph: FlowGraph) -> list[tuple[str, str]]:
    """Give the code and what is quoted of each diagnostic."""
    return [(each.code, each.message.partition(",")[0]) for each in graph.diagnostics]


def test_what_nobody_can_touch_is_reported() -> None:
    """Of every kind; not what is read, waited for, searched, or spoken of anywhere."""
    assert said(read_graph(Kept(Begin()))) == [
        ("unused_resource", "AttributeMap vain is listed"),
        ("unused_resource", "Channel vain too is listed"),
        ("unused_resource", "Stream News is listed"),
    ]


def test_what_is_used_and_not_listed_is_an_error() -> None:
    """With its file and line, and a node of its own."""
    graph = read_graph(Kept(Careless()))
    found = next(each for each in graph.diagnostics if each.code == "unknown_resource")
    assert (found.severity, found.path) == ("error", "test_read_hidden.py")
    assert found.line == Careless.unlisted.__code__.co_firstlineno + 2
    assert "publishes to Channel unlisted" in found.message
    node = next(node for node in graph.nodes if node.id == "resource:channel:unlisted")
    assert node.kind == "unknown"
    assert "resource_publish:Careless:unlisted" in [edge.id for edge in graph.edges]


def test_what_only_running_can_tell_leads_to_an_unknown_node() -> None:
    """Each with a word of its own; then nothing is called unused."""
    graph = read_graph(Kept(Secretive()))
    assert sorted({each.code for each in graph.diagnostics}) == [
        "dynamic_resource_name",
        "dynamic_step_target",
        "dynamic_subflow",
        "hidden_dex_wait",
    ]
    assert all(each.line and each.path == "test_read_hidden.py" for each in graph.diagnostics)
    unknown = "unknown:step:Secretive?"
    assert {(edge.kind, edge.target) for edge in graph.edges} == {
        ("wait_condition", unknown),
        ("subflow", unknown),
        ("resource_publish", unknown),
    }
    card = next(node.decision for node in graph.nodes if node.kind == "decision")
    assert card is not None
    assert card["cancellations"] == [{"stepId": unknown, "scope": "all"}]


def test_an_rpc_that_hides_its_result_may_start_anything() -> None:
    """So that no Step is called unreachable."""
    graph = read_graph(Asked(Begin()))
    assert ("rpc:hand", "unknown:rpc:hand?") in {(e.source, e.target) for e in graph.edges}
    assert [each.code for each in graph.diagnostics] == ["dynamic_step_target"]
