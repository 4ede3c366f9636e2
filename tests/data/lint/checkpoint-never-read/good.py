from __future__ import annotations

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, go_to, graceful_complete


class Fill(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        for number in range(self._first(context), len(input)):
            await context.heartbeat(number)
        return go_to(Cork, input)

    def _first(self, context: AsyncContext) -> int:
        return first_of(context)


def first_of(context: AsyncContext) -> int:
    return (context.get_last_heartbeat_value(int) or -1) + 1


class Cork(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        if not context.has_last_heartbeat_value():
            await context.heartbeat(input.upper())
        return go_to(Stick, input)


class Stick(Step[str]):
    """Beats without a value keep nothing."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        for _ in input:
            await context.heartbeat()
            await context.heartbeat(None)
        return graceful_complete(input)


class Bottling(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Fill()).other_steps(Cork(), Stick())
