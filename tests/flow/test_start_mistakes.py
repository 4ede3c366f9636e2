"""Mistakes in starts and in calls on a run: each is one clear error before anything is sent."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

import dexnb
from dexnb.flow.mapping import map_start
from tests.flow.flows import Plain
from tests.flow.mistakes import (
    COUNT,
    HANDLER,
    HANDLER_OPTIONS,
    ORDERS,
    SECOND,
    UNKNOWN,
    Case,
    check_clear,
    check_distinct,
    dex,
    handle_timeout,
    registered,
    started,
)

CASES: list[Case] = [
    # Starts.
    (
        "a start under other options",
        lambda: map_start(registered(), "id", "x", None, dex.SubFlowOptions()),
        ("F.options is SubFlowOptions(", "give StartFlowOptions or None"),
    ),
    (
        "a timeout of a number",
        lambda: started(timeout=60),
        ("Flow F start failed", "F.options.timeout is 60", "timedelta(seconds=60)"),
    ),
    (
        "a start delay in the past",
        lambda: started(start_delay=-SECOND),
        ("F.options.start_delay is -1 day", "positive"),
    ),
    (
        "a policy without a timeout",
        lambda: started(timeout_policy=dexnb.FlowTimeoutPolicy.CANCEL),
        ("F.options.timeout_policy is <FlowTimeoutPolicy.CANCEL", "give a timeout above 0 s"),
    ),
    (
        "a handler that is not there",
        lambda: started(timeout=SECOND, timeout_policy=HANDLER),
        ("timeout_policy is <FlowTimeoutPolicy.HANDLER", "override handle_timeout in F"),
    ),
    (
        "options of a handler that is not there",
        lambda: started(timeout=SECOND, timeout_handler_options=HANDLER_OPTIONS()),
        ("timeout_handler_options is FlowTimeoutHandlerOptions(", "override handle_timeout"),
    ),
    (
        "a handler under a short heartbeat",
        lambda: started(
            registered(handle_timeout=handle_timeout),
            timeout=SECOND,
            timeout_handler_options=HANDLER_OPTIONS(heartbeat_timeout=SECOND),
        ),
        ("timeout_handler_options.heartbeat_timeout is 0:00:01", "at least 10 s"),
    ),
    (
        "a handler that recovers to an input",
        lambda: started(
            registered(handle_timeout=handle_timeout),
            timeout=SECOND,
            timeout_handler_options=HANDLER_OPTIONS().on_failure_proceed_to(Plain),
        ),
        ("timeout_handler_options.recovery is Plain(input: str)", "annotate it as None"),
    ),
    (
        "a Flow that is retried",
        lambda: started(retry_policy=dex.RetryPolicy()),
        ("F.options.retry_policy is RetryPolicy(", "its Steps are"),
    ),
    (
        "a reuse policy by name",
        lambda: started(id_reuse_policy="DISALLOW"),
        ("F.options.id_reuse_policy is 'DISALLOW'", "IdReusePolicy.ALLOW_IF_PREVIOUS_FAILED"),
    ),
    (
        "an empty request id",
        lambda: started(request_id=""),
        ("F.options.request_id is ''", "leave it out"),
    ),
    (
        "a flag that is no bool",
        lambda: started(ignore_already_started=1),
        ("F.options.ignore_already_started is 1", "True or False"),
    ),
    (
        "a config of a dict",
        lambda: started(config_override={}),
        ("F.options.config_override is {}", "give a FlowConfig or None"),
    ),
    (
        "a config's durability by name",
        lambda: started(config_override=dex.FlowConfig(step_durability="SYNC")),
        ("config_override.step_durability is 'SYNC'", "StepDurability.SYNC"),
    ),
    (
        "an initial value that is not listed",
        lambda: map_start(
            registered(), "id", "x", None, dex.StartFlowOptions().with_attribute(UNKNOWN, 1)
        ),
        ("with_attribute: Attribute unknown is not listed by Flow F", "list it"),
    ),
    (
        "an initial value of another type",
        lambda: map_start(
            registered(), "id", "x", None, dex.StartFlowOptions().with_attribute(COUNT, "1")
        ),
        ("with_attribute: Attribute count initial value: int requires int, got str",),
    ),
    (
        "an initial value of a map without an instance",
        lambda: dex.StartFlowOptions().with_attribute(ORDERS, "1"),
        (
            "with_attribute got (AttributeMap('orders', str), '1')",
            "(attribute_map, instance, value)",
        ),
    ),
    # Calls on a run.
    (
        "a stop by a word",
        lambda: dex.StopFlowOptions("CANCEL"),
        ("StopFlowOptions.type is 'CANCEL'", "StopType.CANCEL"),
    ),
    (
        "a reason of a number",
        lambda: dex.StopFlowOptions(reason=5),
        ("StopFlowOptions.reason is 5", "give a str"),
    ),
    (
        "an execution before the first",
        lambda: dex.StepExecutionId("A", 0),
        ("StepExecutionId.number is 0", "from 1"),
    ),
    (
        "an execution of nothing",
        lambda: dex.StepExecutionId(""),
        ("StepExecutionId.step_type is ''", "non-empty str"),
    ),
    ("no Timer at all", dex.TimerId, ("TimerId is None", "by_condition_index(0)")),
    (
        "a Timer before the first",
        lambda: dex.TimerId.by_condition_index(-1),
        ("TimerId.condition_index is -1", "from 0"),
    ),
    (
        "back to no Step",
        lambda: dex.TimeTravelOptions(dexnb.TimeTravelType.STEP_TYPE),
        ("TimeTravelOptions.step_type is None", "the type is STEP_TYPE"),
    ),
    (
        "back to two points",
        lambda: dex.TimeTravelOptions(dexnb.TimeTravelType.BEGINNING, step_type="A"),
        ("TimeTravelOptions.step_type is 'A'", "leave it out"),
    ),
    (
        "back to a time without a zone",
        lambda: dex.TimeTravelOptions(
            dexnb.TimeTravelType.HISTORY_EVENT_TIME, datetime.now(UTC).replace(tzinfo=None)
        ),
        ("history_event_time is datetime.datetime(", "with a zone"),
    ),
    (
        "a wait of no time",
        lambda: dex.WaitForStepCompletionOptions(request_timeout=-1),
        ("WaitForStepCompletionOptions.request_timeout is -1", "at least 0 s"),
    ),
    (
        "a retry at once",
        lambda: dex.retry_after(0, ValueError("x")),
        ("retry_after after_seconds is 0", "above 0"),
    ),
    (
        "a retry never",
        lambda: dex.retry_after(math.inf, ValueError("x")),
        ("retry_after after_seconds is inf", "100 years"),
    ),
    (
        "a retry without a cause",
        lambda: dex.retry_after(5, "busy"),
        ("retry_after cause is str", "give the exception"),
    ),
]


@pytest.mark.parametrize(("make", "parts"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_each_mistake_is_one_clear_error(make: Callable[[], Any], parts: tuple[str, ...]) -> None:
    """It names the thing, what stands there, and what to write."""
    check_clear(make, parts)


def test_the_mistakes_are_distinct() -> None:
    """No two of them are the same."""
    check_distinct(CASES)
