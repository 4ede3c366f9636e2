"""Errors as both ends of the HTTP interface write and read them."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Any

from dexnb.errors import DefinitionError
from dexnb.jobs.errors import (
    JobConflict,
    JobError,
    JobNotFound,
    JobRateLimited,
    JobTooLarge,
    JobUnavailable,
)
from dexnb.jobs.fields import LONGEST_SECONDS

NO_JOB = "no_job"

_LONGEST_MESSAGE = 500

_STATUS: dict[type[Exception], tuple[int, str]] = {
    DefinitionError: (HTTPStatus.BAD_REQUEST, "bad_request"),
    JobConflict: (HTTPStatus.CONFLICT, "conflict"),
    JobError: (HTTPStatus.BAD_REQUEST, "refused"),
    JobNotFound: (HTTPStatus.NOT_FOUND, NO_JOB),
    JobRateLimited: (HTTPStatus.TOO_MANY_REQUESTS, "rate_limited"),
    JobTooLarge: (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large"),
    JobUnavailable: (HTTPStatus.SERVICE_UNAVAILABLE, "unavailable"),
}


def document(code: str, message: str, **more: float) -> dict[str, Any]:
    """Build the JSON body of every error."""
    return {"error": {"code": code, "message": message[:_LONGEST_MESSAGE], **more}}


def write_error(
    error: DefinitionError | JobError,
) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Give the HTTP status, body and headers that stand for an error."""
    status, code = _STATUS[type(error)]
    if isinstance(error, JobRateLimited):
        body = document(code, str(error), retry_after=error.retry_after)
        # The header knows whole seconds alone; the body has the exact pause.
        return status, body, {"retry-after": str(math.ceil(error.retry_after))}
    return status, document(code, str(error)), {}


def read_error(job_id: str, status: int, body: Any, retry_after: str | None) -> JobError:
    """Give the error that an HTTP answer other than 200 stands for."""
    problem = body.get("error") if isinstance(body, dict) else None
    problem = problem if isinstance(problem, dict) else {}
    message = str(problem.get("message", "it gave no reason"))[:_LONGEST_MESSAGE]
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return JobRateLimited(_pause(problem.get("retry_after"), retry_after))
    if status == HTTPStatus.NOT_FOUND and problem.get("code") == NO_JOB:
        return JobNotFound(job_id)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return JobUnavailable(f"the job server answered {status}: {message}")
    kind: dict[int, type[JobError]] = {
        HTTPStatus.CONFLICT: JobConflict,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: JobTooLarge,
    }
    return kind.get(status, JobError)(f"the job server answered {status}: {message}")


def _pause(exact: object, header: str | None) -> float:
    for given in (exact, header):
        try:
            seconds = float(given)  # type: ignore[arg-type]  # what is no number is passed over
        except (OverflowError, TypeError, ValueError):
            continue
        if 0 <= seconds <= LONGEST_SECONDS:
            return seconds
    return 1.0
