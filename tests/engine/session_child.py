"""Programs that a test runs in processes of their own; the first argument names one."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from typing import Any

import dexnb
from dexnb import Context, StepDecision, graceful_complete
from dexnb.errors import RuntimeClosed
from dexnb.flow.context import AsyncContext
from tests.engine.flows import flow


async def for_ever(context: AsyncContext, input: Any) -> StepDecision:
    """Wait for ever."""
    await asyncio.sleep(1e6)
    return graceful_complete()


def blocks(context: Context, input: Any) -> StepDecision:
    """Block a thread for ever."""
    time.sleep(1e6)
    return graceful_complete()


def interrupt_soon() -> None:
    """Press Ctrl-C after half a second."""
    threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()


def interrupted_wait_sync() -> None:
    """Say how long an interrupt of `wait_sync` takes, and that the run goes on."""
    session = dexnb.open("memory:")
    run = session.start(flow(for_ever), "flow")
    interrupt_soon()
    began = time.monotonic()
    try:
        run.wait_sync()
    except KeyboardInterrupt:
        print("felt", time.monotonic() - began - 0.5)
    print("status", run.status)
    session.close()


def interrupted_wait() -> None:
    """The same for `await run.wait()`."""
    session = dexnb.open("memory:")
    run = session.start(flow(for_ever), "flow")
    interrupt_soon()
    began = time.monotonic()
    try:
        asyncio.run(run.wait())
    except KeyboardInterrupt:
        print("felt", time.monotonic() - began - 0.5)
    print("status", run.status)
    session.close()


def leave(function: Any) -> None:
    """End the program with a run in flight and a session that nobody closed."""
    session = dexnb.open("memory:")
    for number in range(3):
        session.start(flow(function), f"flow-{number}")
    time.sleep(0.3)
    print("leaving", time.time(), flush=True)


def exit_async() -> None:
    """Leave async Steps behind."""
    leave(for_ever)


def exit_sync() -> None:
    """Leave blocking Steps behind."""
    leave(blocks)


def exit_error() -> None:
    """Leave by an error."""
    leave(for_ever)
    raise SystemExit(3)


def exit_waiting() -> None:
    """Leave while another thread waits for a run."""
    session = dexnb.open("memory:")
    run = session.start(flow(for_ever), "flow")

    def wait() -> None:
        try:
            run.wait_sync()
        except RuntimeClosed as error:
            print("closed", error, flush=True)

    threading.Thread(target=wait, daemon=True).start()
    time.sleep(0.3)
    print("leaving", time.time(), flush=True)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
