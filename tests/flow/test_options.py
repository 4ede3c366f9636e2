"""Options that cannot hold are refused when the Flow is registered, each with field and fix."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb import RetryPolicy, StepDurability, StepOptions, WaitForFailurePolicy
from dexnb.clock import LONGEST
from dexnb.flow.resolve import Resolver
from dexnb.model.settings import RetrySettings, StepSettings
from tests.flow.flows import Plain, flow_of, problem_of, problems_of, read

TIMEOUTS = ["execute_method_timeout", "heartbeat_timeout", "wait_for_method_timeout"]
INTERVALS = ["initial_interval", "maximum_interval", "total_duration"]
DURATIONS = TIMEOUTS + [f"execute_retry.{name}" for name in INTERVALS]
SECOND = timedelta(seconds=1)


def options_with(field: str, value: Any) -> StepOptions:
    """Give options in which one field is set, `execute_retry.x` for one of the policy."""
    if field.startswith("execute_retry."):
        return StepOptions(execute_retry=RetryPolicy(**{field.partition(".")[2]: value}))
    return StepOptions(**{field: value})


def settings_of(options: StepOptions | None) -> StepSettings:
    """Give what a Step with these options runs under."""
    return read(Plain("S", options)).steps["S"].settings


def value_of(settings: StepSettings, field: str) -> Any:
    """Give a setting by the name of its option."""
    if field.startswith("execute_retry."):
        return getattr(settings.retry, field.partition(".")[2])
    return getattr(settings, field)


@pytest.mark.rule(
    "2.1/method-timeout",
    "2.1/heartbeat",
    "2.1/retry",
    "2.1/durability",
    "2.12/durability",
    "2.12/method-timeout",
)
def test_left_out_options_are_the_documented_defaults() -> None:
    """Two hours, a minute, 1 s x 2 up to 100 s within four hours, on the disk before it counts."""
    settings = settings_of(None)
    retry = settings.retry
    assert (
        settings
        == settings_of(StepOptions())
        == settings_of(StepOptions(execute_retry=RetryPolicy()))
    )
    assert (settings.execute_method_timeout, settings.heartbeat_timeout) == (7200, 60)
    assert (retry.initial_interval, retry.backoff_coefficient, retry.maximum_interval) == (
        1,
        2,
        100,
    )
    assert (retry.maximum_attempts, retry.total_duration) == (0, 14400)
    assert (settings.durability, settings.recovery) == ("SYNC", None)


@pytest.mark.rule("2.1/method-timeout-whole", "2.1/retry-whole")
@pytest.mark.parametrize("field", DURATIONS)
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (timedelta(hours=3), 10800.0),
        (timedelta(seconds=100, microseconds=1), 100.000001),
        (timedelta(days=36525), LONGEST),
        (timedelta.max, LONGEST),
    ],
)
def test_a_legal_duration_is_taken(field: str, value: timedelta, seconds: float) -> None:
    """Fractions of a second too; `timedelta.max` means no limit, and no clock overflows on it."""
    assert value_of(settings_of(options_with(field, value)), field) == seconds


BAD_DURATIONS: list[tuple[Any, str]] = [
    (timedelta(seconds=-1), "-1 day, 23:59:59: give a positive duration of at most 100 years"),
    (timedelta(microseconds=-1), "-1 day, 23:59:59.999999: give a positive duration"),
    (timedelta.min, "-999999999 days, 0:00:00: give a positive duration"),
    (timedelta(days=36526), "36526 days, 0:00:00: give a positive duration of at most 100 years"),
    (60, "60: give a datetime.timedelta, for example timedelta(seconds=60)"),
    (0, "0: give a datetime.timedelta"),
    (0.5, "0.5: give a datetime.timedelta, for example timedelta(seconds=0.5)"),
    (math.nan, "nan: give a datetime.timedelta"),
    (math.inf, "inf: give a datetime.timedelta"),
    (10**5000, "<int>: give a datetime.timedelta"),
    (True, "True: give a datetime.timedelta"),
    ("60s", "'60s': give a datetime.timedelta"),
    ([SECOND], "[datetime.timedelta(seconds=1)]: give a datetime.timedelta"),
]


@pytest.mark.parametrize("field", DURATIONS)
@pytest.mark.parametrize(("value", "text"), BAD_DURATIONS, ids=[str(i) for i in range(13)])
def test_a_bad_duration_is_refused_by_name(field: str, value: Any, text: str) -> None:
    """Once, with the Flow, the Step, the field, the value and what is legal."""
    found = problem_of(flow_of(Plain("S", options_with(field, value))))
    assert found.startswith(f"F.S.{field} is {text}")


@pytest.mark.parametrize("name", INTERVALS)
def test_a_zero_interval_of_a_retry_policy_is_refused(name: str) -> None:
    """It would be a hot loop; leaving it out is how the default is chosen."""
    text = problem_of(flow_of(Plain("S", options_with(f"execute_retry.{name}", timedelta(0)))))
    assert text == (
        f"F.S.execute_retry.{name} is 0:00:00: give more than 0 s, or leave it out for the default"
    )


@pytest.mark.rule("2.1/method-timeout-zero", "2.1/heartbeat")
@pytest.mark.parametrize("field", TIMEOUTS)
def test_a_zero_timeout_selects_the_default(field: str) -> None:
    """As Dex has it: zero and None are the same there."""
    assert settings_of(options_with(field, timedelta(0))) == StepSettings()


@pytest.mark.rule("2.1/heartbeat-minimum", "2.12/floor-setting")
@pytest.mark.parametrize("seconds", [1e-6, 1, 9.999999])
def test_a_heartbeat_timeout_below_the_minimum_is_refused(seconds: float) -> None:
    """Ten seconds, unless the runtime was told to take less."""
    flow = flow_of(Plain("S", StepOptions(heartbeat_timeout=timedelta(seconds=seconds))))
    text = problem_of(flow)
    assert text.startswith("F.S.heartbeat_timeout is 0:00:0")
    assert text.endswith(
        "give at least 10 s, leave it out for 60 s, or allow less with "
        "RuntimeOptions(minimum_heartbeat_timeout=...)"
    )
    resolver = Resolver("F.S", minimum_heartbeat=1e-6)
    options = StepOptions(heartbeat_timeout=timedelta(seconds=seconds))
    assert resolver.settings(options).heartbeat_timeout == seconds
    assert resolver.problems == []


@pytest.mark.parametrize("value", [0.5, 0.999, -1, -2.0, math.nan, math.inf, -math.inf, 10**400])
def test_a_backoff_coefficient_that_cannot_hold_is_refused(value: float) -> None:
    """Below 1 the delays would shrink to a hot loop."""
    text = problem_of(flow_of(Plain("S", options_with("execute_retry.backoff_coefficient", value))))
    assert text.startswith("F.S.execute_retry.backoff_coefficient is ")
    assert text.endswith("give a finite number of at least 1, or 0 for the default of 2")


@pytest.mark.parametrize("value", ["2", None, True, [2]])
def test_a_backoff_coefficient_that_is_no_number_is_refused(value: Any) -> None:
    """True is none either."""
    text = problem_of(flow_of(Plain("S", options_with("execute_retry.backoff_coefficient", value))))
    assert text.startswith(f"F.S.execute_retry.backoff_coefficient is {value!r}: give a finite")


@pytest.mark.parametrize("value", [-1, 1.5, 3.0, "3", None, True, math.nan, 2**53])
def test_a_number_of_attempts_that_cannot_hold_is_refused(value: Any) -> None:
    """It counts attempts in all, the first included."""
    text = problem_of(flow_of(Plain("S", options_with("execute_retry.maximum_attempts", value))))
    assert text == (
        f"F.S.execute_retry.maximum_attempts is {value!r}: "
        "give a whole number of at least 1, or 0 for no limit"
    )


@pytest.mark.parametrize(("value", "read"), [(0, 2.0), (0.0, 2.0), (1, 1.0), (1e9, 1e9)])
def test_a_legal_coefficient_is_taken(value: float, read: float) -> None:
    """Zero selects the default."""
    settings = settings_of(options_with("execute_retry.backoff_coefficient", value))
    assert settings.retry.backoff_coefficient == read


def test_the_longest_delay_may_not_be_shorter_than_the_first() -> None:
    """Given alone, a long first delay raises the longest one."""
    policy = RetryPolicy(initial_interval=timedelta(hours=1))
    assert settings_of(StepOptions(execute_retry=policy)).retry.maximum_interval == 3600
    short = replace(policy, maximum_interval=timedelta(minutes=1))
    assert problem_of(flow_of(Plain("S", StepOptions(execute_retry=short)))) == (
        "F.S.execute_retry.maximum_interval is 0:01:00: give at least initial_interval (3600 s)"
    )


@pytest.mark.parametrize("value", ["sync", True, None, "ASYNC"])
def test_a_durability_that_is_none_is_refused(value: Any) -> None:
    """Its name as text is none."""
    text = problem_of(flow_of(Plain("S", StepOptions(execute_durability=value))))
    assert text == (
        f"F.S.execute_durability is {value!r}: give StepDurability.SYNC, ASYNC or DEFAULT"
    )


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (StepDurability.DEFAULT, "SYNC"),
        (StepDurability.SYNC, "SYNC"),
        (StepDurability.ASYNC, "ASYNC"),
    ],
)
def test_each_durability_is_taken(value: StepDurability, name: str) -> None:
    """The default is the safe one."""
    assert settings_of(StepOptions(execute_durability=value)).durability == name


def test_options_of_another_kind_are_refused() -> None:
    """A dict, a policy, the class itself."""
    for options in ({"heartbeat_timeout": 60}, RetryPolicy(), StepOptions, "fast"):
        text = problem_of(flow_of(Plain("S", options)))
        assert text.startswith("F.S.options is ")
        assert text.endswith("give StepOptions or None")
    for policy in (3, {"maximum_attempts": 3}, StepOptions(), RetryPolicy):
        text = problem_of(flow_of(Plain("S", StepOptions(execute_retry=policy))))  # type: ignore[arg-type]  # the mistake
        assert text.startswith("F.S.execute_retry is ")
        assert text.endswith("give a RetryPolicy or None")


def test_wait_for_has_settings_of_its_own() -> None:
    """Execute's stay as they are, and the other way round."""
    settings = settings_of(
        StepOptions(
            wait_for_method_timeout=5 * SECOND,
            wait_for_retry=RetryPolicy(initial_interval=SECOND / 2, maximum_attempts=2),
            wait_for_durability=StepDurability.ASYNC,
        )
    )
    assert settings == StepSettings(
        wait_for_method_timeout=5.0,
        wait_for_retry=RetrySettings(initial_interval=0.5, maximum_attempts=2),
        wait_for_durability="ASYNC",
    )
    assert settings_of(
        StepOptions(execute_retry=RetryPolicy(maximum_attempts=2))
    ).wait_for_retry == (RetrySettings())


