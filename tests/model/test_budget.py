"""The window rule and the wait bounds, in numbers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.model.budget import GRAIN, Budget, Window, seconds_text, worst_case

seconds = st.floats(min_value=0.001, max_value=10_000, allow_nan=False)


@pytest.mark.rule("2.3/window")
@pytest.mark.parametrize(
    ("interval", "call", "window", "margin", "holds"),
    [
        (2, 10, 60, 10, True),
        (40, 10, 60, 10, True),
        (40.001, 10, 60, 10, False),
        (0.1, 10, 20, 10, False),
        (2, 10, 10, 10, False),
        (0.3, 0.1, 0.5, 0.1, True),
        (0.7, 0.1, 0.9, 0.1, True),
    ],
)
def test_the_rule_holds_up_to_equality(
    interval: float, call: float, window: float, margin: float, *, holds: bool
) -> None:
    """The sum may reach the window less the margin; fractions that add up inexactly too."""
    rule = Window(interval, call, window, margin)
    assert rule.holds is holds
    assert bool(rule.problem) is not holds


@given(seconds, seconds, seconds, seconds)
def test_each_value_that_the_rule_names_makes_it_hold(
    interval: float, call: float, window: float, margin: float
) -> None:
    """Changing any one of the three to the value that is offered is enough."""
    rule = Window(interval, call, window, margin)
    assert Window(interval, call, rule.smallest_heartbeat_timeout, margin).slack >= -GRAIN * 1e3
    if rule.longest_interval > 0:
        assert Window(rule.longest_interval, call, window, margin).slack >= -GRAIN * 1e3
    if rule.longest_call_timeout > 0:
        assert Window(interval, rule.longest_call_timeout, window, margin).slack >= -GRAIN * 1e3


@given(seconds, seconds, seconds, seconds)
def test_a_problem_never_names_a_value_that_cannot_be(
    interval: float, call: float, window: float, margin: float
) -> None:
    """No text asks for a negative interval or timeout."""
    assert "-" not in Window(interval, call, window, margin).problem.replace(" - ", " ").replace(
        "e-", "e"
    )


@pytest.mark.parametrize("window", [10, 15])
def test_an_impossible_rule_names_the_smallest_window(window: float) -> None:
    """Where no interval fits, the text says so and which window would do."""
    problem = Window(2, 10, window).problem
    assert problem.startswith(f"no interval fits: heartbeat_timeout {window} - 10 - 10")
    assert "raise heartbeat_timeout to at least 22 s" in problem


def test_a_margin_of_its_own_makes_short_tutorials_legal() -> None:
    """Local runs may use a smaller margin."""
    assert not Window(0.2, 0.5, 2).holds
    assert Window(0.2, 0.5, 2, margin=1).holds


def test_the_whole_wait_is_one_method_timeout_longer_than_the_retries() -> None:
    """total_duration gates retries and never cuts a running attempt."""
    assert worst_case(600, 600) == 1200


def test_a_budget_says_what_follows_from_its_values() -> None:
    """Its document is strict JSON, with slack, problem and worst case."""
    budget = Budget("AwaitJob", 2.0, 10.0, 60.0, 10.0, 600.0, 600.0, 3)
    document = json.loads(json.dumps(budget.to_json(), allow_nan=False))
    assert (document["slack"], document["problem"], document["worst_case"]) == (38.0, "", 1200.0)


def test_a_budget_without_an_interval_judges_nothing() -> None:
    """A Step that does not sleep has no window rule."""
    budget = Budget("Start", None, None, 60.0, 10.0, 7200.0, 14400.0, 0)
    assert budget.window is None
    assert (budget.to_json()["slack"], budget.to_json()["problem"]) == (None, "")


@pytest.mark.parametrize(
    ("value", "text"),
    [(2, "2 s"), (0.5, "0.5 s"), (600, "10 min"), (90, "1.5 min"), (100, "100 s"), (14400, "4 h")],
)
def test_durations_are_written_for_people(value: float, text: str) -> None:
    """Whole and half units, seconds otherwise."""
    assert seconds_text(value) == text
