"""`Reporter`: what one process tells its parent every second: counts, gauges and health.

A report is a line of JSON. Counts are lists of labels followed by a number, so that reports of
several processes add up.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from dexnb.cli.worker.discreet import detail
from dexnb.cli.worker.job import Job
from dexnb.cli.worker.measured import StoreCounts
from dexnb.engine import Engine
from dexnb.engine.durations import Durations
from dexnb.model.json_text import to_text

REPORT_SECONDS = 1.0
LAG_SECONDS = 0.25
PROBE_SECONDS = 2.0
PROBE_PATIENCE = 5.0
DEPTH_SECONDS = 5.0
"""How often the first process counts what waits in the store's queues."""

HELD_SECONDS = 0.5
"""A Step that holds its loop for longer than this stalls the others there."""


class Silence:
    """For how long a dispatcher has fetched nothing, although it could."""

    def __init__(self) -> None:
        """Begin with the first look."""
        self._ended: float | None = None
        self._since = 0.0

    def seconds(self, ended: float, *, able: bool) -> float:
        """Give the seconds of the running loop.

        Args:
            ended: When its last fetch has ended, in any time.
            able: Whether it runs, has slots, and its store answers.
        """
        now = asyncio.get_running_loop().time()
        if not able or ended != self._ended:
            self._ended, self._since = ended, now
        return now - self._since


class Reporter:
    """Reports on one engine for as long as it runs.

    Args:
        job: What the process does.
        engine: Open.
        store: What the calls to its store are like.
        send: Takes each report, and must not block.
    """

    def __init__(
        self, job: Job, engine: Engine, store: StoreCounts, send: Callable[[str], None]
    ) -> None:
        """Prepare; `run` starts."""
        self._job = job
        self._engine = engine
        self._store = store
        self._send = send
        self._since = engine.provider.clock.now()
        self._lag = 0.0
        self._silences = {queue: Silence() for queue in ("orchestration", "work")}
        self._unreachable = ""
        self._depths: dict[str, int] | None = None
        self.draining = False

    async def run(self) -> None:
        """Report until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._measure_lag())
            tasks.create_task(self._every(PROBE_SECONDS, self._probe))
            if self._job.process == 1:
                tasks.create_task(self._every(DEPTH_SECONDS, self._count_queues))
            while True:
                self.report()
                await asyncio.sleep(REPORT_SECONDS)

    def report(self) -> None:
        """Send a report now."""
        self._send(to_text(self.document()) + "\n")

    def document(self) -> dict[str, Any]:
        """Give a report; the loop's lag is the longest since the last one."""
        counts, engine = self._engine.counts, self._engine
        lag, self._lag = self._lag, 0.0
        return {
            "process": self._job.process,
            "pid": os.getpid(),
            "counts": {
                "flows_started": _rows(counts.flows_started),
                "flows_ended": _rows(counts.flows_ended),
                "attempts": _rows(counts.attempts),
                "takeovers": _rows(counts.takeovers),
                "heartbeats": _rows(counts.heartbeats),
                "poison": _rows(counts.poison),
                "stalls": _rows(counts.stalls),
                "fetches": _rows(counts.fetches),
                "commits": [[counts.commits]],
                "store_errors": _rows(self._store.errors),
            },
            "durations": {
                "commit": _durations(self._store.commits),
                "beat_lag": _durations(counts.beat_lag),
            },
            "running_attempts": len(engine.worker.live),
            "loop_lag": lag,
            "stalled_loops": engine.hosts.held_loops(HELD_SECONDS),
            "depths": self._depths,
            "store_error": self._store_error,
            "write_error": None if (error := self._store.unwritten) is None else _said(error),
            "draining": self.draining,
            "dispatchers": {
                "orchestration": self._dispatcher(
                    "orchestration", engine.turns.running, engine.orchestrator.free_slots
                ),
                "work": self._dispatcher("work", engine.attempts.running, engine.worker.free_slots),
            },
        }

    @property
    def _store_error(self) -> str | None:
        lost = self._engine.store_lost
        return self._unreachable or (None if lost is None else _said(lost))

    def _dispatcher(self, queue: str, running: bool, free_slots: int) -> dict[str, Any]:  # noqa: FBT001 - a figure like the others
        ended, result = self._engine.counts.fetched.get(queue, (self._since, ""))
        now = self._engine.provider.clock.now()
        able = running and free_slots > 0 and self._store_error is None
        silent = self._silences[queue].seconds(ended, able=able)
        patience = self._engine.options.dispatcher_long_poll_timeout.total_seconds()
        return {
            "running": running,
            "last_fetch_age": round(max(0.0, now - ended), 3),
            "last_result": result,
            "silent": round(silent, 3),
            "long_poll": patience,
            "free_slots": free_slots,
        }

    async def _measure_lag(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            planned = loop.time() + LAG_SECONDS
            await asyncio.sleep(LAG_SECONDS)
            self._lag = max(self._lag, loop.time() - planned)

    async def _every(self, seconds: float, call: Callable[[], Coroutine[Any, Any, None]]) -> None:
        while True:
            await call()
            await asyncio.sleep(seconds)

    async def _probe(self) -> None:
        """Read from the store, because an idle dispatcher may not touch it for half a minute."""
        try:
            async with asyncio.timeout(PROBE_PATIENCE):
                await self._engine.provider.read_run(run_id="health")
        except TimeoutError:
            self._unreachable = f"no answer within {PROBE_PATIENCE:g} s"
        except Exception as error:  # noqa: BLE001 - whatever a store raises
            self._unreachable = _said(error)
        else:
            self._unreachable = ""

    async def _count_queues(self) -> None:
        with suppress(Exception):  # the probe tells of it
            self._depths = asdict(await self._engine.provider.queue_depths())


def _said(error: BaseException) -> str:
    kind = type(error)
    return f"{kind.__name__}: {detail(f'{kind.__module__}.{kind.__name__}', str(error))}"


def _rows(counts: Mapping[Any, int]) -> list[list[Any]]:
    # A copy, for Steps' threads count on.
    return [[*((key,) if isinstance(key, str) else key), n] for key, n in dict(counts).items()]


def _durations(durations: Durations) -> dict[str, Any]:
    return {"counts": list(durations.counts), "seconds": durations.seconds}
