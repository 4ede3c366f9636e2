"""A program that polls a job of known length, journals what it does, and may be killed anywhere.

Arguments: the store, the journal. The job's time runs on the machine's monotonic clock, from the
moment that its first process wrote, so a later process goes on where the job is, not where its own
life began.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from datetime import timedelta
from pathlib import Path

import dexnb
from dexnb import (
    AsyncContext,
    Flow,
    PersistenceSchema,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    Stream,
    graceful_complete,
)

JOB_SECONDS = 1.2
PHASE_SECONDS = 0.15
ROUND_SECONDS = 0.02

PHASES = Stream("Phases", int, 1 << 20)


class Journal:
    """Lines that survive a kill: each is one write to an append-only file."""

    def __init__(self, path: Path) -> None:
        """Open or go on."""
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(self, *words: object) -> None:
        """Append one line with the time."""
        line = " ".join([f"{time.monotonic():.6f}", *map(str, words)])
        os.write(self._file, f"{line}\n".encode())


def job_started(path: Path) -> float:
    """Give the time at which the job began, which the first process fixes."""
    try:
        with path.open("x") as file:
            file.write(repr(time.monotonic()))
    except FileExistsError:
        pass
    return float(path.read_text() or "nan")


class Poll(Step[None]):
    """Polls until the job has ended."""

    def __init__(self, journal: Journal, started: float) -> None:
        """Poll the job that began then."""
        self._journal = journal
        self._started = started

    def get_step_options(self) -> StepOptions:
        """Allow attempts for a few kills."""
        return StepOptions(
            execute_method_timeout=timedelta(minutes=1),
            execute_retry=RetryPolicy(
                initial_interval=timedelta(milliseconds=10), maximum_attempts=5
            ),
        )

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Message on each new phase, beat with the phase and the round otherwise."""
        checkpoint = context.get_last_heartbeat_value(list)
        self._journal.note("attempt", context.attempt, checkpoint)
        reported, round_ = checkpoint or (-1, 0)
        while True:
            elapsed = time.monotonic() - self._started
            phase = int(elapsed / PHASE_SECONDS)
            round_ += 1
            if elapsed >= JOB_SECONDS:
                return graceful_complete({"attempt": context.attempt})
            if phase != reported:
                PHASES.write(context, phase)
                self._journal.note("phase", context.attempt, phase)
                reported = phase
            else:
                await context.heartbeat([reported, round_])
                self._journal.note("beat", context.attempt, round_)
            await asyncio.sleep(ROUND_SECONDS)


class PollingFlow(Flow[None]):
    """One polling Step."""

    def __init__(self, journal: Journal, started: float) -> None:
        """Poll the job that began then."""
        self._step = Poll(journal, started)

    def get_steps(self) -> StepList[None]:
        """Give the one Step."""
        return StepList.start_step(self._step)

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give the Stream."""
        return PersistenceSchema.of(PHASES)


def main(store: str, journal_path: str) -> None:
    """Start the Flow or go on with it, and print how it ended."""
    journal = Journal(Path(journal_path))
    journal.note("process", os.getpid())
    with dexnb.open(store) as runtime:
        flow = PollingFlow(journal, job_started(Path(f"{journal_path}.job")))
        runtime.register(flow)
        journal.note("registered")
        print("ready", flush=True)
        run = runtime.start(flow, "job")
        journal.note("run", run.run_id)
        result = run.wait_sync(30)
        phases = [message.value for message in run.stream(PHASES)]
        print(result.status, result.output["attempt"], phases, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
