"""What every external system of this package can be asked."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from dexnb.jobs.script import JobScript
from dexnb.jobs.status import JobStatus


@runtime_checkable
class JobClient(Protocol):
    """An external system with jobs that are started once and then polled.

    Every method may be called again after it failed: none does its work twice. All raise
    `JobUnavailable`, `JobRateLimited`, `JobNotFound`, `JobConflict` or plain `JobError`, and
    `DefinitionError` for an id that no job can have.
    """

    async def create(self, job_id: str, script: JobScript | None = None) -> JobStatus:
        """Start the job, or answer its status if it is there: one id is one job, for good.

        Raises:
            JobConflict: The job is there with another script than the one given.
        """
        ...

    async def status(self, job_id: str) -> JobStatus:
        """Answer where the job stands.

        Raises:
            JobNotFound: It was never created, or has disappeared.
        """
        ...

    async def complete(self, job_id: str, result: str | None = None) -> JobStatus:
        """Let the job succeed now; one that has succeeded keeps the result it has.

        Raises:
            JobConflict: It has failed.
        """
        ...

    async def fail(self, job_id: str, error: str) -> JobStatus:
        """Let the job fail now; one that has failed keeps the error it has.

        Raises:
            JobConflict: It has succeeded.
        """
        ...
