from __future__ import annotations

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from presses import Presses, State


class PrintFailed(Exception):
    pass


class ReadProof(Step[str]):
    """It raises for what has gone wrong, and for what it cannot use."""

    def __init__(self, presses: Presses) -> None:
        self._presses = presses

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        if not input:
            raise ValueError("no proof named")
        proof = await self._presses.proof(input, timeout=5)
        if proof.state is State.FAILED:
            raise PrintFailed(proof.error)
        if proof.status_code != 200:
            raise RuntimeError(proof.text)
        if not proof.text:
            raise LookupError(input)
        return graceful_complete(proof.text)


class Printing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(ReadProof(Presses()))
