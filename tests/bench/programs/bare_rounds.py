"""Poll rounds of a bare loop: the same call, deadline and sleep, no engine and no store."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.bench.programs.meter import Meter, answer, arguments
from tests.bench.programs.polled import call

WARM_SECONDS = 0.5

rounds = 0


async def poll(number: int, interval: float) -> None:
    """Poll for as long as the program runs."""
    global rounds  # noqa: PLW0603 - one count of the whole program
    await asyncio.sleep(interval * (number % 100) / 100)
    while True:
        await call()
        rounds += 1
        await asyncio.sleep(interval)


async def measured(pollers: int, interval: float, seconds: float) -> dict[str, Any]:
    """Count the rounds of so many seconds."""
    tasks = [asyncio.create_task(poll(number, interval)) for number in range(pollers)]
    await asyncio.sleep(WARM_SECONDS)
    with Meter() as meter:
        before = rounds
        await asyncio.sleep(seconds)
        done = rounds - before
    for task in tasks:
        task.cancel()
    return meter.figures(done)


def main() -> None:
    """Answer."""
    asked = arguments()
    names = ("pollers", "interval", "seconds")
    answer(**asyncio.run(measured(*(asked[name] for name in names))))


if __name__ == "__main__":
    main()
