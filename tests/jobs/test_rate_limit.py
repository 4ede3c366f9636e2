"""How many calls per second are taken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.jobs.rate_limit import RateLimit

LIMITS = st.sampled_from([0.1, 0.5, 1, 1.5, 2, 3, 7.3, 50])


@given(LIMITS, st.lists(st.floats(0, 0.6), max_size=60), st.floats(0, 2e9))
def test_no_stretch_of_a_second_admits_more_than_the_limit(
    limit: float, gaps: list[float], start: float
) -> None:
    """Whatever the calls' timing; a limit below one counts in windows of one call."""
    rate = RateLimit(limit)
    now, admitted = start, []
    for gap in gaps:
        now += gap
        if rate.admit(now) == 0:
            admitted.append(now)
    most = max(1, int(limit))
    # Of any most + 1 calls in a row, the last is a window after the first.
    for first, beyond in zip(admitted, admitted[most:], strict=False):
        assert beyond - first > most / limit - 2e-6


@given(LIMITS, st.floats(0, 2e9))
def test_a_caller_that_waits_as_told_is_admitted(limit: float, start: float) -> None:
    """The pause is long enough, though clocks add floats."""
    rate, now = RateLimit(limit), start
    for _ in range(200):
        wait = rate.admit(now)
        if wait > 0:
            now += wait
            assert rate.admit(now) == 0
    assert now > start


@pytest.mark.parametrize(("limit", "burst"), [(0.5, 1), (1, 1), (2.9, 2), (10, 10)])
def test_a_burst_of_the_limit_is_admitted_at_once(limit: float, burst: int) -> None:
    """And the next call is told to wait for what is left of the window."""
    rate = RateLimit(limit)
    assert [rate.admit(5.0) for _ in range(burst)] == [0.0] * burst
    assert rate.admit(5.0) == pytest.approx(burst / limit)
