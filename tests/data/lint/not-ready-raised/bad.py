from __future__ import annotations

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from presses import Presses, State


class NotPrintedYet(Exception):
    pass


class AwaitProof(Step[str]):
    def __init__(self, presses: Presses) -> None:
        self._presses = presses

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        proof = await self._presses.proof(input, timeout=5)
        if proof.state in (State.QUEUED, State.RUNNING):
            raise RuntimeError(f"proof {input} is {proof.state}")  # expect: DX301
        await self._check(input)
        return graceful_complete(proof.text)

    async def _check(self, input: str) -> None:
        if not (await self._presses.print(input, timeout=5)).finished:
            raise NotPrintedYet(input)  # expect: DX301


class Printing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitProof(Presses()))
