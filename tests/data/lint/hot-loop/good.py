from __future__ import annotations

import time
from collections.abc import Generator
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
    force_fail,
    graceful_complete,
    heartbeat,
)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class AwaitRows(Step[str]):
    def __init__(self, db: warehouse.Connection) -> None:
        self._db = db

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=4)).on_execute_failure_proceed_to(
            GiveUp
        )

    def execute(self, context: Context, input: str) -> Generator[StepOutput, None, StepDecision]:
        waiting = True
        while waiting:
            cursor = self._db.cursor()
            cursor.execute("select count(*) from rows_to_load", timeout=5)
            left = cursor.fetchone()[0]
            yield heartbeat()
            if left == 0:
                waiting = False
            else:
                time.sleep(30)
        return graceful_complete(input)


class Loading(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitRows(warehouse.connect())).other_steps(GiveUp())
