"""Delays between attempts stay finite, grow and stay under their cap, whatever the numbers."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.clock import LONGEST
from dexnb.errors import DocumentError
from dexnb.model.json_text import from_text, to_text
from dexnb.model.settings import RetrySettings, StepSettings

INTERVALS = [0.001, 1.0, 86400.0]
COEFFICIENTS = [1, 1.5, 2, 1e9]


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("maximum", [None, 100.0, LONGEST])
def test_delays_of_ten_thousand_attempts_are_finite_and_grow_up_to_their_cap(
    interval: float, coefficient: float, maximum: float | None
) -> None:
    """Each of them, from the first to the last."""
    cap = interval if maximum is None else max(maximum, interval)
    settings = RetrySettings(interval, coefficient, cap)
    delays = [settings.delay_after(attempt) for attempt in range(1, 10_001)]
    assert delays[0] == interval
    assert all(math.isfinite(delay) and 0 < delay <= cap for delay in delays)
    assert all(now <= later for now, later in itertools.pairwise(delays))
    assert delays[-1] == (interval if coefficient == 1 else cap)


@given(
    st.floats(1e-6, LONGEST),
    st.floats(1, 1e300) | st.integers(1, 10**300),
    st.floats(1e-6, LONGEST),
    st.integers(1, 10**12),
)
def test_a_delay_is_never_over_its_cap(
    interval: float, coefficient: float, maximum: float, attempt: int
) -> None:
    """Whatever a store holds; an integer for a coefficient does not eat the memory either."""
    settings = RetrySettings(interval, coefficient, maximum)
    delay = settings.delay_after(attempt)
    assert 0 < delay <= maximum
    assert delay <= settings.delay_after(attempt + 1)


def test_delays_double_by_default() -> None:
    """One second, then twice as long up to a hundred."""
    delays = [RetrySettings().delay_after(attempt) for attempt in range(1, 10)]
    assert delays == [1, 2, 4, 8, 16, 32, 64, 100, 100]


def test_no_attempt_follows_the_last_one_or_the_end_of_the_budget() -> None:
    """Attempts count the first; the budget gates the start of the next one, its delay included."""
    three = RetrySettings(maximum_attempts=3)
    assert [three.allows_another(attempt, 0.0, 1.0) for attempt in (1, 2, 3, 4)] == [
        True,
        True,
        False,
        False,
    ]
    short = RetrySettings(initial_interval=10.0, total_duration=60.0)
    assert short.allows_another(1, 49.9, short.delay_after(1))
    assert not short.allows_another(1, 50.0, short.delay_after(1))
    assert not replace(three, total_duration=5.0).allows_another(1, 5.0, 0.0)


NESTED = StepSettings(
    execute_method_timeout=5.0,
    retry=RetrySettings(maximum_attempts=3),
    durability="ASYNC",
    recovery="B",
    recovery_options=StepSettings(recovery="C", wait_for_durability="ASYNC").to_json(),
    recovery_plan={"wait_for": True},
    wait_for_method_timeout=7.0,
    wait_for_retry=RetrySettings(maximum_attempts=2),
)


@pytest.mark.parametrize("settings", [StepSettings(), NESTED])
def test_settings_come_back_from_a_store(settings: StepSettings) -> None:
    """Nested ones too."""
    assert StepSettings.from_json(from_text(to_text(settings.to_json()))) == settings


def test_settings_without_a_wait_are_stored_as_they_always_were() -> None:
    """What only some Steps have is left out at its default, and may be missing where it is read."""
    document = StepSettings().to_json()
    assert list(document) == [
        "execute_method_timeout",
        "heartbeat_timeout",
        "retry",
        "durability",
        "recovery",
        "recovery_options",
    ]
    added = NESTED.to_json().keys() - document.keys()
    assert added == {"recovery_plan", "wait_for_method_timeout", "wait_for_retry"}


def _changed(**fields: Any) -> dict[str, Any]:
    return {**NESTED.to_json(), **fields}


DEEP: dict[str, Any] = {}
for _ in range(5000):
    DEEP = _changed(recovery_options=DEEP or None)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "settings",
        {},
        _changed(execute_method_timeout="5"),
        _changed(heartbeat_timeout=True),
        _changed(heartbeat_timeout=math.nan),
        _changed(retry=None),
        _changed(retry={}),
        _changed(retry={**NESTED.to_json()["retry"], "maximum_attempts": 1.5}),
        _changed(durability="FAST"),
        _changed(durability=["SYNC"]),
        _changed(recovery=5),
        _changed(recovery_options=[]),
        _changed(recovery_options={"recovery": "C"}),
        _changed(recovery_plan=[]),
        _changed(wait_for_method_timeout="7"),
        _changed(wait_for_retry={}),
        _changed(wait_for_durability="FAST"),
        DEEP,
    ],
    ids=[str(index) for index in range(20)],
)
def test_a_document_that_holds_no_settings_is_refused(document: Any) -> None:
    """With what is wrong, never by another error."""
    with pytest.raises(DocumentError, match="settings"):
        StepSettings.from_json(document)
