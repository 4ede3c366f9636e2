"""Suspended or stepped: what three clocks tell, case by case."""

from __future__ import annotations

import pytest

from dexnb.clock import ClockWatch, Readings, Stepped, Suspended, host_readings

HOURS = 3600.0


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        pytest.param((0.1, 0.1, 0.1), None, id="nothing"),
        pytest.param((3 * HOURS, 3 * HOURS, 3 * HOURS), None, id="a long time"),
        pytest.param(
            (0.1, 0.1 + 8 * HOURS, 0.1 + 8 * HOURS), Suspended(8 * HOURS), id="lid closed"
        ),
        pytest.param((0.1, 2.6, 2.6), Suspended(2.5), id="a short nap"),
        pytest.param((0.1, 0.9, 0.9), None, id="jitter of the boot clock"),
        pytest.param((0.1, 0.1, 0.1 + HOURS), Stepped(HOURS), id="set forward"),
        pytest.param((0.1, 0.1, 0.1 - HOURS), Stepped(-HOURS), id="set back"),
        pytest.param((1.0, 1.0, 1.9), None, id="slewed"),
        pytest.param((0.1, None, 0.1), None, id="no boot clock, nothing"),
        pytest.param((0.1, None, 0.1 + 8 * HOURS), Stepped(8 * HOURS), id="no boot clock, a gap"),
        pytest.param((0.1, None, 0.1 - HOURS), Stepped(-HOURS), id="no boot clock, set back"),
    ],
)
def test_each_disagreement_has_one_meaning(
    passed: tuple[float, float | None, float], expected: Suspended | Stepped | None
) -> None:
    """From the first readings on, the sizes of the three advances decide."""
    mono, boot, wall = passed
    watch = ClockWatch()
    first = Readings(100.0, None if boot is None else 500.0, 1_700_000_000.0)

    assert watch.observe(first) is None

    seen = watch.observe(
        Readings(100.0 + mono, None if boot is None else 500.0 + boot, 1_700_000_000.0 + wall)
    )
    assert type(seen) is type(expected)
    if seen is not None and expected is not None:
        assert seen.seconds == pytest.approx(expected.seconds, abs=1e-3)


def test_a_suspend_is_reported_once() -> None:
    """The readings after it are compared with those that told it."""
    watch = ClockWatch()
    watch.observe(Readings(0, 0, 0))

    assert watch.observe(Readings(1, 101, 101)) == Suspended(100)
    assert watch.observe(Readings(2, 102, 102)) is None


def test_a_suspend_and_a_step_at_once_are_both_reported_suspend_first() -> None:
    """A machine that wakes and gets the right time at once loses neither."""
    watch = ClockWatch()
    watch.observe(Readings(0, 0, 0))

    assert watch.observe(Readings(1, 101, 3701)) == Suspended(100)
    assert watch.observe(Readings(2, 102, 3702)) == Stepped(3600)
    assert watch.observe(Readings(3, 103, 3703)) is None


def test_the_threshold_is_a_choice() -> None:
    """A finer watch sees a smaller step."""
    watch = ClockWatch(threshold=0.2)
    watch.observe(Readings(0, 0, 0))

    assert watch.observe(Readings(1, 1, 1.5)) == Stepped(0.5)


def test_this_machine_is_neither_suspended_nor_stepped_between_two_looks() -> None:
    """The real readings fit the watch."""
    watch = ClockWatch()

    assert watch.observe(host_readings()) is None
    assert watch.observe(host_readings()) is None
    assert host_readings().monotonic <= host_readings().monotonic
