"""Mistakes in waits and decisions: each is one clear error before anything is stored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from dexnb import StepList, dead_end
from tests.flow.flows import Made, Plain
from tests.flow.mistakes import (
    ELSEWHERE,
    MOVE,
    NOTES,
    SECOND,
    TOPICS,
    Case,
    Num,
    Waiting,
    check_clear,
    check_distinct,
    decided,
    dex,
    timer,
    waited,
)

CASES: list[Case] = [
    # Waits.
    (
        "nothing to wait for",
        dex.Wait.all_of,
        ("Wait.all_of has no Condition", "skip_immediately()"),
    ),
    (
        "nothing of which one",
        dex.Wait.any_of,
        ("Wait.any_of has no Condition", "Timer.by_duration(...)"),
    ),
    (
        "no combination",
        dex.Wait.any_combination_of,
        ("Wait.any_combination_of has no Condition", "ConditionCombination.of(...)"),
    ),
    (
        "an empty combination",
        dex.ConditionCombination.of,
        ("ConditionCombination.of has no Condition", "Timer.by_duration(...)"),
    ),
    (
        "a list of conditions",
        lambda: dex.Wait.all_of([timer()]),
        ("Wait.all_of got [TimerCondition(", "one by one"),
    ),
    (
        "a duration to wait for",
        lambda: dex.Wait.until(SECOND),
        ("Wait.until got datetime.timedelta(seconds=1)", "Timer.by_duration(...)"),
    ),
    (
        "two conditions of one id",
        lambda: dex.Wait.any_of(timer(condition_id="a"), timer(condition_id="a")),
        ("Wait.any_of has two conditions of the id 'a'", "id of its own"),
    ),
    (
        "a combination of what has no id",
        lambda: dex.ConditionCombination.of(timer()),
        ("ConditionCombination.of condition 0 has no id", "condition_id='...'"),
    ),
    (
        "combinations that differ in an id",
        lambda: dex.Wait.any_combination_of(
            dex.ConditionCombination.of(timer(condition_id="a")),
            dex.ConditionCombination.of(NOTES.for_one(condition_id="a")),
        ),
        ("two conditions of the id 'a'", "another id"),
    ),
    (
        "a negative Timer",
        lambda: dex.Timer.by_duration(-SECOND),
        ("Timer.by_duration duration is datetime.timedelta(days=-1", "at least 0 s"),
    ),
    (
        "a Timer of a number",
        lambda: dex.Timer.by_duration(30),
        ("Timer.by_duration duration is 30", "timedelta(seconds=30)"),
    ),
    (
        "an absurd Timer",
        lambda: dex.Timer.by_duration(timedelta(days=40_000)),
        ("Timer.by_duration duration is datetime.timedelta(days=40000)", "100 years"),
    ),
    (
        "an empty condition id",
        lambda: timer(condition_id=""),
        ("condition_id is ''", "non-empty str"),
    ),
    (
        "a wait that is a decision",
        lambda: waited(dead_end()),
        ("Step Waiting wait_for", "must return Wait, got StepDecision", "Wait.until(...)"),
    ),
    (
        "a wait on a Channel that is not listed",
        lambda: waited(dex.Wait.until(ELSEWHERE.for_one())),
        ("Channel elsewhere is not listed by Flow F", "notes, topics", "list it"),
    ),
    (
        "a SubFlow by its class",
        lambda: dex.SubFlow.run(Made, "x"),
        ("SubFlow.run flow is <class", "Made()"),
    ),
    (
        "a SubFlow that cannot be registered",
        lambda: waited(dex.Wait.until(dex.SubFlow.run(Made(StepList.empty, flow_type="G"), "x"))),
        ("Flow G registration failed", "get_steps is empty", "StepList.start_step(YourStep())"),
    ),
    (
        "a SubFlow of another input",
        lambda: waited(dex.Wait.until(dex.SubFlow.run(Made(StepList.empty), 5))),
        ("input of F.Waiting: str requires str, got int",),
    ),
    (
        "a SubFlow under a start's options",
        lambda: dex.SubFlow.run(Made(StepList.empty), 5, dex.StartFlowOptions()),
        ("SubFlow.run options is StartFlowOptions(", "give SubFlowOptions"),
    ),
    # Decisions.
    (
        "nowhere to go",
        lambda: decided(dex.go_to_many()),
        ("decision next has no movement", "go_to_many(...) a movement"),
    ),
    (
        "Steps in place of movements",
        lambda: decided(dex.go_to_many(Plain)),
        ("movement is <class", "StepMovement.of(YourStep, input)"),
    ),
    (
        "a Channel map that must be empty",
        lambda: decided(dex.force_complete_if_channels_empty(1, MOVE(Plain, "a"), TOPICS)),
        ("force_complete_if_channels_empty got ChannelMap('topics', str)", "give a Channel"),
    ),
    (
        "no Channel that must be empty",
        lambda: decided(dex.force_complete_if_channels_empty(1, MOVE(Plain, "a"))),
        ("force_complete_if_channels_empty has no Channel", "use force_complete"),
    ),
    (
        "no fallback",
        lambda: decided(dex.force_complete_if_channels_empty(1, None, NOTES)),
        ("fallback: movement is None", "StepMovement.of"),
    ),
    (
        "a fallback of another input",
        lambda: decided(dex.force_complete_if_channels_empty(1, MOVE(Num, "a"), NOTES)),
        ("fallback: input of F.Num: int requires int, got str",),
    ),
    (
        "cancelling what is not listed",
        lambda: decided(dead_end().with_canceling_steps(Waiting)),
        ("canceling_steps: Step class is not registered: Waiting", "lists Num, Other, Plain"),
    ),
    (
        "cancelling an instance",
        lambda: decided(dex.dead_end().with_canceling_sibling_steps(Plain())),
        ("canceling_sibling_steps", "give the class, Plain"),
    ),
]


@pytest.mark.parametrize(("make", "parts"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_each_mistake_is_one_clear_error(make: Callable[[], Any], parts: tuple[str, ...]) -> None:
    """It names the thing, what stands there, and what to write."""
    check_clear(make, parts)


def test_the_mistakes_are_distinct() -> None:
    """No two of them are the same."""
    check_distinct(CASES)
