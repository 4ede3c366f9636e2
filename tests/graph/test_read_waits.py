"""Graphs of Flows that wait, branch, cancel, are called, and handle their timeout."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Channel,
    ChannelMap,
    Context,
    Flow,
    PersistenceSchema,
    RPCResult,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    StepOptions,
    Stream,
    SubFlow,
    Timer,
    Wait,
    dead_end,
    force_complete,
    force_complete_if_channels_empty,
    go_to,
    go_to_many,
    graceful_complete,
    rpc,
)
from dexnb.graph import read_graph
from dexnb.graph.svg import graph_svg
from dexnb.model.flow_graph import FlowGraph, Node
from tests.data import orders

PAID = Channel("paid", int)
LINES = ChannelMap("lines", str)
PATIENCE = timedelta(seconds=90)
NEWS = Stream("News", str, 1000)
HEARD = Stream("Heard", str, 1000)


class Last(Step[Any]):
    """Ends."""

    async def execute(self, context: AsyncContext, input: Any) -> StepDecision:
        """Complete."""
        return graceful_complete(input)


class Called(Last):
    """What only an RPC starts."""


class Other(Last):
    """Another one."""


class Recovery(Last):
    """What follows a failure."""


class Waits(Step[int]):
    """Waits for all that one can wait for."""

    def get_step_options(self) -> StepOptions:
        """Recover with options of its own."""
        given = StepOptions(execute_method_timeout=timedelta(seconds=30))
        return StepOptions().on_execute_failure_proceed_to(Recovery, given)

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Say so in a helper too."""
        NEWS.write(context, "waits")
        if input:
            return Wait.any_of(*self.more(input), Timer.by_duration(PATIENCE))
        return Wait.all_of(
            PAID.for_n(2),
            PAID.at_least(3),
            PAID.for_range(at_least=1, at_most=4),
            LINES.for_one("a"),
            SubFlow.run(orders.Parcel(), "x"),
        )

    def more(self, input: int) -> list[Any]:
        """Give what depends on the input."""
        return [PAID.for_n(input), Timer.by_duration(timedelta(seconds=input))]

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Cancel and go on."""
        decision = go_to(Last, 1).with_canceling_steps(Other)
        if input:
            decision = decision.with_canceling_sibling_steps(Last)
        if input > 1:
            return force_complete_if_channels_empty(1, StepMovement.of(Other, 2), PAID)
        return decision


class Shop(Flow[int]):
    """A Flow with an RPC that starts a Step, and a handler of its timeout."""

    def get_steps(self) -> StepList[int]:
        """Give the Steps."""
        return StepList.start_step(Waits()).other_steps(Last(), Called(), Other(), Recovery())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(PAID, LINES, NEWS, HEARD)

    @rpc
    async def ask(self, context: AsyncContext) -> RPCResult[None]:
        """Start a Step."""
        HEARD.write(context, "asked")
        return RPCResult(None, (StepMovement.of(Called, 1),))

    async def handle_timeout(self, context: AsyncContext) -> StepDecision:
        """Complete."""
        return force_complete("late")


def node_of(graph: FlowGraph, node_id: str) -> Node:
    """Give a node."""
    return next(node for node in graph.nodes if node.id == node_id)


def test_a_flow_with_the_whole_vocabulary_is_read_without_a_warning() -> None:
    """Every Step is reached, each Stream is written, and the document comes back from JSON."""
    graph = read_graph(Shop())
    assert graph.diagnostics == ()
    assert FlowGraph.from_json(json.loads(json.dumps(graph.to_json()))) == graph
    ways = {(edge.kind, edge.source, edge.target) for edge in graph.edges}
    assert ways == {
        ("transition", "step:Waits", "step:Last"),
        ("transition", "step:Waits", "step:Other"),
        ("failure_transition", "step:Waits", "step:Recovery"),
        ("resource_write", "step:Waits", "resource:stream:News"),
        ("wait_condition", "step:Waits", "resource:channel:paid"),
        ("wait_condition", "step:Waits", "resource:channel:lines"),
        ("subflow", "step:Waits", "subflow:Parcel"),
        ("resource_read", "step:Waits", "resource:channel:paid"),
        ("transition", "rpc:ask", "step:Called"),
        ("resource_write", "rpc:ask", "resource:stream:Heard"),
    }


def test_conditions_of_a_wait_stand_on_its_step() -> None:
    """Numbers and durations where the source has them."""
    graph = read_graph(Shop())
    assert node_of(graph, "step:Waits").waits == (
        "paid …",
        "timer",
        "timer 1.5 min",
        "paid 2",
        "paid at least 3",
        "paid 1 to 4",
        "lines/… 1",
        "SubFlow Parcel",
    )
    assert node_of(graph, "step:Last").waits == ()
    picture = graph_svg(graph)
    assert "waits for paid …, timer, timer 1.5 min" in picture


def test_the_handler_of_a_timeout_is_a_node_of_its_own_kind() -> None:
    """Its decision is that of the Flow's method, and nobody says that nothing leads there."""
    graph = read_graph(Shop())
    handler = node_of(graph, "step:sys:timeout_handler")
    assert (handler.kind, handler.name, handler.line > 0) == (
        "timeout_handler",
        "handle_timeout",
        True,
    )
    decision = node_of(graph, "decision:step:sys:timeout_handler:1").decision
    assert decision == {
        "type": "forceComplete",
        "targets": [],
        "checkedChannels": [],
        "cancellations": [],
    }
    assert "handle_timeout" in graph_svg(graph, states={"sys:timeout_handler": "done"})


