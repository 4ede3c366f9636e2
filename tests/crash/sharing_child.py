"""A kernel of two on one file: it starts Flows for a while, and tells how long each start took."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time

import dexnb as dex

STEPS = 3


class Busy(dex.Step[int]):
    """Goes on to itself a few times, so that turns and attempts never end."""

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Do nothing but decide."""
        return dex.go_to(Busy, input - 1) if input else dex.graceful_complete(context.run_id)


class BusyFlow(dex.Flow[int]):
    """What both kernels know."""

    def get_steps(self) -> dex.StepList[int]:
        """One Step."""
        return dex.StepList.start_step(Busy())


class Own(dex.Step[int]):
    """Known to the second kernel alone."""

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Do nothing but decide."""
        await asyncio.sleep(0)
        return dex.graceful_complete(input)


class OwnFlow(dex.Flow[int]):
    """What the first kernel has no cell of."""

    def get_steps(self) -> dex.StepList[int]:
        """One Step."""
        return dex.StepList.start_step(Own())


def busy(session: dex.Session, seconds: float) -> None:
    """Keep many Flows going, and say when the first ones are committed."""
    number, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        session.start(BusyFlow(), f"busy-{number}", STEPS)
        number += 1
        if number == 50:
            print("going", flush=True)
    print(number, flush=True)


def calm(session: dex.Session, seconds: float) -> None:
    """Start a Flow now and then, and say how long the slowest hundredth took."""
    session.start(OwnFlow(), "first", 0).wait_sync(20)  # loads what a process loads once
    waits: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        run = session.start(OwnFlow(), f"own-{len(waits)}", len(waits))
        waits.append(time.monotonic() - began)
        assert run.wait_sync(20).output == len(waits) - 1
        time.sleep(0.02)
    print(len(waits), statistics.quantiles(waits, n=100)[-1], flush=True)


def main() -> None:
    """Take the file, the part to play and its seconds."""
    path, part, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    with dex.open(path) as session:
        {"busy": busy, "calm": calm}[part](session, seconds)


if __name__ == "__main__":
    main()
