from __future__ import annotations

import os
from datetime import timedelta

from dexnb import Context, Flow, Step, StepDecision, StepList, StepOptions, Wait, go_to
from dexnb import graceful_complete
from weather import conditions


class Fly(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(
            heartbeat_timeout=timedelta(seconds=float(os.environ["SILENCE"])),  # expect: DX404?
        )

    def execute(self, context: Context, input: str) -> StepDecision:
        return go_to(Land, input)


class Land(Step[str]):
    def wait_for(self, context: Context, input: str) -> Wait:
        return conditions.calm(input)  # expect: DX404?

    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Flight(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Fly()).other_steps(Land())
