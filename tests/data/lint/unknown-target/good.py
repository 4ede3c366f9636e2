from __future__ import annotations

from dexnb import Context, Flow, Step, StepDecision, StepList, go_to, graceful_complete


class Chop(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        match input:
            case "soup":
                step: type[Step[str]] = Stir
            case _:
                step = Serve
        return go_to(step, input)


class Stir(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return go_to(Serve, input)


class Serve(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Cooking(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Chop()).other_steps(Stir(), Serve())
