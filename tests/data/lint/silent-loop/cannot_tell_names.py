"""Questions whose text is elsewhere: a star, or a definition under an `if`."""

from __future__ import annotations

import asyncio

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from kitchen import *  # noqa: F403

try:
    import ovens
except ImportError:
    ovens = None

if ovens:

    async def crust(name: str) -> str:
        return await ovens.crust(name)  # expect: DX104

else:

    async def crust(name: str) -> str:
        return await ask_the_baker(name)  # noqa: F405


class Knead(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while await dough(input) != "smooth":  # noqa: F405  # expect: DX103? DX104? DX203? DX207?
            await asyncio.sleep(10)  # expect: DX201?
        return graceful_complete(input)


class Bake(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while await crust(input) not in ("golden", "black"):  # expect: DX103 DX203 DX207
            await asyncio.sleep(10)  # expect: DX201?
        return graceful_complete(input)


class Baking(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Knead()).other_steps(Bake())
