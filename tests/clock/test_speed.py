"""How fast virtual time runs, against a bare loop that only adds up timeouts."""

from __future__ import annotations

import asyncio
import selectors
import subprocess
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from dexnb.clock import Clock, perf_counter

SIMULATIONS = 60
Main = Callable[[], Coroutine[Any, Any, None]]


class BareSelector(selectors.DefaultSelector):
    """Jump, and look at nothing else."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Add up."""
        self.now += timeout or 0
        return []


class BareLoop(asyncio.SelectorEventLoop):
    """The least that runs asyncio code in virtual time."""

    def __init__(self) -> None:
        self.bare = BareSelector()
        super().__init__(self.bare)

    def time(self) -> float:
        """Give the sum."""
        return self.bare.now


async def poll() -> None:
    """Poll for ten minutes in 300 rounds of a call and a sleep: 600 sleeps."""
    for _ in range(300):
        await asyncio.sleep(0.2)
        await asyncio.sleep(1.8)


async def one_by_one() -> None:
    """Run simulations alone."""
    for _ in range(SIMULATIONS):
        await poll()


async def all_at_once() -> None:
    """Run simulations together."""
    await asyncio.gather(*(poll() for _ in range(SIMULATIONS)))


def rate(loop_factory: Callable[[], asyncio.AbstractEventLoop], main: Main) -> float:
    """Give simulations per second."""
    begun = perf_counter()
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(main())
    return SIMULATIONS / (perf_counter() - begun)


@pytest.mark.bench
@pytest.mark.timing
@pytest.mark.parametrize("main", [one_by_one, all_at_once])
def test_virtual_time_costs_little_more_than_a_bare_loop(main: Main) -> None:
    """Counting outside work and refusing to run ahead takes less than half of the loop's time."""
    ours, bare = [], []
    for _ in range(5):
        ours.append(rate(Clock.virtual().new_event_loop, main))
        bare.append(rate(BareLoop, main))
    best, floor = max(ours), max(bare)
    print(f"\n{main.__name__}: {best:.0f} simulations/s of 600 sleeps, bare loop {floor:.0f}")

    assert best > 0.5 * floor


AUDIT = """
import sys, timeit
from dexnb.clock import Clock

def cost():
    return min(timeit.repeat("audit('dexnb.test')", globals={"audit": sys.audit}, number=20_000))

bare = cost() / 20_000
Clock.virtual().new_event_loop().close()
print(bare, cost() / 20_000)
"""


@pytest.mark.bench
@pytest.mark.timing
def test_the_audit_hook_costs_little_while_no_clock_guards() -> None:
    """Every audit event of the process passes the hook, which leaves at once: below 2 us each."""
    done = subprocess.run(
        [sys.executable, "-c", AUDIT], capture_output=True, text=True, check=True, timeout=50
    )
    bare, hooked = (float(word) * 1e9 for word in done.stdout.split())
    print(f"\naudit event: {bare:.0f} ns bare, {hooked:.0f} ns with the hook")

    assert hooked - bare < 2000
