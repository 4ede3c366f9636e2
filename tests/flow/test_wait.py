"""What a Step waits for: Timers, Channels and SubFlows, alone, together and in combinations."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    Channel,
    ChannelMap,
    ConditionCombination,
    PersistenceSchema,
    StepList,
    SubFlow,
    SubFlowOptions,
    Timer,
    Wait,
)
from dexnb.clock import LONGEST
from dexnb.errors import DefinitionError
from dexnb.flow.mapping import map_wait
from dexnb.flow.registry import RegisteredFlow, read_flow
from tests.flow.flows import Made, Plain, known

SECOND = timedelta(seconds=1)
NOTES = Channel("notes", str)
TOPICS = ChannelMap("topics", int)
FLOW = read_flow(
    Made(lambda: StepList.start_step(Plain()), lambda: PersistenceSchema.of(NOTES, TOPICS))
)


def timer(condition_id: str | None = None, seconds: float = 1.0) -> Any:
    """Give a Timer's condition."""
    return Timer.by_duration(timedelta(seconds=seconds), condition_id=condition_id)


def mapped(wait: Wait, flow: RegisteredFlow = FLOW) -> dict[str, Any]:
    """Map what a wait_for gave."""
    return map_wait(wait, known({"F": FLOW}), flow, flow.steps["Plain"])


def test_no_wait_is_a_document_without_conditions() -> None:
    """Execute follows at once."""
    assert mapped(Wait.skip_immediately()) == {"kind": "skip", "conditions": [], "combinations": []}


def test_until_waits_for_all_of_one() -> None:
    """There is no kind of its own for it."""
    assert Wait.until(timer()) == Wait.all_of(timer())
    assert mapped(Wait.until(timer("t", 0.25))) == {
        "kind": "all_of",
        "conditions": [{"kind": "timer", "id": "t", "seconds": 0.25}],
        "combinations": [],
    }


def test_conditions_keep_their_order_and_need_no_ids() -> None:
    """The same one may stand twice: two messages of one Channel are two conditions."""
    wait = Wait.any_of(NOTES.for_one(), timer(), NOTES.for_one(), TOPICS.at_least("a/b", 2))
    document = mapped(wait)
    assert document["kind"] == "any_of"
    assert [each["kind"] for each in document["conditions"]] == [
        "channel",
        "timer",
        "channel",
        "channel",
    ]
    assert document["conditions"][3] == {
        "kind": "channel",
        "id": "",
        "channel": "topics/a%2Fb",
        "at_least": 2,
        "at_most": None,
    }


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        (timedelta(0), 0.0),
        (timedelta(milliseconds=1), 0.001),
        (timedelta(days=1), 86400.0),
        (timedelta.max, LONGEST),
    ],
)
def test_a_timer_takes_any_duration_from_none_to_a_hundred_years(
    duration: timedelta, seconds: float
) -> None:
    """Fractions of a second too, since notebooks are impatient."""
    assert Timer.by_duration(duration).document()["seconds"] == seconds


def test_combinations_name_their_conditions_by_place() -> None:
    """One that stands in several is one condition, by the same object or an equal one."""
    a, b, c = timer("a"), NOTES.for_one(condition_id="b"), timer("c", 3)
    combinations = (
        ConditionCombination.of(a, b),
        ConditionCombination.of(c, timer("a")),
        ConditionCombination.of(b),
    )
    document = mapped(Wait.any_combination_of(*combinations))
    assert document["kind"] == "any_combination_of"
    assert [each["id"] for each in document["conditions"]] == ["a", "b", "c"]
    assert document["combinations"] == [[0, 1], [2, 0], [1]]


def test_a_wait_made_by_hand_is_checked_as_well() -> None:
    """The makers are no way around."""
    for kind, conditions, text in [
        ("all_of", (), "Wait.all_of has no Condition"),
        ("sometimes", (timer(),), "Wait kind is 'sometimes': use Wait.skip_immediately"),
        ("any_of", (timer("a"), timer("a")), "two conditions of the id 'a'"),
    ]:
        given: Any = kind
        with pytest.raises(DefinitionError, match=text):
            Wait(given, conditions)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (ConditionCombination.of(timer("a")), "use Wait.any_combination_of"),
        (5, "give a Condition: Timer.by_duration"),
        (Timer, "give a Condition: Timer.by_duration"),
        (NOTES, "give a Condition: Timer.by_duration"),
    ],
)
def test_what_is_no_condition_is_refused_with_what_is(given: Any, text: str) -> None:
    """A combination, a value, a class, a Channel without its count."""
    with pytest.raises(DefinitionError, match=r"Wait\.all_of got") as caught:
        Wait.all_of(given)
    assert text in str(caught.value)


def test_a_condition_in_place_of_a_combination_is_refused() -> None:
    """With the maker that it needs."""
    given: Any = timer("a")
    with pytest.raises(DefinitionError, match=r"give ConditionCombination\.of"):
        Wait.any_combination_of(given)


def test_a_subflow_in_two_combinations_is_one() -> None:
    """By the same object only, because what it is given may have no equality."""
    flow: Any = Made(lambda: StepList.start_step(Plain()))
    options = SubFlowOptions(condition_id="s")
    child = SubFlow.run(flow, "x", options)
    wait = Wait.any_combination_of(
        ConditionCombination.of(child, timer("a")), ConditionCombination.of(child)
    )
    assert wait.combinations == ((0, 1), (0,))
    with pytest.raises(DefinitionError, match="make the condition once and use it in both"):
        Wait.any_combination_of(
            ConditionCombination.of(child),
            ConditionCombination.of(SubFlow.run(flow, "x", options)),
        )


def test_a_definition_that_was_made_again_is_the_same_one() -> None:
    """A cell that is run again makes new objects, which are matched by name, kind and type."""
    assert (
        mapped(Wait.until(Channel("notes", str).for_one()))["conditions"][0]["channel"] == "notes"
    )
    with pytest.raises(DefinitionError, match="Channel notes value_type is int and str in Flow F"):
        mapped(Wait.until(Channel("notes", int).for_one()))
