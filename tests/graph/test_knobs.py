"""Knobs have the ranges that the window rule leaves, and refuse what it forbids."""

from __future__ import annotations

import asyncio
import json
import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb import (
    AsyncContext,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    graceful_complete,
)
from dexnb.errors import DefinitionError
from dexnb.examples.polling import PollingFlow
from dexnb.graph import read_graph
from dexnb.graph.knobs import check_knob, find_budgets, find_knobs
from dexnb.jobs import InProcessJobs
from dexnb.model.flow_graph import FlowGraph
from dexnb.model.knob import Knob

EVERY = 2


class Short(Step[int]):
    """A Step whose window leaves no room."""

    def __init__(self, window: float) -> None:
        """Allow this much silence."""
        self._window = timedelta(seconds=window)

    def get_step_options(self) -> StepOptions:
        """Give the window."""
        return StepOptions(heartbeat_timeout=self._window)

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Poll once."""
        async with asyncio.timeout(10):
            await asyncio.sleep(0)
        await asyncio.sleep(EVERY)
        return graceful_complete()


class Minute(Step[int]):
    """A Step that polls within a window that its options write out."""

    def get_step_options(self) -> StepOptions:
        """Give the window."""
        return StepOptions(heartbeat_timeout=timedelta(minutes=1))

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Poll once."""
        async with asyncio.timeout(9):
            await asyncio.sleep(0)
        await asyncio.sleep(EVERY)
        return graceful_complete()


class MinuteFlow(Flow[int]):
    """A Flow of that Step."""

    def get_steps(self) -> StepList[int]:
        """Give the Step."""
        return StepList.start_step(Minute())


class ShortFlow(Flow[int]):
    """A Flow of the other Step."""

    def __init__(self, window: float) -> None:
        """Allow this much silence."""
        self.window = window

    def get_steps(self) -> StepList[int]:
        """Give the Step."""
        return StepList.start_step(Short(self.window))


@pytest.fixture(scope="module")
def graph() -> FlowGraph:
    """The example's graph."""
    return read_graph(PollingFlow(InProcessJobs()))


def knobs(graph: FlowGraph, **overrides: Any) -> dict[str, Knob]:
    """Give knobs by their names."""
    return {knob.name: knob for knob in find_knobs(graph, overrides)}


def test_the_example_has_the_knobs_of_the_pattern(graph: FlowGraph) -> None:
    """Each constant once, though two Steps read it; options that no constant feeds beside them."""
    names = [knob.name for knob in find_knobs(graph)]
    assert names[:4] == ["POLL_INTERVAL", "JOB_CALL_TIMEOUT", "HEARTBEAT_TIMEOUT", "MAX_JOB_WAIT"]
    assert set(names[4:]) == {"AwaitJob.initial_interval", "AwaitJob.maximum_attempts"}


def test_each_range_is_what_the_others_leave(graph: FlowGraph) -> None:
    """60 - 10 - 10 for the interval, and the same sum solved for the other two."""
    found = knobs(graph)
    assert found["POLL_INTERVAL"].maximum == 40
    assert found["POLL_INTERVAL"].note == "at most 40 s = 60 - 10 - 10"
    assert found["JOB_CALL_TIMEOUT"].maximum == 48
    assert found["HEARTBEAT_TIMEOUT"].minimum == 22
    assert found["MAX_JOB_WAIT"].note == "worst case 20 min"
    assert found["AwaitJob.maximum_attempts"].unit == "count"
    assert all(knob.legal and not knob.error for knob in found.values())


def test_a_turned_knob_moves_the_ranges_of_the_others(graph: FlowGraph) -> None:
    """Ranges belong to a run's own values."""
    found = knobs(graph, POLL_INTERVAL=12.0, JOB_CALL_TIMEOUT=5)
    assert (found["POLL_INTERVAL"].value, found["POLL_INTERVAL"].default) == (12, 2)
    assert found["POLL_INTERVAL"].maximum == 45
    assert found["JOB_CALL_TIMEOUT"].maximum == 38
    assert found["HEARTBEAT_TIMEOUT"].minimum == 27


@pytest.mark.parametrize("window", [10, 15, 20])
def test_a_window_without_room_gives_a_disabled_knob_and_says_why(window: float) -> None:
    """No negative maximum: no choice, and the smallest window that would do."""
    found = knobs(read_graph(ShortFlow(window)))["EVERY"]
    assert found.minimum == found.maximum == found.value == 2
    assert not found.legal
    assert "raise heartbeat_timeout to at least 22 s" in found.error


