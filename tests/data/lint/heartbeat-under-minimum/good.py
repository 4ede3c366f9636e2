from __future__ import annotations

from datetime import timedelta

from dexnb import Context, Flow, Step, StepDecision, StepList, StepOptions, go_to, graceful_complete


class Sow(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(heartbeat_timeout=timedelta(seconds=10))

    def execute(self, context: Context, input: str) -> StepDecision:
        return go_to(Reap, input)


class Reap(Step[str]):
    def get_step_options(self) -> StepOptions:
        # Zero selects the default, as None does.
        return StepOptions(heartbeat_timeout=timedelta(0))

    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Field(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Sow()).other_steps(Reap())
