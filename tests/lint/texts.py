"""Flows as texts with one poll each, and what the rules say of them."""

from __future__ import annotations

from collections.abc import Iterable

from dexnb.graph import read_source
from dexnb.lint import LintSettings
from dexnb.lint.paths import lint_reading
from dexnb.model.finding import Finding

IMPORTS = """
from __future__ import annotations

import asyncio
import itertools
import random
from datetime import timedelta

from dexnb import *
from sources import Source
"""
POLL = """

class Wait(Step[str]):
    {attributes}

    def get_step_options(self) -> StepOptions:
        return StepOptions({options})

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        {before}
        {loop}:
            async with asyncio.timeout({call}):
                job = await Source().job(input)
            if job.done or job.failed:
                return graceful_complete()
            await context.heartbeat()
            await asyncio.sleep({sleep})
            {behind}
        return dead_end()

{helpers}

class Waiting(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Wait())
"""
PARTS = {
    "attributes": "pass",
    "options": "",
    "before": "pass",
    "loop": "while True",
    "call": "10",
    "sleep": "5",
    "behind": "pass",
    "helpers": "",
}


def poll(head: str = "", **parts: str) -> str:
    """Write a Flow with a poll, of which parts are given."""
    return f"{IMPORTS}\n{head}\n{POLL.format(**{**PARTS, **parts})}"


def said(text: str, codes: Iterable[str], settings: LintSettings | None = None) -> list[Finding]:
    """Give the findings of some codes."""
    found = lint_reading(read_source(text), settings or LintSettings())
    return [each for each in found if each.code in codes]
