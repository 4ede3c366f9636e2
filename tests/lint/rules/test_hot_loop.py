"""Polls without a pause: what counts as a pause of 0 s."""

from __future__ import annotations

import pytest

from tests.lint.texts import poll, said


@pytest.mark.parametrize(
    ("pause", "hot"),
    [
        ("await asyncio.sleep(delay=0)", True),
        ("await asyncio.sleep(result=1, delay=0)", True),
        ("await asyncio.wait_for(self.woken.wait(), 0)", True),
        ("await asyncio.wait_for(self.woken.wait(), timeout=0)", True),
        ("await asyncio.wait_for(self.woken.wait(), 5)", False),
        ("await asyncio.sleep(self.pause)", False),
        ("await asyncio.sleep(result=0, delay=5)", False),
    ],
)
def test_a_pause_is_measured_as_the_window_rule_does(pause: str, hot: bool) -> None:
    """By its own argument, under whatever name, and not by one that the method itself changes."""
    text = poll(attributes="pause = 0", behind="self.pause = self.pause * 2 + 1")
    text = text.replace("await asyncio.sleep(5)", pause)
    assert bool(said(text, ["DX309"])) is hot
