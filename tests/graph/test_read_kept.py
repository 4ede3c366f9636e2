"""What Steps and RPCs do to what a Flow keeps, wait for, start and cancel, in every form."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeIndex,
    AttributeMap,
    Channel,
    ChannelMap,
    ConditionCombination,
    Context,
    Flow,
    IndexType,
    PersistenceSchema,
    RPCResult,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    Stream,
    SubFlow,
    Timer,
    Wait,
    dead_end,
    go_to,
    rpc,
)
from dexnb.graph import read_graph
from dexnb.model.flow_graph import FlowGraph, Node
from tests.data.orders import Limited, Parcel

ONE = Attribute("one", int)
TWO = Attribute("two", int)
MANY = AttributeMap("many", int)
SOUGHT = Attribute("sought", str, index=AttributeIndex(IndexType.KEYWORD))
IN = Channel("in", int)
LINES = ChannelMap("lines", int)
OUT = Stream("Out", str, 1000)
LATE = Timer.by_duration(timedelta(seconds=9))
SKIPPED = Wait.skip_immediately()


def bump(attribute: Attribute[int], context: Context) -> None:
    """Count in what was given."""
    attribute.set(context, attribute.get(context) + 1)


class End(Step[int]):
    """Ends."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Do not go on."""
        return dead_end()


STOPPED = dead_end().with_canceling_steps(End)