@pytest.mark.parametrize(
    ("given", "config", "expected"),
    [
        (StepDurability.DEFAULT, {}, "SYNC"),
        (StepDurability.DEFAULT, {"step_durability": "ASYNC"}, "ASYNC"),
        (StepDurability.SYNC, {"step_durability": "ASYNC"}, "SYNC"),
        (StepDurability.ASYNC, {"step_durability": "SYNC"}, "ASYNC"),
    ],
)
def test_durability_is_the_methods_then_the_runs_then_sync(
    given: StepDurability, config: dict[str, str], expected: str
) -> None:
    """For each method by itself, and after a store has kept the settings."""
    for field, waits in (("execute_durability", False), ("wait_for_durability", True)):
        settings = settings_of(options_with(field, given))
        settings = StepSettings.from_json(settings.to_json())
        assert settings.durability_under(config, waits=waits) == expected
        assert settings.durability_under({}, waits=not waits) == "SYNC"


def test_options_have_the_defaults_of_the_reference() -> None:
    """None, a policy that fails the Flow, and nothing to lock or load."""
    given = vars(StepOptions())
    lists = {name: value for name, value in given.items() if "_load_" in name or "_lock_" in name}
    assert len(lists) == 12
    assert set(lists.values()) == {()}
    assert {name: value for name, value in given.items() if name not in lists} == {
        "wait_for_method_timeout": None,
        "execute_method_timeout": None,
        "heartbeat_timeout": None,
        "wait_for_retry": None,
        "execute_retry": None,
        "wait_for_failure": WaitForFailurePolicy.FAIL_FLOW,
        "wait_for_durability": StepDurability.DEFAULT,
        "execute_durability": StepDurability.DEFAULT,
        "recovery": None,
    }


