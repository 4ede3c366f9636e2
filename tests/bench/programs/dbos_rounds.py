"""Poll rounds of dbos: a Step that asks, an event that says how far it is, a durable sleep."""

from __future__ import annotations

import asyncio

from dbos import DBOS  # type: ignore[import-not-found]  # in the environment of dbos alone

from tests.bench.programs.dbos_setting import configure, settings
from tests.bench.programs.meter import Meter, answer, arguments
from tests.bench.programs.polled import call


@DBOS.step()  # type: ignore[untyped-decorator]
async def ask() -> str:
    """Ask the external system."""
    return await call()


@DBOS.workflow()  # type: ignore[untyped-decorator]
async def polling(rounds: int, interval: float) -> int:
    """Poll so often."""
    for number in range(rounds):
        state = await ask()
        await DBOS.set_event_async("progress", {"state": state, "round": number})
        await DBOS.sleep_async(interval)
    return rounds


async def polled(pollers: int, rounds: int, interval: float) -> None:
    """Let so many poll at once."""
    handles = await asyncio.gather(
        *(DBOS.start_workflow_async(polling, rounds, interval) for _ in range(pollers))
    )
    results = await asyncio.gather(*(h.get_result(polling_interval_sec=0.1) for h in handles))
    if set(results) != {rounds}:
        message = "dbos gave another result"
        raise RuntimeError(message)


def main() -> None:
    """Warm up and measure."""
    asked = arguments()
    engine = configure(asked["store"])
    DBOS.launch()
    pollers, rounds, interval = asked["pollers"], asked["rounds"], asked["interval"]
    asyncio.run(polled(2, 2, interval))
    with Meter() as meter:
        asyncio.run(polled(pollers, rounds, interval))
    answer(**meter.figures(pollers * rounds), settings=settings(engine))
    DBOS.destroy()


if __name__ == "__main__":
    main()
