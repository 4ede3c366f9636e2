"""A Step may start another Flow and wait for it; what its start says is checked with the wait."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    Attribute,
    AttributeMap,
    Context,
    FlowTimeoutPolicy,
    PersistenceSchema,
    StepList,
    SubFlow,
    SubFlowOptions,
    SubFlowReusePolicy,
    Wait,
)
from dexnb.errors import ContextCallError, DefinitionError
from dexnb.flow.mapping import map_start, map_wait
from dexnb.flow.registry import read_flow
from dexnb.model.message import Start, message_from, plain
from tests.flow.calls import call
from tests.flow.flows import Made, Plain, known

COUNT = Attribute("count", int)
ORDERS = AttributeMap("orders", str)
PARENT = read_flow(Made(lambda: StepList.start_step(Plain())))
CHILD_FLOW: Any = Made(
    lambda: StepList.start_step(Plain("Begin")),
    lambda: PersistenceSchema.of(COUNT, ORDERS),
    flow_type="Child",
)
CHILD = read_flow(CHILD_FLOW)


def condition_of(options: SubFlowOptions | None = None, input: Any = "x") -> dict[str, Any]:
    """Map a wait on the child."""
    wait = Wait.until(SubFlow.run(CHILD_FLOW, input, options))
    document = map_wait(wait, known({"F": PARENT, "Child": CHILD}), PARENT, PARENT.steps["Plain"])
    (condition,) = document["conditions"]
    return dict(condition)


def test_a_subflow_is_a_start_without_a_flow_id() -> None:
    """The engine gives it one; all else is as in a start from outside."""
    condition = condition_of()
    assert condition.pop("start") == plain(map_start(CHILD, "id", "x")) | {"flow_id": ""}
    assert condition == {
        "kind": "subflow",
        "id": "",
        "reuse_policy": "RESTART_IF_PREVIOUS_EXITS_ABNORMALLY",
    }


def test_options_of_a_subflow_are_those_of_a_start() -> None:
    """Timeout, delay, first values of Attributes; and the id of its condition."""
    options = SubFlowOptions(
        timeout=timedelta(seconds=5),
        timeout_policy=FlowTimeoutPolicy.CANCEL,
        start_delay=timedelta(milliseconds=1),
        reuse_policy=SubFlowReusePolicy.RESTART_IF_PREVIOUS_EXITS_ABNORMALLY,
        condition_id="child",
    )
    condition = condition_of(options.with_attribute(COUNT, 3).with_attribute(ORDERS, "a b", "x"))
    start = message_from(condition["start"], Start)
    assert condition["id"] == "child"
    assert (start.timeout, start.timeout_policy, start.start_delay) == (5.0, "CANCEL", 0.001)
    assert start.attributes == {"count": 3, "orders/a%20b": "x"}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (SubFlowOptions(timeout=timedelta(-1)), "SubFlow Child.options.timeout is -1 day"),
        (SubFlowOptions(retry_policy=5), "SubFlow Child.options.retry_policy is 5: leave it out"),  # type: ignore[arg-type]  # the mistake
        (
            SubFlowOptions().with_attribute(Attribute("gone", int), 1),
            "Attribute gone is not listed by Flow Child",
        ),
    ],
)
def test_options_that_cannot_hold_fail_the_wait(options: SubFlowOptions, text: str) -> None:
    """By the names of both Flows."""
    with pytest.raises(DefinitionError) as caught:
        condition_of(options)
    assert "Flow F Step Plain wait_for: Flow Child start failed, 1 problem" in str(caught.value)
    assert text in str(caught.value)


def test_a_flow_without_a_start_step_cannot_be_a_subflow() -> None:
    """As it cannot be started from outside."""
    flow: Any = Made(lambda: StepList.without_start_step(Plain()), flow_type="Idle")
    idle = read_flow(flow)
    wait = Wait.until(SubFlow.run(flow, "x"))
    with pytest.raises(DefinitionError, match=r"Idle\.get_steps is without a start Step"):
        map_wait(wait, known({"Idle": idle}), PARENT, PARENT.steps["Plain"])


def context_with(*subflows: dict[str, Any]) -> Context:
    """Give the context of an execute behind a wait on these."""
    return call(results={"timers": [], "messages": {}, "subflows": list(subflows)})


CLOSED = {
    "flow_id": "SubFlow:a",
    "run_id": "r1",
    "status": "COMPLETED",
    "completions": [{"step_type": "Begin", "step_execution_id": "Begin-1", "output": {"a": 1}}],
    "error_type": "",
    "error_message": "",
}


def test_execute_reads_how_a_subflow_ended() -> None:
    """By its place among the SubFlows; with its outputs as types."""
    running = {"flow_id": "SubFlow:b", "run_id": "r2", "status": "RUNNING", "completions": []}
    context = context_with(CLOSED, running)
    result = SubFlow.get_condition_results(context)
    assert (result.flow_id, result.run_id, result.status) == ("SubFlow:a", "r1", "COMPLETED")
    assert result.single_output(dict[str, int]) == {"a": 1}
    assert not SubFlow.get_condition_results(context, 1).is_terminal
    assert SubFlow.get_flow_id(context, 1) == "SubFlow:b"


@pytest.mark.parametrize("index", [1, -1, True, "0", None])
def test_a_subflow_that_the_wait_has_not_is_refused(index: Any) -> None:
    """With the places that there are."""
    with pytest.raises(ContextCallError, match=r"get_flow_id.*index is .*from 0 to 0"):
        SubFlow.get_flow_id(context_with(CLOSED), index)


def test_results_are_for_a_step_that_has_waited() -> None:
    """Neither for one that has not, nor for an RPC."""
    with pytest.raises(ContextCallError, match="the wait has no SubFlow"):
        SubFlow.get_condition_results(call())
    with pytest.raises(ContextCallError):
        SubFlow.get_condition_results(call(in_step=False))
