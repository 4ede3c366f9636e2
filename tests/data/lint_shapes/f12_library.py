"""A loop hidden in a polling library that gets a lambda; success alone ends it."""

from __future__ import annotations

import polling2
from dexnb import Context, Flow, Step, StepDecision, StepList, graceful_complete
from renderers import Renderer


class AwaitRender(Step[str]):
    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer

    def execute(self, context: Context, input: str) -> StepDecision:
        polling2.poll(lambda: self._renderer.state(input) == "SUCCESS", step=5, timeout=900)  # expect: DX312 DX308
        return graceful_complete(input)


class Rendering(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitRender(Renderer()))
