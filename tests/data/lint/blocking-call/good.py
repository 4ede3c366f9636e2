from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from datetime import timedelta

import httpx
import requests

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    StepOutput,
    force_fail,
    go_to,
    graceful_complete,
    heartbeat,
)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


WAIT = StepOptions(execute_method_timeout=timedelta(hours=4)).on_execute_failure_proceed_to(GiveUp)


class AwaitLoom(Step[str]):
    """Threads and the async form of a client."""

    def get_step_options(self) -> StepOptions:
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        url = f"https://looms.example/{input}"
        async with httpx.AsyncClient() as client:
            while True:
                loom = await asyncio.to_thread(requests.get, url, timeout=5)
                shuttle = (await client.get(f"{url}/shuttle")).json()
                if loom.text == "woven" and shuttle["state"] == "done":
                    return go_to(AwaitCloth, input)
                if loom.text == "failed":
                    return force_fail("torn")
                await context.heartbeat()
                await asyncio.sleep(5)


class AwaitCloth(Step[str]):
    """A sync Step has a thread of its own, and may block it."""

    def get_step_options(self) -> StepOptions:
        return WAIT

    def execute(self, context: Context, input: str) -> Generator[StepOutput, None, StepDecision]:
        while True:
            cloth = requests.get(f"https://looms.example/{input}/cloth", timeout=5).text
            if cloth in ("dry", "failed"):
                return graceful_complete(cloth)
            yield heartbeat()
            time.sleep(5)


class Weaving(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitLoom()).other_steps(GiveUp(), AwaitCloth())
