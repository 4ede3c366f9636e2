"""The polling pattern: start a job in somebody else's system once, then wait for it durably.

`StartJob` starts the job under the flow id, so an attempt that is repeated finds the job there.
`AwaitJob` polls it in rounds: a call that has a timeout of its own, then a sleep. A change of
state goes to the Stream `JobProgress`; otherwise a heartbeat shows that the attempt lives and
keeps the state last reported for the next attempt, which repeats one message at most. An error of
a call ends the attempt and is left to the retry policy. When that gives up, `RecordJobWaitFailure`
fails the Flow and says why.

A round has to fit into the heartbeat timeout with 10 s to spare, so that a slow call is never
taken for a dead Step: POLL_INTERVAL + JOB_CALL_TIMEOUT <= HEARTBEAT_TIMEOUT - 10 s.
"""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta

import dexnb.jobs
from dexnb import (
    AsyncContext,
    Context,
    Flow,
    PersistenceSchema,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    Stream,
    force_fail,
    go_to,
    graceful_complete,
)
from dexnb.jobs import JobClient, JobState, JobStatus

POLL_INTERVAL = timedelta(seconds=2)
JOB_CALL_TIMEOUT = timedelta(seconds=10)
HEARTBEAT_TIMEOUT = timedelta(minutes=1)

MAX_JOB_WAIT = timedelta(minutes=10)
"""Longest run of one attempt, and the time after which no retry begins any more."""

JOB_PROGRESS = Stream("JobProgress", JobStatus, 1 << 20)


class StartJob(Step[None]):
    """Starts the job, whose id is the flow id: one Flow has one job, however often this runs."""

    def __init__(self, jobs: JobClient) -> None:
        """Start jobs in this system."""
        self._jobs = jobs

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Start the job unless it is there, and go on to wait for it."""
        async with asyncio.timeout(JOB_CALL_TIMEOUT.total_seconds()):
            job = await self._jobs.create(context.flow_id)
        return go_to(AwaitJob, job.job_id)


class AwaitJob(Step[str]):
    """Polls the job until it has ended, and reports each change of its state."""

    def __init__(self, jobs: JobClient) -> None:
        """Ask this system."""
        self._jobs = jobs

    def get_step_options(self) -> StepOptions:
        """Bound each attempt, its silence and the retries; say who takes over after the last."""
        return StepOptions(
            execute_method_timeout=MAX_JOB_WAIT,
            heartbeat_timeout=HEARTBEAT_TIMEOUT,
            execute_retry=RetryPolicy(
                initial_interval=timedelta(seconds=1),
                backoff_coefficient=2.0,
                maximum_attempts=3,
                total_duration=MAX_JOB_WAIT,
            ),
        ).on_execute_failure_proceed_to(RecordJobWaitFailure)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Wait from the state that was last reported on, by this attempt or one before it."""
        reported = context.get_last_heartbeat_value(JobState)
        while True:
            async with asyncio.timeout(JOB_CALL_TIMEOUT.total_seconds()):
                job = await self._jobs.status(input)
            if job.state is JobState.SUCCEEDED:
                return graceful_complete(job.result)
            if job.state is JobState.FAILED:
                return force_fail(job.error or f"job {input} failed")
            if job.state is not reported:
                JOB_PROGRESS.write(context, job)
                reported = job.state
            else:
                await context.heartbeat(reported)
            await asyncio.sleep(POLL_INTERVAL.total_seconds())


class RecordJobWaitFailure(Step[str]):
    """Ends the Flow when the wait has failed for good; the job itself may still be running."""

    def execute(self, context: Context, input: str) -> StepDecision:
        """Fail the Flow with what ended the last attempt."""
        error = context.recovery_error
        if error is None:
            return force_fail(f"gave up waiting for job {input}")
        return force_fail(f"gave up waiting for job {input}: {error.error_type}: {error.detail}")


class PollingFlow(Flow[None]):
    """Starts one job and waits for it; its output is the job's result.

    Args:
        jobs: The system that has the jobs. Without one, it is the server at the URL in the
            environment variable DEXNB_JOBS_URL, or else a system of this Flow's own inside the
            process, whose jobs end with it.
    """

    def __init__(self, jobs: JobClient | None = None) -> None:
        """Poll this system."""
        self._jobs = jobs or _default_jobs()

    def get_steps(self) -> StepList[None]:
        """Start, wait, and say why not."""
        return StepList.start_step(StartJob(self._jobs)).other_steps(
            AwaitJob(self._jobs), RecordJobWaitFailure()
        )

    def get_persistence_schema(self) -> PersistenceSchema:
        """Keep the progress of the job."""
        return PersistenceSchema.of(JOB_PROGRESS)


def _default_jobs() -> JobClient:
    url = os.environ.get("DEXNB_JOBS_URL")
    # No timeout of the client's own: the Steps bound every call.
    return dexnb.jobs.HttpJobs(url, timeout=None) if url else dexnb.jobs.InProcessJobs()
