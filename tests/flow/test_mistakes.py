"""Mistakes in options, locks, loads and recovery: each is one clear error at registration."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from dexnb import Attribute, AttributeLock, Flow, Wait
from tests.flow.flows import Plain
from tests.flow.mistakes import (
    COUNT,
    ELSEWHERE,
    HANDLER_OPTIONS,
    NOTES,
    ORDERS,
    SECOND,
    TOPICS,
    UNKNOWN,
    Case,
    Num,
    Other,
    ask,
    check_clear,
    check_distinct,
    decided,
    dex,
    handle_timeout,
    registered,
    round_trip,
    started,
    under,
    under_retry,
    waited,
)

CASES: list[Case] = [
    # Options of a Step.
    (
        "options of another kind",
        lambda: registered(Plain(options=5)),
        ("F.Plain.options is 5", "StepOptions"),
    ),
    (
        "a number for a duration",
        lambda: under(wait_for_method_timeout=5),
        ("F.Waiting.wait_for_method_timeout is 5", "timedelta(seconds=5)"),
    ),
    (
        "a negative timeout",
        lambda: under(wait_for_method_timeout=-SECOND),
        ("wait_for_method_timeout is -1 day, 23:59:59", "positive"),
    ),
    (
        "an absurd timeout",
        lambda: under(execute_method_timeout=timedelta(days=40_000)),
        ("execute_method_timeout is 40000 days", "at most 100 years"),
    ),
    (
        "a heartbeat under the minimum",
        lambda: under(heartbeat_timeout=SECOND),
        ("F.Waiting.heartbeat_timeout is 0:00:01", "at least 10 s", "minimum_heartbeat_timeout"),
    ),
    (
        "a dict for a policy",
        lambda: under(wait_for_retry={"maximum_attempts": 3}),
        ("F.Waiting.wait_for_retry is {'max", "give a RetryPolicy or None"),
    ),
    (
        "no interval at all",
        lambda: under_retry(initial_interval=0 * SECOND),
        ("wait_for_retry.initial_interval is 0:00:00", "more than 0 s"),
    ),
    (
        "no budget at all",
        lambda: under_retry(total_duration=0 * SECOND),
        ("wait_for_retry.total_duration is 0:00:00", "more than 0 s"),
    ),
    (
        "a negative interval",
        lambda: under_retry(maximum_interval=-SECOND),
        ("wait_for_retry.maximum_interval is -1 day", "positive"),
    ),
    (
        "a cap under the first interval",
        lambda: under_retry(initial_interval=9 * SECOND, maximum_interval=SECOND),
        ("wait_for_retry.maximum_interval is 0:00:01", "at least initial_interval (9 s)"),
    ),
    (
        "a shrinking backoff",
        lambda: under_retry(backoff_coefficient=0.5),
        ("wait_for_retry.backoff_coefficient is 0.5", "at least 1"),
    ),
    (
        "an infinite backoff",
        lambda: under_retry(backoff_coefficient=math.inf),
        ("backoff_coefficient is inf", "finite"),
    ),
    (
        "negative attempts",
        lambda: under_retry(maximum_attempts=-1),
        ("wait_for_retry.maximum_attempts is -1", "0 for no limit"),
    ),
    (
        "half an attempt",
        lambda: under_retry(maximum_attempts=1.5),
        ("maximum_attempts is 1.5", "whole number"),
    ),
    (
        "a durability by name",
        lambda: under(wait_for_durability="ASYNC"),
        ("F.Waiting.wait_for_durability is 'ASYNC'", "StepDurability.SYNC"),
    ),
    (
        "a failure policy by name",
        lambda: under(wait_for_failure="PROCEED"),
        ("F.Waiting.wait_for_failure is 'PROCEED'", "WaitForFailurePolicy.FAIL_FLOW"),
    ),
    # Locks and loads.
    (
        "a lock without its tuple",
        lambda: under(execute_lock_attributes=COUNT.lock()),
        ("F.Waiting.execute_lock_attributes is ", "give a tuple"),
    ),
    (
        "an Attribute for a lock",
        lambda: under(wait_for_lock_attributes=(COUNT,)),
        ("wait_for_lock_attributes is Attribute('count', int)", "YourAttribute.lock()"),
    ),
    (
        "a lock on what is not listed",
        lambda: under(execute_lock_attributes=(UNKNOWN.lock(),)),
        (
            "execute_lock_attributes: Attribute unknown is not listed",
            "count, orders",
            "get_persistence_schema()",
        ),
    ),
    (
        "a load of an Attribute",
        lambda: under(execute_load_attribute_maps=(COUNT,)),
        ("execute_load_attribute_maps is Attribute('count', int)", "your AttributeMap"),
    ),
    (
        "a load of a Channel that is not listed",
        lambda: under(wait_for_load_channels=(ELSEWHERE,)),
        ("wait_for_load_channels: Channel elsewhere is not listed", "notes, topics"),
    ),
    (
        "a map among the Channels",
        lambda: under(execute_load_channels=(TOPICS,)),
        ("execute_load_channels is ChannelMap('topics', str)", "your Channel"),
    ),
    (
        "a name for an instance",
        lambda: under(execute_load_channel_map_instances=("a",)),
        ("execute_load_channel_map_instances is 'a'", "load_messages('instance')"),
    ),
    (
        "a lock on an Attribute of another type",
        lambda: under(execute_lock_attributes=(AttributeLock(Attribute("count", str)),)),
        ("execute_lock_attributes: Attribute count value_type is str and int", "same type"),
    ),
    (
        "a lock on a map without an instance",
        lambda: AttributeLock(ORDERS),
        ("AttributeMap orders instance is ''", "non-empty str"),
    ),
    (
        "a lock on an instance of an Attribute",
        lambda: AttributeLock(COUNT, "a"),
        ("AttributeLock instance is 'a'", "leave it out"),
    ),
    # Recovery.
    (
        "a recovery to a Step of another input",
        lambda: registered(
            Plain(options=dex.StepOptions().on_execute_failure_proceed_to(Num)), Num()
        ),
        ("F.Plain.recovery is Num(input: int)", "annotate it as str"),
    ),
    ("a recovery to itself", round_trip, ("F.Plain.recovery is Plain", "circle")),
    (
        "a recovery to what is not listed",
        lambda: registered(Plain(options=dex.StepOptions().on_execute_failure_proceed_to(Other))),
        ("F.Plain.recovery is Other", "listed are Plain"),
    ),
    (
        "a recovery whose options lock too much",
        lambda: registered(
            Plain(
                options=dex.StepOptions().on_execute_failure_proceed_to(
                    Other, dex.StepOptions(execute_lock_attributes=(UNKNOWN.lock(),))
                )
            ),
            Other(),
        ),
        ("F.Plain.recovery.execute_lock_attributes: Attribute unknown", "list it"),
    ),
]


@pytest.mark.parametrize(("make", "parts"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_each_mistake_is_one_clear_error(make: Callable[[], Any], parts: tuple[str, ...]) -> None:
    """It names the thing, what stands there, and what to write."""
    check_clear(make, parts)


def test_the_mistakes_are_distinct() -> None:
    """No two of them are the same."""
    check_distinct(CASES)


def test_what_is_right_is_taken() -> None:
    """The same helpers, without the mistakes."""
    flow = registered(handle_timeout=handle_timeout, ask=dex.rpc(ask))
    assert isinstance(flow.flow, Flow)
    assert flow.rpcs.keys() == {"ask"}
    assert started(flow, timeout=SECOND, timeout_handler_options=HANDLER_OPTIONS()).timeout == 1.0
    assert decided(dex.go_to(Plain, "a")).kind == "next"
    assert waited(Wait.until(NOTES.for_one()))["kind"] == "all_of"
