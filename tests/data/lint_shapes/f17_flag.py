"""A flag ends a loop around a billed count, and nothing pauses it."""

from __future__ import annotations

from dexnb import Context, Flow, Step, StepDecision, StepList, graceful_complete
from warehouses import connect


class AwaitLoad(Step[str]):
    def __init__(self) -> None:
        self._warehouse = connect()

    def execute(self, context: Context, input: str) -> StepDecision:
        loading = True
        while loading:  # expect: DX103 DX203 DX207 DX309
            row = self._warehouse.query(f"select count(*) from {input}", timeout=30).fetchone()
            if row[0] > 0:
                loading = False
        return graceful_complete()


class Loading(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitLoad())
