from __future__ import annotations

from datetime import timedelta

from dexnb import Context, Flow, Step, StepDecision, StepList, StepOptions, Timer, Wait, go_to
from dexnb import graceful_complete

SILENCE = timedelta(minutes=1)
QUICK = False


class Fly(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(heartbeat_timeout=SILENCE / 2 if QUICK else SILENCE)

    def execute(self, context: Context, input: str) -> StepDecision:
        return go_to(Land, input)


class Land(Step[str]):
    def wait_for(self, context: Context, input: str) -> Wait:
        return Wait.until(Timer.by_duration(SILENCE))

    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Flight(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Fly()).other_steps(Land())
