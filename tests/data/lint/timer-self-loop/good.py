from __future__ import annotations

from datetime import timedelta

from couriers import Couriers
from dexnb import (
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    Timer,
    Wait,
    go_to,
    graceful_complete,
)


class SendReport(Step[int]):
    """A schedule: it goes to itself each day and asks nobody whether it should."""

    def __init__(self, couriers: Couriers) -> None:
        self._couriers = couriers

    def wait_for(self, context: Context, input: int) -> Wait:
        return Wait.until(Timer.by_duration(timedelta(days=1)))

    def execute(self, context: Context, input: int) -> StepDecision:
        self._couriers.send_report()
        if input == 0:
            return graceful_complete()
        return go_to(SendReport, input - 1)


class Reports(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(SendReport(Couriers()))
