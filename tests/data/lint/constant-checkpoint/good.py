from __future__ import annotations

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, go_to, graceful_complete


class Prune(Step[str]):
    """A mark: what counts is that it is there."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        if not context.has_last_heartbeat_value():
            await context.heartbeat("pruned")
        return go_to(Water, input)


class Water(Step[str]):
    """Different constants in different phases."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        phase = context.get_last_heartbeat_value(str)
        if phase is None:
            await context.heartbeat("filled")
        await context.heartbeat("watered")
        return go_to(Pick, input)


class Pick(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        done = context.get_last_heartbeat_value(int) or 0
        while done < len(input):
            done += 1
            await context.heartbeat(done)
            await context.heartbeat(None)
        await context.heartbeat()
        return graceful_complete(f"picked {done}")


class Vintage(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Prune()).other_steps(Water(), Pick())
