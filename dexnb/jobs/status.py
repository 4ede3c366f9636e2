"""What a poll of an external system answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dexnb.errors import DocumentError


class JobState(StrEnum):
    """Where a job stands; each value is a plain string, so it is stored and compared as one."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @property
    def is_terminal(self) -> bool:
        """Whether the job has ended and will not change any more."""
        return self in (JobState.SUCCEEDED, JobState.FAILED)


@dataclass(frozen=True, slots=True)
class JobStatus:
    """One answer about one job, made of strings alone.

    Args:
        job_id: The job that was asked about.
        state: Where it stands.
        result: What it gave, once it has succeeded.
        error: What went wrong, once it has failed.
    """

    job_id: str
    state: JobState
    result: str | None = None
    error: str | None = None

    @property
    def is_terminal(self) -> bool:
        """Whether the job has ended and will not change any more."""
        return self.state.is_terminal

    def to_json(self) -> dict[str, str | None]:
        """Give the answer as a JSON object."""
        return {
            "job_id": self.job_id,
            "state": self.state.value,
            "result": self.result,
            "error": self.error,
        }

    @classmethod
    def from_json(cls, document: Any) -> JobStatus:
        """Read what `to_json` gave; fields that are not known are passed over.

        Raises:
            DocumentError: The document is not the status of a job.
        """
        try:
            texts = [document["job_id"], document.get("result"), document.get("error")]
            if not isinstance(texts[0], str) or any(not _optional(text) for text in texts):
                raise TypeError
            return cls(texts[0], JobState(document["state"]), texts[1], texts[2])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            message = f"not the status of a job: {str(document)[:200]}"
            raise DocumentError(message) from error


def _optional(value: object) -> bool:
    return value is None or isinstance(value, str)
