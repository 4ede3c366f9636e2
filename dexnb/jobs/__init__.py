"""External systems to poll, and what goes wrong with them.

`InProcessJobs` lives on the clock of its callers, real, scaled or virtual; `HttpJobServer` is
a real server on a real socket that survives its crashes, and `HttpJobs` its client. Both answer
from the same `JobBook`, so the same script, faults and seed give the same answers. httpx,
starlette and uvicorn load when `HttpJobs` or `HttpJobServer` is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dexnb.jobs.book import Answer, JobBook
from dexnb.jobs.client import JobClient
from dexnb.jobs.errors import (
    JobConflict,
    JobError,
    JobNotFound,
    JobRateLimited,
    JobTooLarge,
    JobUnavailable,
)
from dexnb.jobs.faults import Fault, Faults
from dexnb.jobs.in_process import InProcessJobs
from dexnb.jobs.script import JobScript
from dexnb.jobs.status import JobState, JobStatus

if TYPE_CHECKING:
    from dexnb.jobs.http_jobs import HttpJobs
    from dexnb.jobs.server import HttpJobServer

__all__ = [
    "Answer",
    "Fault",
    "Faults",
    "HttpJobServer",
    "HttpJobs",
    "InProcessJobs",
    "JobBook",
    "JobClient",
    "JobConflict",
    "JobError",
    "JobNotFound",
    "JobRateLimited",
    "JobScript",
    "JobState",
    "JobStatus",
    "JobTooLarge",
    "JobUnavailable",
]


_LAZY = {"HttpJobServer": "dexnb.jobs.server", "HttpJobs": "dexnb.jobs.http_jobs"}


def __getattr__(name: str) -> Any:
    """Load the HTTP parts when they are first asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
