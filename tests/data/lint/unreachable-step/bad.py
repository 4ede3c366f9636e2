from __future__ import annotations

from dexnb import Context, Flow, Step, StepDecision, StepList, go_to, graceful_complete


class Knead(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return go_to(Bake, input) if input else graceful_complete()


class Bake(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Throw(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:  # expect: DX401
        return go_to(Sweep, input)


class Sweep(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:  # expect: DX401
        return graceful_complete(input)


class Bakery(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Knead()).other_steps(Bake(), Throw(), Sweep())
