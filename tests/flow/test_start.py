"""What a start says beside the input becomes part of its message, checked before it is stored."""

from __future__ import annotations

import inspect
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeMap,
    Context,
    FlowConfig,
    FlowTimeoutHandlerOptions,
    FlowTimeoutPolicy,
    IdReusePolicy,
    PersistenceSchema,
    RetryPolicy,
    StartFlowOptions,
    Step,
    StepDecision,
    StepDurability,
    StepList,
    dead_end,
    force_fail,
)
from dexnb.errors import DexnbWarning, FlowDefinitionError
from dexnb.flow.mapping import map_start
from dexnb.flow.registry import RegisteredFlow, read_flow
from dexnb.flow.timeout_step import TIMEOUT_STEP_TYPE
from dexnb.model.message import Start, decode_message, encode_message
from dexnb.model.settings import RetrySettings, StepSettings
from tests.flow.flows import Made, Plain
from tests.flow.values import Job, State

SECOND = timedelta(seconds=1)
COUNT = Attribute("count", int)
JOBS = AttributeMap("jobs", Job)


class Clean(Step[None]):
    """Where a failed timeout handler leads."""

    def execute(self, context: Context, input: None) -> StepDecision:
        """End."""
        return force_fail("late")


class Simple(Made):
    """A Flow that keeps things."""

    def __init__(self) -> None:
        """Keep an Attribute and a map."""
        super().__init__(
            lambda: StepList.start_step(Plain()).other_steps(Clean()),
            lambda: PersistenceSchema.of(COUNT, JOBS),
        )


class Handling(Simple):
    """One that handles its timeout."""

    async def handle_timeout(self, context: AsyncContext) -> StepDecision:
        """End."""
        return dead_end()


def started(options: StartFlowOptions, flow: Any = None) -> Start:
    """Map a start; it comes back from a store as it was."""
    registered: RegisteredFlow = read_flow(flow or Simple())
    start = map_start(registered, "id", "x", None, options)
    assert decode_message(encode_message(start)) == start
    return start


def test_a_start_without_options_is_what_it_was() -> None:
    """No timeout, no delay, no id of the request."""
    flow = read_flow(Simple())
    assert started(StartFlowOptions()) == map_start(flow, "id", "x")
    start = map_start(flow, "id", "x")
    assert (start.timeout, start.start_delay, start.request_id) == (0.0, 0.0, "")
    assert (start.attributes, start.config, start.timeout_handler) == ({}, {}, None)


def test_options_have_the_defaults_of_the_reference() -> None:
    """Nothing is asked for."""
    options = StartFlowOptions()
    assert options.timeout_policy is FlowTimeoutPolicy.DEFAULT
    assert options.id_reuse_policy is IdReusePolicy.DEFAULT
    assert options.ignore_already_started is False
    assert {
        options.timeout,
        options.timeout_handler_options,
        options.start_delay,
        options.retry_policy,
        options.config_override,
        options.request_id,
    } == {None}
    assert set(vars(FlowConfig()).values()) == {None}


@pytest.mark.parametrize(
    ("policy", "flow", "expected"),
    [
        (FlowTimeoutPolicy.DEFAULT, Simple, "FAIL"),
        (FlowTimeoutPolicy.DEFAULT, Handling, "HANDLER"),
        (FlowTimeoutPolicy.FAIL, Handling, "FAIL"),
        (FlowTimeoutPolicy.CANCEL, Simple, "CANCEL"),
        (FlowTimeoutPolicy.HANDLER, Handling, "HANDLER"),
    ],
)
def test_a_timeout_has_a_policy(policy: FlowTimeoutPolicy, flow: Any, expected: str) -> None:
    """By default the handler's where there is one."""
    start = started(StartFlowOptions(0.5 * SECOND, policy), flow())
    assert (start.timeout, start.timeout_policy) == (0.5, expected)
    handler = start.timeout_handler
    assert (handler is not None) == (expected == "HANDLER")
    assert handler is None or handler.step_type == TIMEOUT_STEP_TYPE


def test_a_flow_that_handles_its_timeout_has_a_step_for_it() -> None:
    """Of the method's own form, without an input; users can neither list it nor go to it."""
    flow = read_flow(Handling())
    step = flow.steps[TIMEOUT_STEP_TYPE]
    assert (step.handler.mode, step.handler.input_type) == ("async", type(None))
    coroutine = step.step.execute(None, None)
    assert coroutine.__name__ == "handle_timeout"
    coroutine.close()
    assert TIMEOUT_STEP_TYPE not in read_flow(Simple()).steps


