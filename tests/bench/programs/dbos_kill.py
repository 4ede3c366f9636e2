"""Flows of dbos: all in flight until the process is killed, then all to the end in the next."""

from __future__ import annotations

import asyncio
import time

from dbos import DBOS  # type: ignore[import-not-found]  # in the environment of dbos alone

from tests.bench.programs.dbos_setting import configure, settings
from tests.bench.programs.meter import answer, arguments

blocks = False
running = 0


@DBOS.step()  # type: ignore[untyped-decorator]
async def prepare(number: int) -> int:
    """Do its work once."""
    return number


@DBOS.step()  # type: ignore[untyped-decorator]
async def finish(number: int) -> int:
    """Wait to be killed, or end."""
    global running  # noqa: PLW0603 - one count of the whole program
    running += 1
    if blocks:
        await asyncio.sleep(3600)
    return number


@DBOS.workflow()  # type: ignore[untyped-decorator]
async def two_steps(number: int) -> int:
    """One Step after the other."""
    return int(await finish(await prepare(number)))


async def fill(flows: int) -> None:
    """Have so many in flight, say so, and wait to be killed."""
    global blocks  # noqa: PLW0603 - the role of the whole program
    blocks = True
    await asyncio.gather(*(DBOS.start_workflow_async(two_steps, n) for n in range(flows)))
    while running < flows:
        await asyncio.sleep(0.01)
    answer(ready=flows)
    await asyncio.sleep(3600)


def resume(flows: int) -> float:
    """Launch on the same file, which recovers what is open; give the seconds until all ended."""
    began = time.perf_counter()
    DBOS.launch()
    while DBOS.list_workflows(status=["PENDING", "ENQUEUED"], limit=1, load_input=False):
        time.sleep(0.05)
    seconds = time.perf_counter() - began
    ended = len(DBOS.list_workflows(status="SUCCESS", load_input=False, load_output=False))
    if ended != flows:
        message = f"dbos: {ended} of {flows} flows are complete after the kill"
        raise RuntimeError(message)
    return seconds


def main() -> None:
    """Do what this process is for."""
    asked = arguments()
    flows = asked["flows"]
    engine = configure(asked["store"])
    if asked["role"] == "fill":
        DBOS.launch()
        asyncio.run(fill(flows))
    else:
        seconds = resume(flows)
        answer(seconds=seconds, rate=flows / seconds, settings=settings(engine))
        DBOS.destroy()


if __name__ == "__main__":
    main()