def test_all_bad_options_of_all_steps_are_listed_together() -> None:
    """One error tells everything."""
    worst = StepOptions(
        execute_method_timeout=-SECOND,
        heartbeat_timeout=SECOND,
        wait_for_method_timeout=-SECOND,
        execute_retry=RetryPolicy(
            initial_interval=-SECOND,
            backoff_coefficient=0.5,
            maximum_interval=timedelta(0),
            maximum_attempts=-1,
            total_duration=-SECOND,
        ),
        execute_durability="fast",  # type: ignore[arg-type]  # the mistake
    )
    found = [
        problem.where for problem in problems_of(flow_of(Plain("A", worst), Plain("B", worst)))
    ]
    fields = [*DURATIONS, "execute_retry.backoff_coefficient", "execute_retry.maximum_attempts"]
    fields.append("execute_durability")
    assert sorted(found) == sorted(f"F.{step}.{field}" for step in "AB" for field in fields)


ODD = st.one_of(
    st.none(),
    st.timedeltas(),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.text(max_size=3),
    st.just(object()),
)


@given(st.builds(RetryPolicy, ODD, ODD, ODD, ODD, ODD), ODD, ODD, ODD)
def test_whatever_the_options_they_are_resolved_or_listed(
    policy: Any, method: Any, heartbeat: Any, durability: Any
) -> None:
    """No other error comes out, and what is taken is finite and positive."""
    resolver = Resolver("F.S")
    settings = resolver.settings(StepOptions(method, heartbeat, policy, durability))
    if not resolver.problems:
        retry = settings.retry
        for field in DURATIONS:
            assert 0 < value_of(settings, field) <= LONGEST
        assert settings.heartbeat_timeout >= 10
        assert retry.maximum_interval >= retry.initial_interval
        assert math.isfinite(retry.delay_after(1000))
