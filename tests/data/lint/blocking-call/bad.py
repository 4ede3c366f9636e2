from __future__ import annotations

import asyncio
import sqlite3
import time
from datetime import timedelta

import requests
from dexnb import (
    AsyncContext,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    force_fail,
    go_to,
    graceful_complete,
)

WAIT = StepOptions(execute_method_timeout=timedelta(hours=1))


def seconds_of(text: str) -> float:
    time.sleep(0.5)  # expect: DX302
    return float(text)


class AwaitLoom(Step[str]):
    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            loom = requests.get(f"https://looms.example/{input}", timeout=5).json()  # expect: DX302
            if loom["state"] == "woven":
                return go_to(Note, input)
            if loom["state"] == "failed":
                return force_fail("torn")
            await context.heartbeat(loom["state"])  # expect: DX304
            time.sleep(seconds_of(loom["pause"]))  # expect: DX201? DX302


class Note(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        self._write(input)
        rows = await asyncio.to_thread(self._rows)
        return graceful_complete(len(rows))

    def _write(self, name: str) -> None:
        with sqlite3.connect("looms.db") as looms:  # expect: DX302
            looms.execute("insert into looms values (?)", (name,))  # expect: DX302

    def _rows(self) -> list[str]:
        with sqlite3.connect("looms.db") as looms:
            return list(looms.execute("select name from looms"))


class Weaving(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitLoom()).other_steps(Note())
