"""`InProcessJobs`: an external system inside this process, on the clock of its callers."""

from __future__ import annotations

import asyncio

from dexnb.jobs.book import Answer, JobBook
from dexnb.jobs.errors import JobError, JobUnavailable
from dexnb.jobs.faults import Faults
from dexnb.jobs.script import JobScript
from dexnb.jobs.status import JobStatus


class InProcessJobs:
    """A `JobClient` whose time is the running loop's, be it real, scaled or virtual.

    One service may be shared by loops in several threads. A job starts at the time of the loop
    that creates it, so all callers must share one clock: real loops do, and so do the loops of
    one `dexnb.clock.Clock`. A call that hangs ends only by the caller's timeout or cancellation.
    Code without a loop uses `create_now` and `status_now`, and `book` to end a job by hand.

    Args:
        script: What a job does that is created without a script of its own.
        faults: What goes wrong.
    """

    def __init__(self, script: JobScript | None = None, faults: Faults | None = None) -> None:
        """Start without any job."""
        self.book = JobBook(script, faults)
        self._hung: set[asyncio.Future[None]] = set()

    async def create(self, job_id: str, script: JobScript | None = None) -> JobStatus:
        """Start the job, or answer its status if it is there; see `JobClient.create`."""
        return await self._give(self.book.create(job_id, _now(), script))

    async def status(self, job_id: str) -> JobStatus:
        """Answer where the job stands; see `JobClient.status`."""
        return await self._give(self.book.status(job_id, _now()))

    async def complete(self, job_id: str, result: str | None = None) -> JobStatus:
        """Let the job succeed now; see `JobClient.complete`."""
        await asyncio.sleep(0)
        return self.book.complete(job_id, _now(), result)

    async def fail(self, job_id: str, error: str) -> JobStatus:
        """Let the job fail now; see `JobClient.fail`."""
        await asyncio.sleep(0)
        return self.book.fail(job_id, _now(), error)

    def create_now(self, job_id: str, now: float, script: JobScript | None = None) -> JobStatus:
        """Start the job from code without a loop, at `now` on the callers' clock.

        Raises:
            JobError: As `create` does; see `status_now` about hangs and delays.
        """
        return _at_once(self.book.create(job_id, now, script))

    def status_now(self, job_id: str, now: float) -> JobStatus:
        """Answer where the job stands to code without a loop, at `now` on the callers' clock.

        The call is counted and meets faults like any other, but it waits for nothing: delays
        are left out, and a call that would hang raises.

        Raises:
            JobUnavailable: Also for a call that would never be answered.
            JobError: As `status` does.
        """
        return _at_once(self.book.status(job_id, now))

    def calls(self, job_id: str) -> int:
        """Give how many creations and status calls were made about a job, refused ones too."""
        return self.book.calls(job_id)

    async def _give(self, answer: Answer) -> JobStatus:
        # Also a delay of zero yields to the loop once, as every real call does.
        await asyncio.sleep(answer.delay)
        if answer.fate == "hung":
            await self._never()
        return _open(answer)

    async def _never(self) -> None:
        # The set holds what nothing else refers to: a task that waits on a future which only
        # the task knows may be collected in the middle of its wait.
        future = asyncio.get_running_loop().create_future()
        self._hung.add(future)
        try:
            await future
        finally:
            self._hung.discard(future)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _at_once(answer: Answer) -> JobStatus:
    if answer.fate == "hung":
        message = "the call hangs: it would never be answered"
        raise JobUnavailable(message)
    return _open(answer)


def _open(answer: Answer) -> JobStatus:
    if isinstance(answer.outcome, JobError):
        raise answer.outcome
    if answer.fate == "reset":
        message = "connection reset by the service"
        raise JobUnavailable(message)
    return answer.outcome
