"""Errands are done in order on one daemon thread, whatever they raise."""

from __future__ import annotations

import threading

import pytest

from dexnb.jupyter import errands as module
from dexnb.jupyter.errands import Errands


def test_errands_are_done_in_order_and_one_at_a_time() -> None:
    """Also when they come from several threads."""
    errands = Errands("test")
    done: list[int] = []
    futures = [errands.run(done.append, number) for number in range(200)]
    for future in futures:
        future.result(10)
    assert done == list(range(200))


def test_an_errand_that_fails_does_not_end_the_others() -> None:
    """Its error belongs to who asked."""
    errands = Errands("test")
    failing = errands.run(int, "x")
    with pytest.raises(ValueError, match="invalid literal"):
        failing.result(10)
    assert errands.run(int, "7").result(10) == 7


def test_the_thread_goes_when_it_is_idle_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a daemon, so that it never holds up the exit."""
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.01)
    errands = Errands("test")
    first = errands.run(threading.current_thread).result(10)
    assert first.daemon
    first.join(10)
    assert not first.is_alive()
    assert errands.run(int, "7").result(10) == 7
