"""Records the logs that the demo plays and the tests fold: runs in virtual time, in a second.

Run it in the repository's environment: `python widgets/demo/record.py`.
"""

# ruff: noqa: INP001 - a script among the page's files, no part of a package

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import shop

from dexnb.clock import Clock
from dexnb.engine import Runtime
from dexnb.errors import WaitTimeout
from dexnb.examples import polling
from dexnb.graph import read_graph
from dexnb.jobs import Faults, InProcessJobs, JobScript, JobState, JobStatus, JobUnavailable
from dexnb.model.event import Event, save_log
from dexnb.model.run_view import view_of
from dexnb.providers import MemoryProvider

LOGS = Path(__file__).parent / "logs"
LONG = JobScript(phases=((JobState.QUEUED, 40.0), (JobState.RUNNING, 290.0)))


class NoJobs(InProcessJobs):
    """A service that takes no job."""

    async def create(self, job_id: str, script: JobScript | None = None) -> JobStatus:
        """Refuse it."""
        message = f"no job {job_id} is taken today"
        raise JobUnavailable(message)


RECORDINGS: dict[str, InProcessJobs] = {
    "healthy": InProcessJobs(LONG, Faults(seed=3, latency=(0.6, 3.4))),
    "retry": InProcessJobs(LONG, Faults(seed=5, latency=(0.8, 3.2), outages=((128.0, 142.0),))),
    "recovery": InProcessJobs(
        JobScript(phases=((JobState.QUEUED, 20.0), (JobState.RUNNING, 900.0))),
        Faults(seed=7, latency=(0.8, 3.2), hang_windows=((90.0, 2000.0),)),
    ),
    "failing": NoJobs(LONG),
    "brief": InProcessJobs(
        JobScript(phases=((JobState.RUNNING, 0.4),)), Faults(seed=11, latency=(0.01, 0.04))
    ),
}
INTERVALS = {"brief": 0.06}
SECONDS = {"failing": 100.0}
"""After which a run that would not end is left alone."""


async def _record(name: str, jobs: InProcessJobs) -> tuple[list[Event], list[Event]]:
    flow = polling.PollingFlow(jobs)
    async with Runtime(MemoryProvider()) as runtime:
        run = await runtime.start(flow, f"order-{name}")
        with suppress(WaitTimeout):
            await run.wait(SECONDS.get(name))
        # The dispatchers' last fetches end with the long poll.
        await asyncio.sleep(31)
        return list(await run.events()), runtime.engine.telemetry.events("")


async def _shop() -> tuple[list[Event], list[Event]]:
    async with Runtime(MemoryProvider()) as runtime:
        run = await shop.sell(runtime)
        await run.wait()
        return list(await run.events()), runtime.engine.telemetry.events("")


def _save(name: str, events: list[Event], engine: list[Event]) -> None:
    save_log(events, LOGS / f"{name}.jsonl")
    save_log(engine, LOGS / f"{name}.engine.jsonl")
    view = json.dumps(view_of(events))
    (LOGS / f"{name}.view.json").write_text(view + "\n", "utf-8")


def record_shop() -> None:
    """Record a run that waits, locks and branches, and its Flow's graph."""
    graph = json.dumps(read_graph(shop.Shop()).to_json(), indent=1)
    (LOGS / "shop.graph.json").write_text(graph + "\n", "utf-8")
    _save("shop", *Clock.virtual().run(_shop()))


def main() -> None:
    """Record every run, and the Flows' graphs."""
    record_shop()
    polling.POLL_INTERVAL = timedelta(seconds=12)
    polling.JOB_CALL_TIMEOUT = timedelta(seconds=5)
    polling.HEARTBEAT_TIMEOUT = timedelta(seconds=30)
    graph: dict[str, Any] = read_graph(polling.PollingFlow(InProcessJobs())).to_json()
    (LOGS / "polling.graph.json").write_text(json.dumps(graph, indent=1) + "\n", "utf-8")
    for name, jobs in RECORDINGS.items():
        polling.POLL_INTERVAL = timedelta(seconds=INTERVALS.get(name, 12))
        _save(name, *Clock.virtual().run(_record(name, jobs)))


if __name__ == "__main__":
    main()
