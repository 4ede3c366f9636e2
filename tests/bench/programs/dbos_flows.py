"""Flows of dbos: `steps` Steps each, one at a time or `in_flight` at once, or their latency."""

from __future__ import annotations

import asyncio
import time

from dbos import DBOS  # type: ignore[import-not-found]  # in the environment of dbos alone

from tests.bench.programs.dbos_setting import configure, settings
from tests.bench.programs.meter import Meter, answer, arguments, percentile


@DBOS.step()  # type: ignore[untyped-decorator]
def count(number: int) -> int:
    """Count one up."""
    return number + 1


@DBOS.workflow()  # type: ignore[untyped-decorator]
def counting(steps: int) -> int:
    """Count to `steps`, a Step for each."""
    number = 0
    for _ in range(steps):
        number = count(number)
    return number


@DBOS.step()  # type: ignore[untyped-decorator]
async def count_async(number: int) -> int:
    """Count one up."""
    return number + 1


@DBOS.workflow()  # type: ignore[untyped-decorator]
async def counting_async(steps: int) -> int:
    """Count to `steps`, a Step for each."""
    number = 0
    for _ in range(steps):
        number = await count_async(number)
    return number


def one_at_a_time(flows: int, steps: int) -> list[float]:
    """Give the seconds that each of them took."""
    times = []
    for _ in range(flows):
        began = time.perf_counter()
        if counting(steps) != steps:
            message = "dbos gave another result"
            raise RuntimeError(message)
        times.append(time.perf_counter() - began)
    return times


async def at_once(flows: int, steps: int) -> None:
    """Have all of them in flight."""
    handles = await asyncio.gather(
        *(DBOS.start_workflow_async(counting_async, steps) for _ in range(flows))
    )
    results = await asyncio.gather(*(handle.get_result() for handle in handles))
    if set(results) != {steps}:
        message = "dbos gave another result"
        raise RuntimeError(message)


def main() -> None:
    """Warm up and measure."""
    asked = arguments()
    engine = configure(asked["store"])
    DBOS.launch()
    flows, steps = asked["flows"], asked["steps"]
    one_at_a_time(20, steps)
    with Meter() as meter:
        if asked["in_flight"] > 1:
            asyncio.run(at_once(flows, steps))
            times = [0.0]
        else:
            times = one_at_a_time(flows, steps)
    answer(
        **meter.figures(flows),
        p50_ms=percentile(times, 0.5) * 1e3,
        p99_ms=percentile(times, 0.99) * 1e3,
        settings=settings(engine),
    )
    DBOS.destroy()


if __name__ == "__main__":
    main()
