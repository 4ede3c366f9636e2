from __future__ import annotations

from dexnb import Context, Flow, Step, StepDecision, StepList, go_to, graceful_complete


class Weigh(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return go_to(Stamp, input)


class Stamp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Post(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Weigh()).other_steps(Stamp())
