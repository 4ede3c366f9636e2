from __future__ import annotations

from datetime import timedelta

from dexnb import (
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    StepOptions,
    go_to_many,
    graceful_complete,
)

BLINK = timedelta(seconds=5)


class Sow(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(heartbeat_timeout=BLINK - timedelta(seconds=1))  # expect: DX205

    def execute(self, context: Context, input: str) -> StepDecision:
        quick = StepOptions(heartbeat_timeout=timedelta(seconds=9.99))  # expect: DX205
        return go_to_many(StepMovement(Reap, input, quick), StepMovement(Mow, input))


class Reap(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


QUICK = StepOptions(heartbeat_timeout=BLINK)


class Mow(Step[str]):
    def get_step_options(self) -> StepOptions:  # expect: DX205
        return QUICK

    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Field(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Sow()).other_steps(Reap(), Mow())