def listed(context: Context, count: int) -> StepDecision:
    """Gather the movements in a variable."""
    ways = [StepMovement.of(Last, number) for number in range(count)]
    return go_to_many(*ways, StepMovement.of(Other, 1))


def appended(context: Context, count: int) -> StepDecision:
    """Gather them one by one."""
    ways = [StepMovement.of(Last, 1)]
    if count:
        ways.append(StepMovement.of(Other, 1))
    return go_to_many(*ways)


def mapped(context: Context, count: int) -> StepDecision:
    """Make them in a call that is not followed."""
    other = StepMovement.of(Other, 1)
    return go_to_many(other, *map(lambda number: StepMovement.of(Last, number), range(count)))  # noqa: C417 - the form under test


def conditional(context: Context, count: int) -> StepDecision:
    """Choose the movement before."""
    left = StepMovement.of(Last if count else Other, 1)
    return force_complete_if_channels_empty(None, left, PAID)


def looped(context: Context, count: int) -> StepDecision:
    """Add to a decision what it cancels, again and again."""
    decision = go_to_many(StepMovement.of(Last, 1), StepMovement.of(Other, 1))
    for _ in range(count):
        decision = decision.with_canceling_steps(Other)
    return decision


def one_step(execute: Callable[[Context, int], StepDecision]) -> Flow[Any]:
    """Make a Flow whose first Step decides so."""

    class First(Step[int]):
        def execute(self, context: Context, input: int) -> StepDecision:
            return execute(context, input)

    class Made(Flow[int]):
        def get_steps(self) -> StepList[int]:
            return StepList.start_step(First()).other_steps(Last(), Other())

        def get_persistence_schema(self) -> PersistenceSchema:
            return PersistenceSchema.of(*([PAID] if execute is conditional else []))

    return Made()


@pytest.mark.parametrize("execute", [listed, appended, mapped, conditional, looped])
def test_branches_are_found_wherever_their_movements_are_made(
    execute: Callable[[Context, int], StepDecision],
) -> None:
    """Both Steps are reached, without a word of warning."""
    graph = read_graph(one_step(execute))
    assert graph.diagnostics == ()
    ways = {edge.target for edge in graph.edges if edge.kind == "transition"}
    assert ways == {"step:Last", "step:Other"}


def fill(ways: list[StepMovement]) -> None:
    """Add what the reader cannot follow."""
    ways.append(StepMovement.of(Other, 1))


def handed_on(context: Context, count: int) -> StepDecision:
    """Let somebody else gather them."""
    ways: list[StepMovement] = []
    fill(ways)
    return go_to_many(*ways)


def given(context: Context, count: int) -> StepDecision:
    """Take what the input holds."""
    return go_to_many(*getattr(context, "ways", ()))


@pytest.mark.parametrize("execute", [handed_on, given])
def test_branches_that_cannot_be_told_are_an_unknown_node(
    execute: Callable[[Context, int], StepDecision],
) -> None:
    """And then no Step is called unreachable."""
    graph = read_graph(one_step(execute))
    assert [each.code for each in graph.diagnostics] == ["dynamic_step_target"]
    assert {edge.target for edge in graph.edges} == {"unknown:step:First?"}


def test_a_wait_that_says_nothing_readable_is_a_wait_all_the_same() -> None:
    """A Step that only skips its wait, or whose source is gone."""
    graph = read_graph(orders.ORDER)
    assert node_of(graph, "step:Clear").waits == ("waits",)
    assert node_of(graph, "step:Collect").waits == ("orders 2", "timer 5 min", "timer 1 min")
    assert graph.diagnostics == ()


def test_dead_ends_need_no_wait() -> None:
    """A Step without wait_for waits for nothing."""

    def ends(context: Context, count: int) -> StepDecision:
        return dead_end()

    graph = read_graph(one_step(ends))
    assert node_of(graph, "step:First").waits == ()
