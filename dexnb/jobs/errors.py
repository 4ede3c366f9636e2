"""What a call to an external system can end with instead of a status."""

from __future__ import annotations

from dexnb.errors import DexnbError


class JobError(DexnbError):
    """The external system refused a call, or gave an answer that nobody can use.

    Asking again will not help; the text says what was refused and why. The children tell the
    cases apart in which asking again, or asking for something else, does help.
    """


class JobConflict(JobError):
    """The call contradicts what the job already is: another script, or the opposite ending.

    Use a new job id for a new job.
    """


class JobNotFound(JobError):
    """No such job: it was never created, or it has disappeared.

    Check the id; a job that disappeared cannot be brought back under the same id.
    """

    def __init__(self, job_id: str) -> None:
        """Name the job."""
        self.job_id = job_id
        super().__init__(f"no job {job_id!r}: it was never created, or it has disappeared")


class JobRateLimited(JobError):
    """Too many calls; nothing was done. Ask again after `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        """Keep the pause that was asked for, in seconds."""
        self.retry_after = retry_after
        super().__init__(f"too many calls: ask again in {retry_after:.3f} s")


class JobTooLarge(JobError):
    """A body, or all that is kept, would grow past its limit; send less, or raise the limit."""


class JobUnavailable(JobError):
    """The external system did not answer this time (5xx, reset, refused, too late).

    Whether the call took effect is not known; every call may safely be made again.
    """
