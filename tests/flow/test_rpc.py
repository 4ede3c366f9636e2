"""RPCs are read with their Flow: form, name, time, locks, loads; calls and results are checked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Optional

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeMap,
    Channel,
    ChannelMap,
    Context,
    PersistenceSchema,
    RPCInvokeOptions,
    RPCResult,
    StepList,
    StepMovement,
    rpc,
)
from dexnb.errors import DefinitionError, InvalidStepResultError, ValueMappingError
from dexnb.flow.mapping import map_rpc_input, map_rpc_plan, map_rpc_result
from dexnb.flow.registry import RegisteredFlow, read_flow
from dexnb.flow.rpc import rpc_name
from dexnb.flow.rpc_mapping import RpcOutcome
from tests.flow.flows import Made, Plain
from tests.flow.values import Client, Job

COUNT = Attribute("count", int)
ORDERS = AttributeMap("orders", str)
NOTES = Channel("notes", str)
TOPICS = ChannelMap("topics", str)


class Other(Plain):
    """A second Step."""


class Desk(Made):
    """A Flow with RPCs of every form."""

    def __init__(self) -> None:
        """Keep what they need."""
        super().__init__(
            lambda: StepList.start_step(Plain()).other_steps(Other()),
            lambda: PersistenceSchema.of(COUNT, ORDERS, NOTES, TOPICS),
        )

    @rpc
    def bare(self, context: Context) -> None:
        """Take and give nothing."""

    @rpc()
    async def waits(self, context: AsyncContext, input: Job) -> RPCResult[Job]:
        """Give back what came."""
        return RPCResult(input)

    @rpc(
        name="count it",
        timeout=timedelta(seconds=5),
        lock_attributes=(COUNT.lock(), ORDERS.lock("a")),
        is_transactional=True,
        load_attribute_maps=(ORDERS,),
        load_channels=(NOTES,),
        load_channel_map_instances=(TOPICS.load_messages("t"),),
    )
    def count(self, context: Context, input: str) -> Optional[RPCResult[int]]:  # noqa: UP045 - the other spelling
        """Count."""
        return RPCResult(1)

    def plain(self, context: Context) -> None:
        """Be no RPC."""


FLOW = read_flow(Desk())


def test_every_form_is_read() -> None:
    """Under the decorator alone, with brackets, with options; what is not marked is none."""
    assert list(FLOW.rpcs) == ["bare", "waits", "count it"]
    bare, waits, count = FLOW.rpcs.values()
    assert (bare.method, bare.mode, bare.takes_input) == ("bare", "sync", False)
    assert (bare.input_type, bare.output_type) == (type(None), type(None))
    assert (bare.timeout, bare.is_transactional, bare.locks) == (60.0, False, [])
    assert (waits.mode, waits.takes_input) == ("async", True)
    assert (waits.input_type, waits.output_type) == (Job, Job)
    assert (count.method, count.timeout, count.is_transactional) == ("count", 5.0, True)
    assert (count.input_type, count.output_type) == (str, int)
    assert count.locks == ["count", "orders/a"]
    assert count.loads == {"attributes": ["orders/"], "channels": ["notes", "topics/t"]}


def test_a_marked_method_stays_what_it_was() -> None:
    """It can be called, and is known by its name as a method of the class or of an instance."""
    desk = Desk()
    context: Any = None
    assert desk.count(context, "x") == RPCResult(1)
    assert [rpc_name(method) for method in (Desk.count, desk.count, Desk.bare)] == [
        "count it",
        "count it",
        "bare",
    ]
    assert rpc_name("count it") == "count it"
    for given in (Desk.plain, 5):
        with pytest.raises(DefinitionError, match=r"rpc_method is .*: give a method of your Flow"):
            rpc_name(given)


def test_an_inherited_rpc_is_one_and_an_overridden_one_only_if_it_is_marked() -> None:
    """As Python finds the method."""

    class Sub(Desk):
        def bare(self, context: Context) -> None:
            """Be none any more."""

        @rpc(timeout=timedelta(seconds=1))
        async def waits(self, context: AsyncContext, input: Job) -> RPCResult[Job]:
            """Be quicker."""
            return RPCResult(input)

    rpcs = read_flow(Sub()).rpcs
    assert rpcs.keys() == {"waits", "count it"}
    assert rpcs["waits"].timeout == 1.0


def _answer(self: Any, context: Context) -> None:
    """Do nothing."""


@pytest.mark.parametrize("kind", [staticmethod, classmethod, property])
def test_what_is_no_plain_method_is_refused_at_once(kind: Any) -> None:
    """Where it is decorated."""
    with pytest.raises(DefinitionError, match=r"@rpc stands over .*: put it over a plain method"):
        rpc(kind(_answer))


def test_an_output_that_cannot_be_stored_is_refused() -> None:
    """As an input is."""

    class Bad(Desk):
        @rpc
        def bad(self, context: Context, input: Client) -> RPCResult[Client]:
            """Give a client."""
            return RPCResult(input)

    with pytest.raises(DefinitionError) as caught:
        read_flow(Bad())
    text = str(caught.value)
    assert "2 problems" in text
    assert "F.bad input is annotated as Client: Client cannot be stored" in text
    assert "F.bad return is annotated as dexnb.flow.rpc.RPCResult" in text


def test_a_call_adds_instances_to_what_the_rpc_locks_and_loads() -> None:
    """Each name once, those of the RPC first."""
    options = RPCInvokeOptions(
        lock_attribute_map_instances=(ORDERS.lock("b"), ORDERS.lock("a")),
        load_attribute_map_instances=(ORDERS.load("b"),),
        load_channel_map_instances=(TOPICS.load_messages("u"),),
    )
    plan = map_rpc_plan(FLOW.rpcs["count it"], FLOW, options)
    assert plan.locks == ["count", "orders/a", "orders/b"]
    assert plan.loads == {
        "attributes": ["orders/", "orders/b"],
        "channels": ["notes", "topics/t", "topics/u"],
    }
    own = map_rpc_plan(FLOW.rpcs["count it"], FLOW)
    assert (own.locks, own.loads) == (FLOW.rpcs["count it"].locks, FLOW.rpcs["count it"].loads)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (5, "F.bare.options is 5: give RPCInvokeOptions or None"),
        (
            RPCInvokeOptions((AttributeMap("gone", str).lock("a"),)),
            "F.bare.lock_attribute_map_instances: AttributeMap gone is not listed by Flow F",
        ),
        (
            RPCInvokeOptions(load_channel_map_instances=(TOPICS,)),  # type: ignore[arg-type]  # the mistake
            "F.bare.load_channel_map_instances is ChannelMap('topics', str): give YourMap.load_m",
        ),
    ],
)
def test_a_call_that_locks_or_loads_what_is_not_there_is_refused(options: Any, text: str) -> None:
    """Before it is sent."""
    with pytest.raises(DefinitionError) as caught:
        map_rpc_plan(FLOW.rpcs["bare"], FLOW, options)
    assert text in str(caught.value)


def test_an_input_must_be_of_the_rpcs_type() -> None:
    """None where it has none."""
    assert map_rpc_input("x", FLOW.rpcs["count it"], FLOW) == "x"
    assert map_rpc_input(None, FLOW.rpcs["bare"], FLOW) is None
    with pytest.raises(ValueMappingError, match=r"^input of F\.count: str requires str, got int"):
        map_rpc_input(5, FLOW.rpcs["count it"], FLOW)
    with pytest.raises(ValueMappingError, match=r"^input of F\.bare: takes no input, got str"):
        map_rpc_input("x", FLOW.rpcs["bare"], FLOW)


def result_of(result: Any, name: str = "count it", flow: RegisteredFlow = FLOW) -> RpcOutcome:
    """Map what an RPC returned."""
    return map_rpc_result(result, flow.rpcs[name], flow)


def test_a_result_has_an_output_and_may_start_and_cancel_steps() -> None:
    """None is a result too."""
    assert result_of(None) == RpcOutcome()
    result = RPCResult(3, (StepMovement.of(Other, "a"),)).with_canceling_steps(Plain)
    outcome = result_of(result.with_canceling_steps(Other, Plain))
    assert outcome.output == 3
    assert [(each.step_type, each.input) for each in outcome.movements] == [("Other", "a")]
    assert outcome.canceling_steps == ("Plain", "Other")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (5, "an RPC must return RPCResult, got 5: return RPCResult(output) or None"),
        (RPCResult("x"), "output of F.count: int requires int, got str"),
        (RPCResult(1, StepMovement.of(Plain, "a")), "next_steps is StepMovement("),  # type: ignore[arg-type]  # the mistake
        (RPCResult(1, (StepMovement.of(Plain, 5),)), "input of F.Plain: str requires str, got int"),  # type: ignore[misc]  # the mistake
        (RPCResult(1, (), (Plain(),)), "is no Step class: give the class, Plain, not an"),  # type: ignore[arg-type]  # the mistake
        (RPCResult(1, (), (Made,)), "canceling_steps: <class 'tests.flow.flows.Made'> is no Step"),  # type: ignore[arg-type]  # the mistake
    ],
)
def test_a_result_that_cannot_be_followed_is_refused(result: Any, text: str) -> None:
    """By Flow and method."""
    with pytest.raises(InvalidStepResultError) as caught:
        result_of(result)
    assert str(caught.value).startswith("Flow F RPC count: ")
    assert text in str(caught.value)
