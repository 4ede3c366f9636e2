from __future__ import annotations

import boto3
import polling
import tenacity
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
from quarries import Quarries


class AwaitStones(Step[str]):
    def __init__(self, quarries: Quarries) -> None:
        self._quarries = quarries

    def execute(self, context: Context, input: str) -> StepDecision:
        polling.poll(  # expect: DX312
            lambda: self._quarries.state(input) == "succeeded",  # expect: DX308
            step=5,
            timeout=600,
        )
        return go_to(AwaitStack, input)


class AwaitStack(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        stacks = boto3.client("cloudformation")
        stacks.get_waiter("stack_create_complete").wait(StackName=input)  # expect: DX312
        return go_to(AwaitCart, input)


class AwaitCart(Step[str]):
    def __init__(self, quarries: Quarries) -> None:
        self._quarries = quarries

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        return graceful_complete(await self._cart(input))

    @tenacity.retry(wait=tenacity.wait_fixed(5))  # expect: DX312
    async def _cart(self, name: str) -> str:
        return str(await self._quarries.cart(name, timeout=5))


class Mining(Flow[str]):
    def get_steps(self) -> StepList[str]:
        quarries = Quarries()
        return StepList.start_step(AwaitStones(quarries)).other_steps(
            AwaitStack(), AwaitCart(quarries)
        )
