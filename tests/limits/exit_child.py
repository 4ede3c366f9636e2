"""A program that ends with a run in flight. Arguments: the store, the way to end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time

import dexnb
from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    graceful_complete,
)


class Wait(Step[None]):
    """Waits for a long time."""

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Wait."""
        await context.heartbeat("waiting")
        await asyncio.sleep(600)
        return graceful_complete()


class Block(Step[None]):
    """Blocks its thread for a long time."""

    def execute(self, context: Context, input: None) -> StepDecision:
        """Block."""
        time.sleep(600)
        return graceful_complete()


class WaitingFlow(Flow[None]):
    """One async Step."""

    def get_steps(self) -> StepList[None]:
        """Give the Step."""
        return StepList.start_step(Wait())


class BlockingFlow(Flow[None]):
    """One sync Step."""

    def get_steps(self) -> StepList[None]:
        """Give the Step."""
        return StepList.start_step(Block())


def main(store: str, way: str) -> None:
    """Start both Flows and end."""
    runtime = dexnb.open(store)
    runtime.start(WaitingFlow(), "wait")
    runtime.start(BlockingFlow(), "block")
    time.sleep(0.3)
    names = [
        thread.name
        for thread in threading.enumerate()
        if not thread.daemon and thread is not threading.main_thread()
    ]
    print(time.monotonic(), names, flush=True)
    if way == "exception":
        message = "the script's own mistake"
        raise ValueError(message)
    if way == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    if way == "closed":
        runtime.close()
    if way == "exit":
        sys.exit(3)


if __name__ == "__main__":
    main(*sys.argv[1:])
