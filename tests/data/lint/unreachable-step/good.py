from __future__ import annotations

from dexnb import (
    Context,
    Flow,
    RPCResult,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    StepOptions,
    go_to,
    graceful_complete,
    rpc,
)


class Knead(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions().on_execute_failure_proceed_to(Throw)

    def execute(self, context: Context, input: str) -> StepDecision:
        steps = {"bread": Bake, "cake": Ice}
        return go_to(steps[input], input)


class Bake(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Ice(Bake):
    pass


class Throw(Bake):
    pass


class Taste(Bake):
    pass


class Bakery(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Knead()).other_steps(Bake(), Ice(), Throw(), Taste())

    @rpc
    def taste(self, context: Context, input: str) -> RPCResult[None]:
        return RPCResult(None, next_steps=(StepMovement(Taste, input),))
