"""A Flow with findings: a sleep and a call that block, a wait without a bound, a broken window.

Nobody runs it.
"""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

import httpx

import dexnb as dex

POLL_INTERVAL = timedelta(seconds=55)


class Fetch(dex.Step[str]):
    """Polls, and does several things wrong."""

    def get_step_options(self) -> dex.StepOptions:
        """Bound the silence, and not the wait."""
        return dex.StepOptions(heartbeat_timeout=timedelta(seconds=60))

    async def execute(self, context: dex.AsyncContext, input: str) -> dex.StepDecision:
        """Poll until there is an answer."""
        while True:
            answer = self._ask(input)
            if answer:
                return dex.graceful_complete(answer)
            time.sleep(0.001)  # noqa: ASYNC251 - it is what the linter is to find
            await context.heartbeat(answer)
            await asyncio.sleep(POLL_INTERVAL.total_seconds())

    def _ask(self, job: str) -> str:
        headers = {"authorization": "hunter2"}
        return httpx.get(f"http://localhost/{job}", headers=headers).text


class Judged(dex.Flow[str]):
    """Polls."""

    def get_steps(self) -> dex.StepList[str]:
        """Give the one Step."""
        return dex.StepList.start_step(Fetch())
