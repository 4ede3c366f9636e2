from __future__ import annotations

from dexnb import (
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    Stream,
    go_to,
    go_to_many,
    graceful_complete,
)
from kitchens import chosen_by_the_cook

LOG = Stream("Log", str, 1 << 16)


class Chop(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        LOG.write(context, input)  # expect: DX403
        if input:
            return go_to(Peel, input)  # expect: DX403
        return go_to(Stir, input)


class Peel(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Stir(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return self._next(input)

    def _next(self, input: str) -> StepDecision:
        return go_to_many(  # expect: DX403?
            StepMovement(chosen_by_the_cook(input), input),
            StepMovement(Serve, input),
        )


class Serve(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Cooking(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Chop()).other_steps(Stir(), Serve())