class Uses(Step[int]):
    """Uses what it keeps in every way."""

    def __init__(self) -> None:
        """Keep one under another name."""
        self.many = MANY

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Use."""
        bump(ONE, context)
        bump(attribute=TWO, context=context)
        self.many.delete(context, "a")
        if input:
            await asyncio.to_thread(self.later, context)
        send = IN.publish
        send(context, 1)
        text = OUT.buffered_text(context)
        await text.append("x")
        tell = partial(self.told, LINES)
        return go_to(End, tell(context))

    def later(self, context: Context) -> None:
        """Look at what nobody else looks at."""
        count = lambda: MANY.get_map_size(context)  # noqa: E731 - the form under test
        count()

    def told(self, lines: ChannelMap[int], context: Context) -> int:
        """Count messages."""
        return lines.size(context, "a")


class Waits(Step[int]):
    """Waits in one of several ways."""

    def wait_for(self, context: Context, input: int) -> Wait:
        """Wait."""
        if input == 1:
            return Wait.until(IN.for_one() if context.attempt else LATE)
        if input == 2:
            both = ConditionCombination.of(IN.for_n(2, condition_id="in"))
            return Wait.any_combination_of(
                both, ConditionCombination.of(Timer.by_duration(timedelta(2), condition_id="t"))
            )
        if input == 3:
            return SKIPPED
        if input == 4:
            return super().wait_for(context, input)  # type: ignore[no-any-return]
        if input == 5:
            some = [LATE]
            some.append(LINES.at_least("a", 3))
            return Wait("all_of", tuple(some))
        flow: Flow[Any] = Parcel() if input == 6 else Limited()
        return Wait.any_of(*map(SubFlow.run, [flow]), SubFlow.run(flow, None))

    def execute(self, context: Context, input: int) -> StepDecision:
        """Cancel."""
        decision = go_to(End, 1).with_canceling_sibling_steps(Uses, End)
        return decision.with_canceling_steps(End) if input else STOPPED


class Whole(Flow[int]):
    """Has them all."""

    def get_steps(self) -> StepList[int]:
        """Give the Steps."""
        return StepList.start_step(Uses()).other_steps(Waits(), End())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(ONE, TWO, MANY, SOUGHT, IN, LINES, OUT)

    @rpc(name="go on", lock_attributes=(ONE.lock(), MANY.lock("a")))
    def further(self, context: Context, input: int) -> RPCResult[int] | None:
        """Start Steps, or give none."""
        if input == 1:
            return RPCResult[int](1, next_steps=(StepMovement.of(Waits, 1),))
        ways = [StepMovement.of(End, input)]
        if input == 2:
            return RPCResult(2, tuple(ways)).with_canceling_steps(Waits)
        return None


def node_of(graph: FlowGraph, node_id: str) -> Node:
    """Give a node."""
    return next(node for node in graph.nodes if node.id == node_id)


def ways_of(graph: FlowGraph, source: str) -> set[tuple[str, str]]:
    """Give what leads from a node, without the transitions."""
    return {
        (edge.kind.removeprefix("resource_"), edge.target.removeprefix("resource:"))
        for edge in graph.edges
        if edge.source == source and edge.kind != "transition"
    }


def test_uses_are_found_through_helpers_aliases_partials_threads_and_lambdas() -> None:
    """A helper that is called twice uses what it is given each time."""
    graph = read_graph(Whole())
    assert [each.code for each in graph.diagnostics] == ["hidden_dex_wait"]
    assert ways_of(graph, "step:Uses") == {
        ("read", "attribute:one"),
        ("write", "attribute:one"),
        ("read", "attribute:two"),
        ("write", "attribute:two"),
        ("write", "attribute:many"),
        ("read", "attribute:many"),
        ("publish", "channel:in"),
        ("write", "stream:Out"),
        ("read", "channel:lines"),
    }


def test_each_way_to_wait_is_a_card_with_its_conditions() -> None:
    """One for each Wait and each condition of `until`, under one diamond."""
    graph = read_graph(Whole())
    cards = [node for node in graph.nodes if node.kind == "wait"]
    found = [
        (
            card.name,
            card.condition.rpartition(" and ")[2],
            [row["label"] for row in (card.wait or {})["conditions"]],
        )
        for card in cards
    ]
    assert found == [
        ("until", "context.attempt", ["in 1"]),
        ("until", "not (context.attempt)", ["timer 9 s"]),
        ("anyComboOf", "input == 2", ["in 2", "timer 48 h"]),
        ("skipWaitImmediately", "input == 3", []),
        ("skipWaitImmediately", "input == 4", []),
        ("allOf", "input == 5", ["timer 9 s", "lines/… at least 3"]),
        ("anyOf", "otherwise", ["Unknown", "SubFlow Parcel", "SubFlow Limited"]),
    ]
    assert [node.id for node in graph.nodes if node.kind == "wait_dispatch"] == [
        "wait-dispatch:step:Waits"
    ]


def test_an_rpc_leads_to_the_steps_that_it_starts() -> None:
    """Each result is a card; None is none. Its locks are edges."""
    graph = read_graph(Whole())
    cards = [node.decision for node in graph.nodes if node.parentId == "rpc:go on"]
    assert cards == [
        None,
        {
            "type": "rpcResult",
            "targets": ["step:Waits"],
            "checkedChannels": [],
            "cancellations": [],
        },
        {
            "type": "rpcResult",
            "targets": ["step:End"],
            "checkedChannels": [],
            "cancellations": [{"stepId": "step:Waits", "scope": "all"}],
        },
    ]
    assert ways_of(graph, "rpc:go on") == {("lock", "attribute:one"), ("lock", "attribute:many")}
    transitions = [edge.id for edge in graph.edges if edge.source == "rpc:go on"][:2]
    assert transitions == ["transition:rpc:go on:Waits", "transition:rpc:go on:End"]


def test_what_a_decision_cancels_stands_on_its_card() -> None:
    """A Step that is cancelled everywhere is not named as a sibling too."""
    graph = read_graph(Whole())
    first, second = (
        node.decision for node in graph.nodes if node.parentId == "step:Waits" and node.decision
    )
    assert first is not None
    assert first["cancellations"] == [
        {"stepId": "step:Uses", "scope": "siblings"},
        {"stepId": "step:End", "scope": "all"},
    ]
    assert second == {
        "type": "deadEnd",
        "targets": [],
        "checkedChannels": [],
        "cancellations": [{"stepId": "step:End", "scope": "all"}],
    }
