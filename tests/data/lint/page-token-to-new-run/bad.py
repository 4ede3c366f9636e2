from __future__ import annotations

from archives import Archives
from dexnb import (
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    go_to,
    go_to_many,
    graceful_complete,
)


class CopyPage(Step[str]):
    def __init__(self, archives: Archives) -> None:
        self._archives = archives

    def execute(self, context: Context, input: str) -> StepDecision:
        page = self._archives.page(input)
        self._archives.copy(page.items)
        return go_to(CopyPage, page.next_token) if page.next_token else graceful_complete()  # expect: DX106


class CopyIndex(Step[str]):
    def __init__(self, archives: Archives) -> None:
        self._archives = archives

    def execute(self, context: Context, input: str) -> StepDecision:  # expect: DX401
        index = self._archives.index(input)
        cursor = index.cursor
        if not cursor:
            return graceful_complete()
        return go_to_many(StepMovement.of(CopyIndex, cursor), StepMovement.of(CopyPage, ""))  # expect: DX106


class Copying(Flow[str]):
    def get_steps(self) -> StepList[str]:
        archives = Archives()
        return StepList.start_step(CopyPage(archives)).other_steps(CopyIndex(archives))
