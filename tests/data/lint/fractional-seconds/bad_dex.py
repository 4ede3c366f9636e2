from __future__ import annotations

from datetime import timedelta

from dexnb import (
    Context,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    StepOptions,
    Timer,
    Wait,
    go_to_many,
    graceful_complete,
)

DAWN = timedelta(seconds=1) / 4


class AwaitDawn(Step[str]):
    def get_step_options(self) -> StepOptions:
        retry = RetryPolicy(initial_interval=timedelta(milliseconds=1500))  # expect-dex: DX206
        return StepOptions(
            heartbeat_timeout=timedelta(seconds=10) + DAWN,  # expect-dex: DX206
            execute_retry=retry,
        )

    def wait_for(self, context: Context, input: str) -> Wait:
        return Wait.any_of(
            Timer.by_duration(DAWN),  # expect-dex: DX206
            Timer.by_duration(timedelta(seconds=len(input) / 2)),  # expect-dex: DX206?
        )

    def execute(self, context: Context, input: str) -> StepDecision:
        own = StepOptions(execute_method_timeout=timedelta(seconds=0.5))  # expect-dex: DX206
        return go_to_many(StepMovement(Rise, input, own))


class Rise(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Day(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitDawn()).other_steps(Rise())
