"""A Step that waits for a timer, asks and goes to itself, without a bound."""

from __future__ import annotations

from datetime import timedelta

import requests
from dexnb import Context, Flow, Step, StepDecision, StepList, Timer, Wait, go_to, graceful_complete

EVERY = timedelta(seconds=30)


class AwaitShipment(Step[str]):
    def wait_for(self, context: Context, input: str) -> Wait:
        return Wait.until(Timer.by_duration(EVERY))

    def execute(self, context: Context, input: str) -> StepDecision:
        reply = requests.get(f"https://ships.example/{input}")  # expect: DX104
        if reply.json()["state"] in ("delivered", "lost"):
            return graceful_complete(reply.text)
        return go_to(AwaitShipment, input)  # expect: DX101 DX203


class Shipping(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitShipment())
