"""How long a client's call goes on trying a store that is busy."""

from __future__ import annotations

import asyncio

import pytest

from dexnb.clock import Clock
from dexnb.engine.patience import DELAYS, patiently
from dexnb.errors import ProviderError


async def tried(seconds: float) -> tuple[int, float]:
    """Make a call that fails after so long; give how often it was made, and for how long."""
    loop = asyncio.get_running_loop()
    began, calls = loop.time(), 0

    async def call() -> None:
        nonlocal calls
        calls += 1
        await asyncio.sleep(seconds)
        raise ProviderError("start_run", "locked", retryable=True)

    with pytest.raises(ProviderError):
        await patiently(call)
    return calls, loop.time() - began


@pytest.mark.parametrize("lasting", [0.0, 0.01])
def test_a_call_that_fails_at_once_is_repeated_for_two_seconds(lasting: float) -> None:
    """A store that is busy for a moment is not the caller's concern."""
    calls, seconds = Clock.virtual().run(tried(lasting))
    assert calls == len(DELAYS) + 1
    assert seconds == pytest.approx(sum(DELAYS) + calls * lasting)


@pytest.mark.parametrize("lasting", [1.0, 5.0, 9.0])
def test_a_store_that_was_patient_itself_is_not_asked_over_and_over(lasting: float) -> None:
    """What it says, such as for how long its file was locked, is about what the caller waited."""
    _, seconds = Clock.virtual().run(tried(lasting))
    assert seconds <= sum(DELAYS) + lasting
