"""What a movement tells a turn of its Step: whether it waits, what its methods lock and load."""

from __future__ import annotations

from typing import Any

import pytest

from dexnb import (
    Attribute,
    AttributeMap,
    Channel,
    ChannelMap,
    Context,
    PersistenceSchema,
    StepList,
    StepMovement,
    StepOptions,
    Wait,
    WaitForFailurePolicy,
    go_to_many,
)
from dexnb.errors import DefinitionError
from dexnb.flow.mapping import map_decision, map_start
from dexnb.flow.plan import plan_of
from dexnb.flow.registry import RegisteredFlow, read_flow
from tests.flow.flows import Made, Plain

COUNT = Attribute("count", int)
ORDERS = AttributeMap("orders", str)
NOTES = Channel("notes", str)
TOPICS = ChannelMap("topics", str)
SCHEMA = PersistenceSchema.of(COUNT, ORDERS, NOTES, TOPICS)
NOTHING: dict[str, list[str]] = {"attributes": [], "channels": []}
EXECUTE = StepOptions(
    execute_lock_attributes=(COUNT.lock(), ORDERS.lock("a/b"), COUNT.lock()),
    execute_load_attribute_maps=(ORDERS,),
    execute_load_attribute_map_instances=(ORDERS.load("c"),),
    execute_load_channels=(NOTES,),
    execute_load_channel_maps=(TOPICS,),
    execute_load_channel_map_instances=(TOPICS.load_messages("d e"),),
)
WAIT_FOR = StepOptions(
    wait_for_failure=WaitForFailurePolicy.PROCEED,
    wait_for_lock_attributes=(COUNT.lock(),),
    wait_for_load_attribute_map_instances=(ORDERS.load("c"),),
    wait_for_load_channels=(NOTES,),
)


class Waiting(Plain):
    """Waits for nothing."""

    def wait_for(self, context: Context, input: str) -> Wait:
        """Skip."""
        return Wait.skip_immediately()


def flow_of(step: Any) -> RegisteredFlow:
    """Register a Step of a Flow that keeps all of these."""
    return read_flow(Made(lambda: StepList.start_step(step), lambda: SCHEMA))


def test_a_step_that_only_executes_has_no_plan() -> None:
    """What its options say of a method that it does not have counts for nothing."""
    for options in (None, StepOptions(), WAIT_FOR):
        flow = flow_of(Plain(options=options))
        assert plan_of(flow, flow.steps["Plain"]) is None
        start = map_start(flow, "id", "x").start_step
        assert start is not None
        assert start.plan is None


def test_a_plan_has_physical_names_each_once() -> None:
    """An entry that ends in a slash is a whole map."""
    assert flow_of(Plain(options=EXECUTE)).steps["Plain"].plan == {
        "wait_for": False,
        "wait_for_failure": "FAIL_FLOW",
        "locks": {"wait_for": [], "execute": ["count", "orders/a%2Fb"]},
        "loads": {
            "wait_for": NOTHING,
            "execute": {
                "attributes": ["orders/", "orders/c"],
                "channels": ["notes", "topics/", "topics/d%20e"],
            },
        },
    }


def test_a_plan_tells_of_the_wait() -> None:
    """That there is one, and what follows if it fails."""
    assert flow_of(Waiting(options=WAIT_FOR)).steps["Waiting"].plan == {
        "wait_for": True,
        "wait_for_failure": "PROCEED",
        "locks": {"wait_for": ["count"], "execute": []},
        "loads": {
            "wait_for": {"attributes": ["orders/c"], "channels": ["notes"]},
            "execute": NOTHING,
        },
    }


def test_movements_carry_the_plan_of_the_options_that_they_carry() -> None:
    """Options that are given replace the Step's own as a whole."""
    flow = flow_of(Waiting(options=WAIT_FOR))
    own = flow.steps["Waiting"].plan
    start = map_start(flow, "id", "x").start_step
    assert start is not None
    assert start.plan == own
    decision = go_to_many(
        StepMovement.of(Waiting, "a"), StepMovement.of(Waiting, "a", options=EXECUTE)
    )
    plain, given = map_decision(decision, flow, flow.steps["Waiting"]).movements
    assert plain.plan == own
    assert given.plan == plan_of(flow, flow.steps["Waiting"], EXECUTE)
    assert given.plan is not None
    assert given.plan["wait_for"] is True
    assert given.plan["wait_for_failure"] == "FAIL_FLOW"
    assert given.plan["locks"] == {"wait_for": [], "execute": ["count", "orders/a%2Fb"]}


def test_settings_leave_a_plan_as_it_is() -> None:
    """They are seconds and counts, and name nothing that is kept."""
    flow = flow_of(Waiting(options=WAIT_FOR))
    step = flow.steps["Waiting"]
    assert plan_of(flow, step, step.settings) is step.plan


def test_a_plan_of_what_is_not_listed_is_refused() -> None:
    """By Step and field."""
    flow = flow_of(Plain())
    options = StepOptions(execute_lock_attributes=(Attribute("gone", int).lock(),))
    with pytest.raises(
        DefinitionError, match=r"^F\.Plain\.execute_lock_attributes: Attribute gone is not listed"
    ):
        plan_of(flow, flow.steps["Plain"], options)


def test_definitions_that_were_made_again_are_the_same() -> None:
    """Options of a cell that is run again name new objects."""
    options = StepOptions(
        execute_lock_attributes=(Attribute("count", int).lock(),),
        execute_load_channels=(Channel("notes", str),),
    )
    plan = flow_of(Plain(options=options)).steps["Plain"].plan
    assert plan is not None
    assert plan["locks"]["execute"] == ["count"]
