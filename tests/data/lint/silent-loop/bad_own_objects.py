"""Objects of the user's own that ask: by a method, a property, or themselves in a loop."""

from __future__ import annotations

import time
from typing import Self

import requests
from dexnb import Context, Flow, Step, StepDecision, StepList, graceful_complete

OVER = ("hatched", "cold")


class Egg:
    def __init__(self, name: str) -> None:
        self.name = name
        self.state = "laid"

    def look(self) -> None:
        self.state = self._ask()

    def _ask(self) -> str:
        return requests.get(f"https://nests.test/{self.name}", timeout=5).json()["state"]

    def over(self) -> bool:
        return self._ask() in OVER  # expect: DX104?

    @property
    def now(self) -> str:
        return self._ask()

    def brood(self) -> None:
        while not self.over():  # expect: DX103? DX203? DX207?
            time.sleep(20)  # expect: DX201?

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.state = "left"


def laid(name: str) -> Egg:
    return Egg(name)


class LookAgain(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        egg = Egg(input)
        while egg.state not in OVER:  # expect: DX103 DX203 DX207
            egg.look()
            time.sleep(20)
        return graceful_complete(egg.state)


class ReadAgain(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:  # expect: DX401
        with Egg(input) as egg:
            while egg.now not in OVER:  # expect: DX103 DX203 DX207
                time.sleep(20)
        return graceful_complete(input)


class Brood(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:  # expect: DX401
        Egg(input).brood()
        return graceful_complete(input)


class BroodAll(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:  # expect: DX401
        eggs = [laid(name) for name in input.split()]
        while not all(egg.over() for egg in eggs):  # expect: DX103 DX203 DX207
            time.sleep(20)  # expect: DX201?
        return graceful_complete(input)


class Hatching(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(LookAgain()).other_steps(ReadAgain(), Brood(), BroodAll())
