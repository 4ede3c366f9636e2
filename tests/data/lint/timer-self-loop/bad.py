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


class AwaitParcel(Step[str]):
    def __init__(self, couriers: Couriers) -> None:
        self._couriers = couriers

    def wait_for(self, context: Context, input: str) -> Wait:
        return Wait.until(Timer.by_duration(timedelta(minutes=1)))

    def execute(self, context: Context, input: str) -> StepDecision:
        parcel = self._couriers.find(input)
        if parcel.delivered or parcel.lost:
            return graceful_complete(parcel.place)
        return go_to(AwaitParcel, input)  # expect: DX101 DX203


class Delivery(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitParcel(Couriers()))
