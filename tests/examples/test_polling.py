"""The polling example, on the virtual clock: ten minutes of waiting take no time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest

from dexnb.clock import Clock
from dexnb.engine import FlowResult, Runtime
from dexnb.examples.polling import (
    HEARTBEAT_TIMEOUT,
    JOB_CALL_TIMEOUT,
    JOB_PROGRESS,
    MAX_JOB_WAIT,
    POLL_INTERVAL,
    AwaitJob,
    PollingFlow,
)
from dexnb.jobs import Faults, HttpJobs, InProcessJobs, JobScript, JobState, JobStatus
from dexnb.jobs.errors import JobUnavailable
from dexnb.model.event import Event
from dexnb.model.history import fold
from dexnb.model.json_text import from_text
from dexnb.providers import MemoryProvider

QUEUED, RUNNING = JobState.QUEUED, JobState.RUNNING
LONG = JobScript(((QUEUED, 6.0), (RUNNING, 6.0)))


@dataclass(frozen=True)
class Ended:
    """What is left of a run: how it ended, its log, and the states it reported."""

    result: FlowResult
    events: list[Event]
    reported: list[JobState]

    def trace(self, *kinds: str) -> list[tuple[float, str, str]]:
        """Give seconds, kind and state of AwaitJob's messages and heartbeats, or of other kinds."""
        start = self.events[0].time
        return [
            (round(event.time - start, 3), event.kind, _state(event))
            for event in self.events
            if event.step_execution_id == "AwaitJob-1"
            and event.kind in (kinds or ("stream_message", "heartbeat"))
        ]

    @property
    def seconds(self) -> float:
        """How long the run took."""
        return round(self.events_of("flow_closed")[0].time - self.events[0].time, 3)

    def events_of(self, kind: str) -> list[Event]:
        """Give the events of a kind."""
        return [event for event in self.events if event.kind == kind]


def _state(event: Event) -> str:
    if event.kind == "stream_message":
        return str(from_text(event.payload["value"])["state"])
    if event.kind == "heartbeat":
        return str(from_text(event.payload["checkpoint"]))
    return str(event.attempt)


def play(jobs: InProcessJobs) -> Ended:
    """Run the example against these jobs to its end."""

    async def main() -> Ended:
        async with Runtime(MemoryProvider()) as runtime:
            run = await runtime.start(PollingFlow(jobs), "job-1")
            result = await run.wait()
            events = list(await run.events())
            assert fold(event for event in events if event.durable) == await run.state()
            messages = await run.stream(JOB_PROGRESS)
            return Ended(result, events, [message.value.state for message in messages])

    return Clock.virtual().run(main())


def test_a_healthy_run_reports_changes_and_beats_in_between() -> None:
    """A message for each new state, a heartbeat for each unchanged round, then the result."""
    ended = play(InProcessJobs(LONG))
    assert ended.trace() == [
        (0, "stream_message", "QUEUED"),
        (2, "heartbeat", "QUEUED"),
        (4, "heartbeat", "QUEUED"),
        (6, "stream_message", "RUNNING"),
        (8, "heartbeat", "RUNNING"),
        (10, "heartbeat", "RUNNING"),
    ]
    assert ended.seconds == 12
    assert ended.result.status == "COMPLETED"
    assert ended.result.output == "result of job-1"
    assert ended.reported == [QUEUED, RUNNING]


def test_the_messages_are_job_statuses() -> None:
    """Who reads the Stream gets what the job system answered."""

    async def main() -> list[JobStatus]:
        async with Runtime(MemoryProvider()) as runtime:
            run = await runtime.start(PollingFlow(InProcessJobs()), "job-1")
            await run.wait()
            return [message.value for message in await run.stream(JOB_PROGRESS)]

    expected = [JobStatus("job-1", QUEUED), JobStatus("job-1", RUNNING)]
    assert Clock.virtual().run(main()) == expected


def test_a_failed_job_fails_the_flow_with_its_error() -> None:
    """That is an answer and no failure of the wait: nothing is retried, nothing recovers."""
    ended = play(InProcessJobs(JobScript.failing("disk full")))
    assert (ended.result.status, ended.result.error_type) == ("FAILED", "STEP_DECISION_FAILED")
    assert ended.result.error_message == "disk full"
    assert ended.events_of("retry_scheduled") == []
    assert ended.events_of("step_failed") == []


def test_a_hung_call_is_ended_by_its_own_timeout_and_the_wait_goes_on() -> None:
    """Attempt 2 begins with the state that attempt 1 reported last, and repeats no message."""
    ended = play(InProcessJobs(JobScript.lasting(30), Faults(hang_windows=[(13, 20)])))
    starts = ended.trace("attempt_started")
    assert starts == [(0, "attempt_started", "1"), (25, "attempt_started", "2")]
    assert [from_text(e.payload["checkpoint"] or "null") for e in _attempts(ended)] == [
        None,
        "RUNNING",
    ]
    assert ended.result.output == "result of job-1"
    assert ended.reported == [QUEUED, RUNNING]


