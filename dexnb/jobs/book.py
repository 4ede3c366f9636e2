"""`JobBook`: the pure core of every job service here: (job, time, call number) -> answer."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Literal

from dexnb.errors import DefinitionError, DocumentError
from dexnb.jobs.errors import (
    JobConflict,
    JobError,
    JobNotFound,
    JobRateLimited,
    JobUnavailable,
)
from dexnb.jobs.faults import Fault, Faults
from dexnb.jobs.fields import check_job_id, check_text
from dexnb.jobs.rate_limit import RateLimit
from dexnb.jobs.script import JobScript
from dexnb.jobs.status import JobState, JobStatus

Fate = Literal["answered", "hung", "reset"]
Record = dict[str, Any]

# Ids whose creation was refused have a call number and no job; the oldest are forgotten.
_MOST_REFUSED = 10_000

# A poll that is timed for the very moment of a change must see the change, though sums of
# floats fall short of it by a few units in the last place.
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Answer:
    """What becomes of one call.

    Args:
        outcome: The status to give or the error to raise.
        delay: Seconds before that.
        fate: Whether it reaches the caller at all.
    """

    outcome: JobStatus | JobError
    delay: float = 0.0
    fate: Fate = "answered"


@dataclass(slots=True)
class _Job:
    job_id: str
    script: JobScript
    started: float
    calls: int = 0
    ended: JobStatus | None = None
    ended_at: float = 0.0

    def elapsed(self, now: float) -> float:
        # A wall clock that was set back across a restart must not make a job younger than new.
        return max(0.0, now - self.started) + _TOLERANCE

    def status(self, now: float) -> JobStatus:
        if self.ended is not None:
            return self.ended
        return self.script.status(self.job_id, self.script.position(self.elapsed(now)))

    def stale(self, now: float) -> JobStatus:
        if self.ended is not None:
            before = self.script.position(self.elapsed(self.ended_at))
        else:
            before = max(0, self.script.position(self.elapsed(now)) - 1)
        return self.script.status(self.job_id, before)


class JobBook:
    """All jobs of one service and the calls made about them. Any thread may use it.

    It never looks at a clock: every method takes `now` in seconds, and all callers of one book
    must read it from the same clock.

    Args:
        script: What a job does that is created without a script of its own.
        faults: What goes wrong.
        keep: Called with each `Record` before it takes effect; what it raises stops the change.
    """

    def __init__(
        self,
        script: JobScript | None = None,
        faults: Faults | None = None,
        keep: Callable[[Record], None] | None = None,
    ) -> None:
        """Start empty."""
        self.script = script or JobScript()
        self.faults = faults or Faults()
        self._keep = keep
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._refused: dict[str, int] = {}
        self._scripts: dict[JobScript, JobScript] = {}
        limit = self.faults.rate_limit
        self._limit = None if limit is None else RateLimit(limit)

    def create(self, job_id: str, now: float, script: JobScript | None = None) -> Answer:
        """Answer a creation; the job starts at `now` unless it is there already.

        Raises:
            DefinitionError: The id cannot be one.
        """
        check_job_id(job_id)
        with self._lock:
            job = self._jobs.get(job_id)
            fault = self._count(job_id, job)
            refusal = self._refusal(job, fault, now)
            if refusal is not None:
                return Answer(refusal, fault.delay)
            fresh = job is None
            if job is None:
                job = self._begin(job_id, now, script or self.script)
            if script is not None and script != job.script:
                text = f"job {job_id!r} is there with another script; use a new id for a new job"
                return Answer(JobConflict(text), fault.delay)
            return self._answer(job, fault, now, fresh=fresh)

    def status(self, job_id: str, now: float) -> Answer:
        """Answer a poll.

        Raises:
            DefinitionError: The id cannot be one.
        """
        check_job_id(job_id)
        with self._lock:
            job = self._jobs.get(job_id)
            if job is None:
                return Answer(JobNotFound(job_id))
            fault = self._count(job_id, job)
            refusal = self._refusal(job, fault, now)
            if refusal is not None:
                return Answer(refusal, fault.delay)
            return self._answer(job, fault, now)

    def complete(self, job_id: str, now: float, result: str | None = None) -> JobStatus:
        """Let a job succeed at `now`, by hand; see `JobClient.complete`."""
        if result is not None:
            check_text("result", result)
        return self._end(job_id, now, JobState.SUCCEEDED, result)

    def fail(self, job_id: str, now: float, error: str) -> JobStatus:
        """Let a job fail at `now`, by hand; see `JobClient.fail`."""
        return self._end(job_id, now, JobState.FAILED, check_text("error", error))

    def look(self, job_id: str, now: float) -> JobStatus:
        """Give the true status: no fault befalls it and no call is counted.

        Raises:
            JobNotFound: It was never created, or has disappeared.
        """
        with self._lock:
            return self._present(job_id, now).status(now)

    def calls(self, job_id: str) -> int:
        """Give how many creations and status calls were made about a job, refused ones too."""
        with self._lock:
            job = self._jobs.get(job_id)
            return self._refused.get(job_id, 0) if job is None else job.calls

    def page(self, now: float, offset: int, limit: int) -> list[tuple[JobStatus, int]]:
        """Give the true statuses of jobs in order of creation, each with its calls."""
        with self._lock:
            jobs = islice(self._jobs.values(), offset, offset + limit)
            return [(job.status(now), job.calls) for job in jobs]

    def __len__(self) -> int:
        """Give how many jobs were created."""
        return len(self._jobs)

    def restore(self, record: Mapping[str, Any]) -> None:
        """Apply a record that `keep` was given earlier, by this process or another.

        Raises:
            DocumentError: The record is not one, or does not fit those before it.
        """
        try:
            self._apply(record)
        except (DefinitionError, LookupError, TypeError, ValueError) as error:
            message = f"not a record of a job: {str(record)[:200]}"
            raise DocumentError(message) from error

    def _apply(self, record: Mapping[str, Any]) -> None:
        job_id = check_job_id(record["job_id"])
        at = float(record["at"])
        if not math.isfinite(at):
            raise ValueError(at)
        if record["kind"] == "created" and job_id not in self._jobs:
            script = _script(json.dumps(record["script"]))
            self._insert(_Job(job_id, script, at))
        elif record["kind"] == "ended" and JobState(record["state"]).is_terminal:
            job = self._jobs[job_id]
            text = check_text("text", record["text"])
            job.ended, job.ended_at = _ended(job, JobState(record["state"]), text), at
        else:
            raise ValueError(record["kind"])

    def _begin(self, job_id: str, now: float, script: JobScript) -> _Job:
        job = _Job(job_id, script, now, calls=self._refused.get(job_id, 0))
        self._record("created", job_id, now, script=script.to_json())
        self._refused.pop(job_id, None)
        self._insert(job)
        return job

    def _insert(self, job: _Job) -> None:
        # Thousands of jobs share a few scripts; one object of each is kept.
        job.script = self._scripts.setdefault(job.script, job.script)
        self._jobs[job.job_id] = job

    def _end(self, job_id: str, now: float, state: JobState, text: str | None) -> JobStatus:
        check_job_id(job_id)
        with self._lock:
            job = self._present(job_id, now)
            present = job.status(now)
            if present.state is state:
                return present
            if present.is_terminal:
                message = f"job {job_id!r} is {present.state} already and cannot become {state}"
                raise JobConflict(message)
            ended = _ended(job, state, text)
            kept = ended.result if state is JobState.SUCCEEDED else ended.error
            self._record("ended", job_id, now, state=state.value, text=kept)
            job.ended, job.ended_at = ended, now
            return ended

    def _record(self, kind: str, job_id: str, now: float, **rest: Any) -> None:
        if self._keep is not None:
            self._keep({"kind": kind, "job_id": job_id, "at": now, **rest})

    def _present(self, job_id: str, now: float) -> _Job:
        job = self._jobs.get(job_id)
        if job is None or self.faults.is_gone(job.elapsed(now)):
            raise JobNotFound(job_id)
        return job

    def _count(self, job_id: str, job: _Job | None) -> Fault:
        if job is not None:
            number = job.calls
            job.calls += 1
        else:
            number = self._refused.pop(job_id, 0)
            self._refused[job_id] = number + 1
            if len(self._refused) > _MOST_REFUSED:
                del self._refused[next(iter(self._refused))]
        return self.faults.fault(job_id, number)

    def _refusal(self, job: _Job | None, fault: Fault, now: float) -> JobError | None:
        wait = 0.0 if self._limit is None else self._limit.admit(now)
        if wait > 0:
            return JobRateLimited(wait)
        if fault.error:
            return JobUnavailable("the service is not available")
        if job is None:
            return None
        if self.faults.is_out(job.elapsed(now)):
            return JobUnavailable("the service is down")
        if self.faults.is_gone(job.elapsed(now)):
            return JobNotFound(job.job_id)
        return None

    def _answer(self, job: _Job, fault: Fault, now: float, *, fresh: bool = False) -> Answer:
        fate: Fate = "answered"
        if fault.hang or (not fresh and self.faults.is_silent(job.elapsed(now))):
            fate = "hung"
        elif fault.reset:
            fate = "reset"
        status = job.stale(now) if fault.flap else job.status(now)
        return Answer(status, fault.delay, fate)


@lru_cache(maxsize=256)
def _script(text: str) -> JobScript:
    # A file of a hundred thousand jobs has a few scripts: each is checked once.
    return JobScript.from_json(json.loads(text))


def _ended(job: _Job, state: JobState, text: str | None) -> JobStatus:
    if state is JobState.SUCCEEDED:
        return job.script.succeeded(job.job_id, text)
    return job.script.failed(job.job_id, text)
