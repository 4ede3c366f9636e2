"""Where a run's files are, and the job server that keeps its jobs beside them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dexnb.cli.target import CommandError
from dexnb.clock import Clock
from dexnb.connect import FOLDER, MEMORY, StoreAddress, provider_maker

JOBS_URL = "DEXNB_JOBS_URL"
"""The environment variable from which a Flow learns where its jobs are."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run is kept.

    Args:
        database: A file, `memory:`, or the address of a server.
        jobs: The file of the job server's jobs; None without a server.
        clock: How time passes there.
    """

    database: str
    jobs: Path | None
    clock: Clock

    @property
    def kept(self) -> bool:
        """Tell whether the run outlives this process."""
        return self.database != MEMORY


def place(
    name: str, clock: Clock, *, database: str | None, serve_jobs: bool, jobs: str | None
) -> Place:
    """Choose the files.

    Args:
        name: Of the target: what the default database is called.
        clock: How time passes; a database belongs to one clock.
        database: The file that was asked for.
        serve_jobs: Whether a job server is asked for.
        jobs: The file of its jobs that was asked for.

    Raises:
        CommandError: What was asked for does not go together.
        DefinitionError: The address names no store.
    """
    if serve_jobs and clock.kind != "real":
        raise CommandError(
            f"--serve-jobs and --clock {clock.identity} do not go together: a real server cannot "
            "follow that clock; leave one of them out"
        )
    if jobs is not None and not serve_jobs:
        raise CommandError("--jobs-state is the file of a server: give --serve-jobs too")
    if database is None:
        suffix = "" if clock.kind == "real" else f"-{clock.identity.replace(':', '-')}"
        database = str(Path(FOLDER) / f"{name}{suffix}.db")
    database, _ = provider_maker(database, clock)
    state = Path(jobs) if jobs is not None else None
    if serve_jobs and state is None and database != MEMORY:
        # What a server's address says is no path, and may hold a password.
        beside = Path(FOLDER) / name if isinstance(database, StoreAddress) else Path(database)
        state = beside.with_suffix(".jobs.jsonl")
    return Place(database, state, clock)


@contextmanager
def job_server(place: Place) -> Iterator[str]:
    """Serve jobs, and put the server's URL where Flows look for it; give the URL.

    Raises:
        DefinitionError: The file cannot be used.
    """
    from dexnb.jobs import HttpJobServer

    with tempfile.TemporaryDirectory() as scratch:
        state = place.jobs or Path(scratch) / "jobs.jsonl"
        state.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with HttpJobServer(state) as server:
            before = os.environ.get(JOBS_URL)
            os.environ[JOBS_URL] = server.url
            try:
                yield server.url
            finally:
                _restore(before)


def _restore(url: str | None) -> None:
    if url is None:
        os.environ.pop(JOBS_URL, None)
    else:
        os.environ[JOBS_URL] = url
