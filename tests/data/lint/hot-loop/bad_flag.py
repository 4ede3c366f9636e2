from __future__ import annotations

from datetime import timedelta

import warehouse
from dexnb import (
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    StepOutput,
    graceful_complete,
    heartbeat,
)
from collections.abc import Generator


class AwaitRows(Step[str]):
    def __init__(self, db: warehouse.Connection) -> None:
        self._db = db

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=1))  # expect: DX202 DX207

    def execute(
        self, context: Context, input: str
    ) -> Generator[StepOutput, None, StepDecision]:
        waiting = True
        while waiting:  # expect: DX309
            cursor = self._db.cursor()
            cursor.execute("select count(*) from rows_to_load", timeout=5)
            left = cursor.fetchone()[0]
            yield heartbeat(left)  # expect: DX304
            if left == 0:
                waiting = False
        return graceful_complete(input)


class Loading(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitRows(warehouse.connect()))
