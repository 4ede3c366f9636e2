"""The interpreter's switch interval: short while a page is open, then as before."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from dexnb.widgets.switching import SWITCH_SECONDS, ShortSwitches

USUAL = 0.005


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    """The interval that Python begins with, whatever the suite has open."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(USUAL)
    yield
    sys.setswitchinterval(before)


def is_now(seconds: float) -> bool:
    """Tell whether that is the interval, which Python cuts to whole microseconds."""
    return abs(sys.getswitchinterval() - seconds) < 2e-6


def test_it_is_short_until_the_last_page_is_closed() -> None:
    """Closing twice counts once."""
    switches = ShortSwitches()
    first, second = switches.hold(), switches.hold()
    assert is_now(SWITCH_SECONDS)
    first()
    first()
    assert is_now(SWITCH_SECONDS)
    second()
    assert is_now(USUAL)
    switches.hold()()
    assert is_now(USUAL)


def test_a_shorter_one_stays() -> None:
    """It is never made longer."""
    sys.setswitchinterval(0.0001)
    release = ShortSwitches().hold()
    assert is_now(0.0001)
    release()
    assert is_now(0.0001)


def test_what_is_set_meanwhile_stays() -> None:
    """It is the user's interpreter."""
    release = ShortSwitches().hold()
    sys.setswitchinterval(0.002)
    release()
    assert is_now(0.002)
