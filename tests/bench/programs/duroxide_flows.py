"""Flows of duroxide: `steps` Steps each, one at a time or all at once."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

from duroxide import (  # type: ignore[import-not-found]  # in the environment of duroxide alone
    Client,
    Runtime,
    SqliteProvider,
)

from tests.bench.programs.meter import Meter, answer, arguments, journal_mode, percentile

SECONDS = 300


def counting(context: Any, steps: int) -> Generator[Any, Any, int]:
    """Count to `steps`, a Step for each."""
    number = 0
    for _ in range(steps):
        number = yield context.schedule_activity("count", number)
    return number


def count(context: Any, number: int) -> int:
    """Count one up."""
    return number + 1


def opened(store: str) -> tuple[Runtime, Client]:
    """Start a runtime on this file."""
    provider = SqliteProvider.open(f"sqlite:{store}")
    runtime = Runtime(provider)
    runtime.register_activity("count", count)
    runtime.register_orchestration("counting", counting)
    runtime.start()
    return runtime, Client(provider)


def wait(client: Client, name: str, steps: int) -> None:
    """Wait for one to end as it should."""
    ended = client.wait_for_orchestration(name, SECONDS * 1000)
    if ended.status != "Completed" or ended.output != steps:
        message = f"duroxide: {name} is {ended.status}: {ended.error or ended.output}"
        raise RuntimeError(message)


def one_at_a_time(client: Client, kind: str, flows: int, steps: int) -> list[float]:
    """Give the seconds that each of them took."""
    times = []
    for number in range(flows):
        began = time.perf_counter()
        client.start_orchestration(f"{kind}-{number}", "counting", steps)
        wait(client, f"{kind}-{number}", steps)
        times.append(time.perf_counter() - began)
    return times


def at_once(client: Client, flows: int, steps: int) -> list[float]:
    """Have all of them in flight."""
    for number in range(flows):
        client.start_orchestration(f"flow-{number}", "counting", steps)
    for number in range(flows):
        wait(client, f"flow-{number}", steps)
    return [0.0]


def main() -> None:
    """Warm up and measure."""
    asked = arguments()
    runtime, client = opened(asked["store"])
    flows, steps = asked["flows"], asked["steps"]
    one_at_a_time(client, "warm", 5, steps)
    with Meter() as meter:
        if asked["in_flight"] > 1:
            times = at_once(client, flows, steps)
        else:
            times = one_at_a_time(client, "flow", flows, steps)
    answer(
        **meter.figures(flows),
        p50_ms=percentile(times, 0.5) * 1e3,
        p99_ms=percentile(times, 0.99) * 1e3,
        settings={
            "journal_mode": journal_mode(asked["store"]),
            "synchronous": "its own, see fsyncs",
            "sqlite": "its own",
        },
    )
    runtime.shutdown(1000)


if __name__ == "__main__":
    main()
