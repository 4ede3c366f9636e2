"""Durations from users: legal ones become seconds, all others are refused by name."""

from __future__ import annotations

import asyncio
import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.clock import LONGEST, Clock, seconds_of
from dexnb.errors import DefinitionError

FIELD = "PollingFlow.AwaitJob.heartbeat_timeout"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (0, 0.0),
        (5, 5.0),
        (0.25, 0.25),
        (timedelta(minutes=2), 120.0),
        (timedelta(microseconds=1), 1e-6),
        (LONGEST, LONGEST),
        (timedelta.max, LONGEST),
    ],
)
def test_legal_durations_become_seconds(value: timedelta | float, seconds: float) -> None:
    """Numbers are seconds; `timedelta.max` is the documented cap."""
    assert seconds_of(value, name=FIELD) == seconds


@pytest.mark.parametrize(
    "value",
    [
        -1,
        -1e-9,
        math.nan,
        math.inf,
        -math.inf,
        1e12,
        10**400,
        -(10**400),
        timedelta(seconds=-1),
        timedelta.min,
        timedelta.max - timedelta(days=1),
    ],
)
def test_durations_that_cannot_hold_are_refused_with_field_and_range(value: Any) -> None:
    """The text names the field, the value and what is legal, and stays short."""
    with pytest.raises(DefinitionError) as caught:
        seconds_of(value, name=FIELD)

    text = str(caught.value)
    assert text.startswith(f"{FIELD} is ")
    assert "at least 0 s and at most 3155760000 s (100 years)" in text
    assert len(text) < 300


@pytest.mark.parametrize("value", [None, "", "5s", True, [5], 5j])
def test_what_is_no_duration_is_refused_with_its_type(value: Any) -> None:
    """A blank or a text is named as what it is."""
    with pytest.raises(DefinitionError, match=f"{FIELD} is .*{type(value).__name__}"):
        seconds_of(value, name=FIELD)


def test_the_range_is_the_callers() -> None:
    """A minimum and a zero that is not allowed are part of the text."""
    assert seconds_of(10, name=FIELD, minimum=10) == 10.0
    with pytest.raises(DefinitionError, match="at least 10 s"):
        seconds_of(timedelta(seconds=9.9), name=FIELD, minimum=10)
    with pytest.raises(DefinitionError, match="at least 10 s"):
        seconds_of(0, name=FIELD, minimum=10)
    with pytest.raises(DefinitionError, match="more than 0 s"):
        seconds_of(0, name=FIELD, allow_zero=False)


@given(st.one_of(st.floats(), st.integers(), st.timedeltas()))
def test_every_number_is_finite_and_in_range_or_refused(value: timedelta | float) -> None:
    """Nothing comes through that a clock or a timer would choke on."""
    try:
        seconds = seconds_of(value, name=FIELD, minimum=0.5)
    except DefinitionError:
        return
    assert 0.5 <= seconds <= LONGEST


def test_the_cap_can_be_waited_for_on_every_clock() -> None:
    """No limit is no overflow: not in a timeout, not in a sleep."""

    async def main() -> None:
        limit = seconds_of(timedelta.max, name=FIELD)
        async with asyncio.timeout(limit):
            waiter = asyncio.create_task(asyncio.sleep(limit))
            await asyncio.sleep(0.001)
            waiter.cancel()

    for clock in (Clock.real(), Clock.scaled(60), Clock.virtual()):
        clock.run(main())