def test_options_of_the_handler_are_those_of_a_step() -> None:
    """With locks and loads in its plan, and a Step of no input where it leads if it fails."""
    given = FlowTimeoutHandlerOptions(
        method_timeout=5 * SECOND,
        retry=RetryPolicy(maximum_attempts=2),
        durability=StepDurability.ASYNC,
        lock_attributes=(COUNT.lock(),),
        load_attribute_maps=(JOBS,),
    ).on_failure_proceed_to(Clean)
    start = started(StartFlowOptions(SECOND, timeout_handler_options=given), Handling())
    handler = start.timeout_handler
    assert handler is not None
    assert handler.options is not None
    assert StepSettings.from_json(handler.options) == StepSettings(
        execute_method_timeout=5.0,
        retry=RetrySettings(maximum_attempts=2),
        durability="ASYNC",
        recovery="Clean",
    )
    assert handler.plan is not None
    assert handler.plan["locks"] == {"wait_for": [], "execute": ["count"]}
    assert handler.plan["loads"]["execute"] == {"attributes": ["jobs/"], "channels": []}


def test_first_values_of_attributes_are_checked_and_encoded() -> None:
    """A later one replaces an earlier one; None is no value."""
    options = (
        StartFlowOptions(request_id="r1", start_delay=2 * SECOND)
        .with_attribute(COUNT, 1)
        .with_attribute(COUNT, 2)
        .with_attribute(JOBS, "a/b", Job("QUEUED"))  # type: ignore[arg-type]  # the mistake
    )
    flow = Simple()
    with pytest.raises(FlowDefinitionError, match=r"initial value: value\.state is str"):
        started(options, flow)
    options = options.with_attribute(JOBS, "a/b", Job(State.QUEUED))
    start = started(options, flow)
    assert start.attributes["count"] == 2
    assert start.attributes["jobs/a%2Fb"]["state"] == "QUEUED"
    assert (start.request_id, start.start_delay) == ("r1", 2.0)
    none: Any = None
    assert started(options.with_attribute(COUNT, none), flow).attributes.keys() == {"jobs/a%2Fb"}


def test_a_config_keeps_what_has_an_effect_here() -> None:
    """And says so of the rest."""
    sync = FlowConfig(step_durability=StepDurability.ASYNC)
    assert started(StartFlowOptions(config_override=sync)).config == {"step_durability": "ASYNC"}
    default = FlowConfig(step_durability=StepDurability.DEFAULT)
    assert started(StartFlowOptions(config_override=default)).config == {}
    with pytest.warns(DexnbWarning, match=r"FlowConfig\.continue_as_new_threshold has no effect"):
        elsewhere = FlowConfig(continue_as_new_threshold=100)
    assert started(StartFlowOptions(config_override=elsewhere)).config == {}


def test_the_warning_of_a_config_names_the_line_that_makes_it() -> None:
    """That is the line to change; where the config is used later may be far away."""
    with pytest.warns(DexnbWarning) as caught:
        made = [FlowConfig(worker_target="elsewhere", attribute_store_names=("other",))]
    here = inspect.currentframe()
    assert here is not None
    line = here.f_lineno - 3
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, line)] * 2
    assert [str(each.message).partition(" ")[0] for each in caught] == [
        "FlowConfig.worker_target",
        "FlowConfig.attribute_store_names",
    ]
    assert started(StartFlowOptions(config_override=made[0])).config == {}


def test_all_mistakes_of_a_start_are_listed_together() -> None:
    """With those of the id and of the Flow, before the input is looked at."""
    flow = read_flow(Made(lambda: StepList.without_start_step(Plain())))
    options = StartFlowOptions(-SECOND, FlowTimeoutPolicy.HANDLER, start_delay=-SECOND)
    with pytest.raises(FlowDefinitionError, match="Flow F start failed, 5 problems") as caught:
        map_start(flow, "", object(), None, options)
    assert [problem.where for problem in caught.value.problems] == [
        "F.get_steps",
        "F.options.timeout",
        "F.options.timeout_policy",
        "F.options.start_delay",
        "F flow_id",
    ]
