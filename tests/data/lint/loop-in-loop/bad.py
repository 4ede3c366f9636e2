from __future__ import annotations

import asyncio

from bridges import Bridges
from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    go_to,
    graceful_complete,
)


class Client:
    """A library whose plain methods start a loop."""

    def __init__(self, bridges: Bridges) -> None:
        self._bridges = bridges

    def height(self, name: str) -> float:
        return asyncio.run(self._bridges.height(name, timeout=5))  # expect: DX311


class Measure(Step[str]):
    def __init__(self, client: Client) -> None:
        self._client = client

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        height = self._client.height(input)
        return go_to(Raise, str(height))


class Raise(Step[str]):
    def __init__(self, bridges: Bridges) -> None:
        self._bridges = bridges

    def execute(self, context: Context, input: str) -> StepDecision:
        loop = asyncio.new_event_loop()  # expect: DX311
        loop.run_until_complete(self._bridges.lift(input, timeout=5))  # expect: DX311
        return graceful_complete()


class Passing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        bridges = Bridges()
        return StepList.start_step(Measure(Client(bridges))).other_steps(Raise(bridges))
