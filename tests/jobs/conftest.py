"""Both job services behind one fixture, so that one test holds for both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from dexnb.jobs import Faults, HttpJobs, HttpJobServer, InProcessJobs, JobClient, JobScript

Opened = AbstractAsyncContextManager[JobClient]
OpenJobs = Callable[..., Opened]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Give the path of a state file that is not there yet."""
    return tmp_path / "jobs.jsonl"


@pytest.fixture(params=["in_process", "http"])
def open_jobs(request: pytest.FixtureRequest, state: Path) -> OpenJobs:
    """Give `open_jobs(script, faults)`: a fresh service in this process, or one over HTTP."""

    @asynccontextmanager
    async def in_process(
        script: JobScript | None = None, faults: Faults | None = None
    ) -> AsyncIterator[JobClient]:
        yield InProcessJobs(script, faults)

    @asynccontextmanager
    async def http(
        script: JobScript | None = None, faults: Faults | None = None
    ) -> AsyncIterator[JobClient]:
        async with (
            HttpJobServer(state, script=script, faults=faults) as server,
            HttpJobs(server.url) as jobs,
        ):
            yield jobs

    return in_process if request.param == "in_process" else http