def test_the_smallest_legal_window_leaves_the_interval_as_it_is() -> None:
    """Equality is legal."""
    found = knobs(read_graph(ShortFlow(22)))["EVERY"]
    assert found.legal
    assert found.maximum == 2


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("POLL_INTERVAL", 40.001, "over 40 s = 60 - 10 - 10"),
        ("POLL_INTERVAL", 120, "raise heartbeat_timeout to at least 140 s"),
        ("JOB_CALL_TIMEOUT", 49, "at least 61 s"),
        ("HEARTBEAT_TIMEOUT", 21, "at least 22 s"),
        ("HEARTBEAT_TIMEOUT", 5, "AwaitJob.heartbeat_timeout would be 5 s; give at least 22 s"),
        ("POLL_INTERVAL", 0, "more than 0"),
        ("POLL_INTERVAL", -1, "more than 0"),
        ("POLL_INTERVAL", math.nan, "finite"),
        ("POLL_INTERVAL", math.inf, "finite"),
        ("POLL_INTERVAL", 1e12, "at most"),
        ("POLL_INTERVAL", None, "finite"),
        ("POLL_INTERVAL", "", "finite"),
        ("POLL_INTERVAL", True, "finite"),
        ("AwaitJob.maximum_attempts", 2.5, "whole number"),
        ("AwaitJob.maximum_attempts", -1, "whole number"),
        ("INTERVAL", 2, "its knobs: "),
        ("AwaitJob.interval", 2, "its knobs: "),
        ("Other.heartbeat_timeout", 60, "its knobs: "),
    ],
)
def test_a_value_that_cannot_hold_is_refused_by_name(
    graph: FlowGraph, name: str, value: Any, part: str
) -> None:
    """The text names the knob and says what would do."""
    with pytest.raises(DefinitionError, match=name.replace(".", r"\.")) as refusal:
        check_knob(graph, {}, name, value)
    assert part in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("POLL_INTERVAL", 40),
        ("POLL_INTERVAL", 0.005),
        ("AwaitJob.POLL_INTERVAL", 3),
        ("AwaitJob.maximum_attempts", 0),
        ("AwaitJob.heartbeat_timeout", 30),
        ("StartJob.heartbeat_timeout", 10),
        ("MAX_JOB_WAIT", 86400),
    ],
)
def test_a_value_that_holds_is_taken(graph: FlowGraph, name: str, value: float) -> None:
    """Equality is legal, and so is what lies beyond a slider's end."""
    assert check_knob(graph, {}, name, value) == value


def test_the_smallest_value_that_a_refusal_names_is_the_knobs_own() -> None:
    """What the list says and what the text says is the same, and the text names the knob once."""
    made = read_graph(MinuteFlow())
    name = "Minute.heartbeat_timeout"
    least = knobs(made)[name].minimum
    assert least == 21
    with pytest.raises(DefinitionError) as refusal:
        check_knob(made, {}, name, 5)
    assert str(refusal.value) == f"{name} is 5: give at least {least:g} s"
    assert check_knob(made, {}, name, least) == least
    with pytest.raises(DefinitionError, match="give at least 10 s"):
        check_knob(made, {}, name, 5, window=False)


def test_what_may_be_turned_without_being_a_knob_is_named_and_becomes_one() -> None:
    """Every Step's options: whoever asks for another name is told, and a turned one is listed."""
    made = read_graph(ShortFlow(60))
    name = "Short.execute_method_timeout"
    assert name not in knobs(made)
    assert check_knob(made, {}, name, 90) == 90
    with pytest.raises(DefinitionError, match=r"its knobs: .*; and of each Step .*Short\.execute_"):
        check_knob(made, {}, "no", 90)
    turned = knobs(made, **{name: 90.0})[name]
    assert (turned.value, turned.default) == (90, 7200)


def test_a_change_is_judged_together_with_the_runs_other_values(graph: FlowGraph) -> None:
    """A longer window makes room for a longer interval."""
    assert check_knob(graph, {"HEARTBEAT_TIMEOUT": 140}, "POLL_INTERVAL", 120) == 120


def test_a_change_elsewhere_is_not_refused_for_a_broken_window() -> None:
    """A knob without a part in the rule may be turned while the rule is broken."""
    broken = read_graph(ShortFlow(15))
    assert check_knob(broken, {}, "Short.maximum_attempts", 2) == 2


@given(st.floats(0.1, 500), st.floats(0.1, 500), st.floats(10, 1000))
def test_a_range_is_exactly_what_is_not_refused(
    interval: float, call: float, window: float
) -> None:
    """Both ends of every legal range are accepted, and a step beyond the window's end is not."""
    graph = read_graph(PollingFlow(InProcessJobs()))
    overrides = {"POLL_INTERVAL": interval, "JOB_CALL_TIMEOUT": call, "HEARTBEAT_TIMEOUT": window}
    for knob in find_knobs(graph, overrides)[:3]:
        assert 0 <= knob.minimum <= knob.maximum
        if knob.minimum < knob.maximum:
            for end in (knob.minimum, knob.maximum):
                others = {**overrides}
                check_knob(graph, others, knob.name, end)
    top = find_knobs(graph, overrides)[0].maximum
    with pytest.raises(DefinitionError):
        check_knob(graph, overrides, "POLL_INTERVAL", max(top, interval) + max(window, 1))


def test_knobs_and_budgets_are_strict_json(graph: FlowGraph) -> None:
    """What a page gets holds neither NaN nor infinity."""
    documents = [knob.to_json() for knob in find_knobs(graph)]
    documents += [budget.to_json() for budget in find_budgets(graph)]
    assert json.loads(json.dumps(documents, allow_nan=False)) == documents
