"""An async loop over a blocking client whose methods start loops; only `running` is waited for."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import requests
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, StepOptions, graceful_complete


class Solver:
    def start(self, name: str) -> str:
        return asyncio.run(self._start(name))  # expect: DX311

    async def _start(self, name: str) -> str:
        await asyncio.sleep(0)
        return name

    def status(self, job: str) -> str:
        reply = requests.get(f"https://solver.example/{job}", timeout=2)  # expect: DX302
        return reply.json()["status"]


class Solve(Step[str]):
    def __init__(self, solver: Solver) -> None:
        self._solver = solver

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(minutes=10))  # expect: DX202 DX207

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        job = self._solver.start(input)
        status = self._solver.status(job)
        while status == "running":  # expect: DX308?
            await asyncio.sleep(0.1)
            await context.heartbeat(status)  # expect: DX304
            status = self._solver.status(job)
        return graceful_complete(status)


class Solving(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Solve(Solver()))
