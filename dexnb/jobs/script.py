"""`JobScript`: what a job does by itself, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dexnb.jobs.fields import check_list, check_object, check_seconds, check_text, refuse
from dexnb.jobs.status import JobState, JobStatus

_PHASE_FIX = 'give ("QUEUED" or "RUNNING", seconds)'


@dataclass(frozen=True, slots=True)
class JobScript:
    """The course of a job from its creation: phases of given lengths, then an end.

    The default queues for 2 s, runs for 4 s and succeeds at 6 s. Values are checked and made
    plain when the script is built.

    Args:
        phases: Pairs of a state that is not terminal and its length in seconds.
        end: The terminal state after the last phase; None stays in the last phase for ever.
        result: Given on success, by the script or by hand; None gives `result of <job id>`.
        error: Given on failure by the script; None gives `<job id> failed`.

    Raises:
        DefinitionError: A field cannot hold; the text names it.
    """

    phases: Sequence[tuple[JobState, float]] = (
        (JobState.QUEUED, 2.0),
        (JobState.RUNNING, 4.0),
    )
    end: JobState | None = JobState.SUCCEEDED
    result: str | None = None
    error: str | None = None

    def __post_init__(self) -> None:
        """Check all fields."""
        object.__setattr__(self, "phases", _phases(self.phases))
        object.__setattr__(self, "end", _end(self.end))
        if self.end is None and not self.phases:
            raise refuse("script.phases", self.phases, "a script without an end needs a phase")
        for name in ("result", "error"):
            value = getattr(self, name)
            if value is not None:
                check_text(f"script.{name}", value)

    @classmethod
    def lasting(cls, seconds: float, **rest: Any) -> JobScript:
        """Queue for a third of the time, run for the rest, then end."""
        length = check_seconds("script.seconds", seconds)
        queued = length / 3
        return cls(((JobState.QUEUED, queued), (JobState.RUNNING, length - queued)), **rest)

    @classmethod
    def failing(cls, error: str = "the job failed", seconds: float = 6.0) -> JobScript:
        """Queue, run, and fail at `seconds`."""
        return cls.lasting(seconds, end=JobState.FAILED, error=error)

    @classmethod
    def endless(cls) -> JobScript:
        """Queue for 2 s and then run until it is completed or failed by hand."""
        return cls(end=None)

    @classmethod
    def flapping(cls, period: float = 1.0, times: int = 3) -> JobScript:
        """Fall back from running to queued `times` times, each state `period` seconds long."""
        turn = ((JobState.QUEUED, period), (JobState.RUNNING, period))
        return cls(turn * (times + 1))

    @property
    def seconds(self) -> float | None:
        """Seconds from creation to the end; None for a script that never ends."""
        return None if self.end is None else sum(length for _, length in self.phases)

    def position(self, elapsed: float) -> int:
        """Give how many phases are over after `elapsed` seconds; all of them means the end."""
        over = 0.0
        for number, (_, length) in enumerate(self.phases):
            over += length
            if elapsed < over:
                return number
        return len(self.phases) if self.end is not None else len(self.phases) - 1

    def status(self, job_id: str, position: int) -> JobStatus:
        """Give the answer of a job that stands at `position`."""
        if position < len(self.phases):
            return JobStatus(job_id, self.phases[position][0])
        if self.end is JobState.FAILED:
            return self.failed(job_id, self.error)
        return self.succeeded(job_id)

    def succeeded(self, job_id: str, result: str | None = None) -> JobStatus:
        """Give the answer of a job that succeeds, with the script's result unless one is given."""
        given = result if result is not None else self.result
        text = given if given is not None else f"result of {job_id}"
        return JobStatus(job_id, JobState.SUCCEEDED, result=text)

    def failed(self, job_id: str, error: str | None) -> JobStatus:
        """Give the answer of a job that fails."""
        text = error if error is not None else f"{job_id} failed"
        return JobStatus(job_id, JobState.FAILED, error=text)

    def to_json(self) -> dict[str, Any]:
        """Give the script as a JSON object."""
        return {
            "phases": [[state.value, length] for state, length in self.phases],
            "end": None if self.end is None else self.end.value,
            "result": self.result,
            "error": self.error,
        }

    @classmethod
    def from_json(cls, document: object) -> JobScript:
        """Read what `to_json` gave; fields left out take their defaults.

        Raises:
            DefinitionError: Not an object, an unknown field, or a value that cannot hold.
        """
        return cls(**check_object("script", document, cls.__match_args__))


def _phases(value: object) -> tuple[tuple[JobState, float], ...]:
    phases = check_list("script.phases", value, "pairs (state, seconds)")
    return tuple(_phase(f"script.phases[{number}]", phase) for number, phase in enumerate(phases))


def _phase(field: str, phase: object) -> tuple[JobState, float]:
    match phase:
        case [name, length]:
            state = _state(field, name)
            if state.is_terminal:
                raise refuse(field, phase, f"{_PHASE_FIX}; the terminal state is script.end")
            return state, check_seconds(field, length)
    raise refuse(field, phase, _PHASE_FIX)


def _end(value: object) -> JobState | None:
    fix = 'give "SUCCEEDED", "FAILED" or None'
    if value is None:
        return None
    state = _state("script.end", value)
    if not state.is_terminal:
        raise refuse("script.end", value, fix)
    return state


def _state(field: str, value: object) -> JobState:
    if not isinstance(value, str) or value not in JobState.__members__:
        raise refuse(field, value, f"the states are {', '.join(JobState)}")
    return JobState(value)
