from __future__ import annotations

from datetime import timedelta

from dexnb import (
    Context,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    go_to,
    graceful_complete,
)


class Weigh(Step[str]):  # expect: DX405
    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_retry=RetryPolicy(maximum_attempts=-1))

    def execute(self, context: Context, input: str) -> StepDecision:
        return go_to(Stamp, input)


class Stamp(Step[str]):
    def execute(self, context: Context, input: str) -> str:  # expect: DX405
        return input  # expect: DX403?


class Send(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(seconds=30))

    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Post(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Weigh()).other_steps(Stamp(), Send())