def test_a_system_that_never_answers_again_ends_in_the_recovery_step() -> None:
    """Three attempts of 10 s with 1 s and 2 s between; the Flow fails with the error's type."""
    ended = play(InProcessJobs(faults=Faults(hang_windows=[(1, 1e6)])))
    failures = [event.payload["failure"] for event in ended.events_of("attempt_ended")[1:4]]
    assert {failure["error_type"] for failure in failures} == {"builtins.TimeoutError"}
    assert [start for start, *_ in ended.trace("attempt_started")] == [0, 13, 25]
    assert ended.seconds == 35
    assert ended.result.status == "FAILED"
    assert ended.result.error_message == (
        "gave up waiting for job job-1: builtins.TimeoutError: TimeoutError"
    )


def test_a_job_that_never_ends_is_given_up_after_the_longest_wait() -> None:
    """One attempt fills the whole budget, so no retry fits; history does not grow with rounds."""
    ended = play(InProcessJobs(JobScript.endless()))
    assert ended.seconds == MAX_JOB_WAIT.total_seconds()
    assert ended.result.status == "FAILED"
    assert ended.result.error_message.startswith("gave up waiting for job job-1: ScheduleToClose: ")
    (failed,) = ended.events_of("step_failed")
    assert failed.payload["failure"]["last_error"]["error_type"] == "StartToClose"
    assert len(ended.trace("heartbeat")) > 290
    assert len([event for event in ended.events if event.durable]) < 10


def test_a_job_that_has_disappeared_is_named_in_the_failure() -> None:
    """The recovery Step tells the error's type as well as its text."""
    ended = play(InProcessJobs(JobScript.endless(), Faults(disappear_after=5)))
    assert ended.result.error_message == (
        "gave up waiting for job job-1: dexnb.jobs.errors.JobNotFound: "
        "no job 'job-1': it was never created, or it has disappeared"
    )


def test_a_flapping_job_is_reported_each_time_and_keeps_the_step_alive() -> None:
    """Messages are signs of life too: no heartbeat is needed while every round brings news."""
    ended = play(InProcessJobs(JobScript.flapping(period=2.0, times=40)))
    assert ended.reported == [QUEUED, RUNNING] * 41
    assert ended.trace("heartbeat") == []
    assert ended.seconds > 2 * HEARTBEAT_TIMEOUT.total_seconds()
    assert ended.result.status == "COMPLETED"


@pytest.mark.parametrize(
    ("failing_poll", "expected"),
    [
        (2.0, [QUEUED, QUEUED, RUNNING]),
        (4.0, [QUEUED, RUNNING]),
        (8.0, [QUEUED, RUNNING, RUNNING]),
        (10.0, [QUEUED, RUNNING]),
    ],
)
def test_an_attempt_repeats_one_message_at_most(
    failing_poll: float, expected: list[JobState]
) -> None:
    """One, if the round behind a change of state fails: the checkpoint comes a round later."""
    outage = (failing_poll - 0.5, failing_poll + 0.5)
    ended = play(InProcessJobs(LONG, Faults(outages=[outage])))
    assert ended.reported == expected
    assert ended.result.status == "COMPLETED"


def test_a_start_whose_answer_is_lost_starts_no_second_job() -> None:
    """The flow id is the job's id, so the second attempt finds the job of the first."""

    class LosesFirstAnswer(InProcessJobs):
        lost = False

        async def create(self, job_id: str, script: JobScript | None = None) -> JobStatus:
            status = await super().create(job_id, script)
            if not self.lost:
                self.lost = True
                message = "connection reset"
                raise JobUnavailable(message)
            return status

    # Polled at 1, 3 and 5 s: a job that was started again at 1 s would be seen to end at 7 s.
    ended = play(LosesFirstAnswer(JobScript.lasting(4.5)))
    assert ended.seconds == 5
    assert ended.result.status == "COMPLETED"


def test_a_round_fits_into_the_heartbeat_timeout_with_a_margin() -> None:
    """Or a slow call would be taken for a dead Step (source: the Dex polling pattern)."""
    assert HEARTBEAT_TIMEOUT - timedelta(seconds=10) >= POLL_INTERVAL + JOB_CALL_TIMEOUT


def test_one_constant_bounds_the_attempt_and_the_retries() -> None:
    """So whoever copies the example changes the longest wait in one place."""
    options = AwaitJob(InProcessJobs()).get_step_options()
    assert options.execute_method_timeout == MAX_JOB_WAIT
    assert options.execute_retry is not None
    assert options.execute_retry.total_duration == MAX_JOB_WAIT


def test_the_environment_says_where_the_jobs_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a URL they are asked for over HTTP; without, they live in this process."""
    monkeypatch.delenv("DEXNB_JOBS_URL", raising=False)
    assert isinstance(_jobs_of(PollingFlow()), InProcessJobs)
    monkeypatch.setenv("DEXNB_JOBS_URL", "http://127.0.0.1:9")
    jobs = _jobs_of(PollingFlow())
    assert isinstance(jobs, HttpJobs)
    assert (jobs.url, jobs.timeout) == ("http://127.0.0.1:9", None)


def _jobs_of(flow: PollingFlow) -> object:
    return flow._jobs  # noqa: SLF001 - what the environment chose shows nowhere else


def _attempts(ended: Ended) -> list[Event]:
    starts = ended.events_of("attempt_started")
    return [event for event in starts if event.step_execution_id == "AwaitJob-1"]
