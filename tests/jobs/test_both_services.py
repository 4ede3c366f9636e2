"""What holds for a caller alike, whether the service is in this process or over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from dexnb.errors import DefinitionError
from dexnb.jobs import (
    Faults,
    JobClient,
    JobConflict,
    JobError,
    JobNotFound,
    JobRateLimited,
    JobScript,
    JobState,
    JobStatus,
    JobUnavailable,
)
from tests.jobs.conftest import OpenJobs

ENDLESS = JobScript(((JobState.RUNNING, 1.0),), end=None)
RUNNING = JobStatus("j", JobState.RUNNING)
Poll = Callable[[JobClient], Awaitable[None]]
FOR_EVER = [(0.0, 1e9)]


def test_a_job_goes_through_its_states_in_order(open_jobs: OpenJobs) -> None:
    """Polled in real time, none is skipped or seen again."""

    async def main() -> list[str]:
        async with open_jobs(JobScript.lasting(0.6)) as jobs:
            seen = [await jobs.create("j")]
            while not seen[-1].is_terminal:
                await asyncio.sleep(0.02)
                seen.append(await jobs.status("j"))
            assert seen[-1].result == "result of j"
            return list(dict.fromkeys(status.state.value for status in seen))

    assert asyncio.run(main()) == ["QUEUED", "RUNNING", "SUCCEEDED"]


def test_creating_with_a_script_runs_that_script(open_jobs: OpenJobs) -> None:
    """It is plain data and reaches the service whole."""

    async def main() -> None:
        async with open_jobs(ENDLESS) as jobs:
            script = JobScript((), end=JobState.FAILED, error="n\x00o \U0001f4a5")
            expected = JobStatus("j", JobState.FAILED, error="n\x00o \U0001f4a5")
            assert await jobs.create("j", script) == expected
            assert await jobs.create("j") == expected
            with pytest.raises(JobConflict, match="another script"):
                await jobs.create("j", JobScript())

    asyncio.run(main())


def test_twenty_creations_at_once_make_one_job(open_jobs: OpenJobs) -> None:
    """All get the same answer, and one completion ends them all."""

    async def main() -> None:
        async with open_jobs(ENDLESS) as jobs:
            answers = await asyncio.gather(*(jobs.create("j") for _ in range(20)))
            assert set(answers) == {RUNNING}
            done = await jobs.complete("j", "one")
            again = await asyncio.gather(*(jobs.create("j") for _ in range(20)))
            assert set(again) == {done}

    asyncio.run(main())


def test_a_job_is_completed_early_or_failed_by_hand(open_jobs: OpenJobs) -> None:
    """With or without a result; the other ending is refused."""

    async def main() -> None:
        async with open_jobs(ENDLESS) as jobs:
            for job_id in ("a", "b", "c"):
                await jobs.create(job_id)
            assert (await jobs.complete("a")).result == "result of a"
            assert (await jobs.complete("b", "")).result == ""
            assert (await jobs.fail("c", "by hand")).error == "by hand"
            assert (await jobs.status("c")).state is JobState.FAILED
            with pytest.raises(JobConflict, match="'c' is FAILED already"):
                await jobs.complete("c")

    asyncio.run(main())


def test_unknown_jobs_are_not_found(open_jobs: OpenJobs) -> None:
    """By any call; the error names the job."""

    async def main() -> None:
        async with open_jobs() as jobs:
            calls = (jobs.status("no"), jobs.complete("no"), jobs.fail("no", "e"))
            for call in calls:
                with pytest.raises(JobNotFound, match="'no'") as missing:
                    await call
                assert missing.value.job_id == "no"

    asyncio.run(main())


HOSTILE_IDS = [
    ".",
    "..",
    "../../etc/passwd",
    "a/b",
    "a//b",
    "/",
    "x/complete",
    "complete",
    "a?b=c#d",
    "a%2Fb",
    "%",
    "%00",
    "a\x00b",
    "a\r\nX: y\r\n\r\n",
    "a\nb",
    " ",
    "ä\u202e\U0001f4a5",
    "<script>alert(1)</script>",
    "'; drop table jobs; --",
    "{id}",
    "\x7f\x80",
    "x" * 200,
    "\U0001f4a5" * 200,
]


def test_an_id_is_a_name_whatever_is_in_it(open_jobs: OpenJobs) -> None:
    """It comes back unchanged, and is not taken for a path, a quote or a template."""

    async def main() -> None:
        async with open_jobs(ENDLESS) as jobs:
            for job_id in HOSTILE_IDS:
                with pytest.raises(JobNotFound):
                    await jobs.status(job_id)
                assert (await jobs.create(job_id)).job_id == job_id
            for job_id in HOSTILE_IDS:
                assert not (await jobs.status(job_id)).is_terminal
                assert (await jobs.complete(job_id, job_id)).result == job_id
                assert (await jobs.status(job_id)).result == job_id

    asyncio.run(main())


@pytest.mark.parametrize("job_id", ["", "x" * 201, "\ud800"])
def test_an_id_that_cannot_be_one_is_the_callers_mistake(open_jobs: OpenJobs, job_id: str) -> None:
    """A definition error, not a job error: asking again never helps."""

    async def main() -> None:
        async with open_jobs() as jobs:
            with pytest.raises(DefinitionError, match="job_id"):
                await jobs.create(job_id)

    asyncio.run(main())


def from_the_second_call(kind: str) -> Faults:
    """Give faults whose seed spares the first call of job "j" and strikes the second."""
    for seed in range(1_000):
        faults = Faults.from_json({"seed": seed, f"{kind}_rate": 0.5})
        if [getattr(faults.fault("j", number), kind) for number in (0, 1)] == [False, True]:
            return faults
    raise AssertionError(kind)


def hung(seconds: float = 0.3) -> Poll:
    """Give a poll that must still be unanswered after some seconds."""

    async def poll(jobs: JobClient) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(jobs.status("j"), seconds)

    return poll


def raises(kind: type[JobError]) -> Poll:
    """Give a poll that must end with exactly this error."""

    async def poll(jobs: JobClient) -> None:
        with pytest.raises(JobError) as caught:
            await jobs.status("j")
        assert type(caught.value) is kind

    return poll


@pytest.mark.parametrize(
    ("faults", "poll"),
    [
        pytest.param(Faults(outages=FOR_EVER), raises(JobUnavailable), id="outage"),
        pytest.param(Faults(hang_windows=FOR_EVER), hung(), id="hang"),
        pytest.param(Faults(disappear_after=0), raises(JobNotFound), id="disappear"),
        pytest.param(Faults(rate_limit=1e-3), raises(JobRateLimited), id="rate_limit"),
        pytest.param(from_the_second_call("hang"), hung(), id="hang_rate"),
        pytest.param(from_the_second_call("reset"), raises(JobUnavailable), id="reset"),
        pytest.param(from_the_second_call("error"), raises(JobUnavailable), id="error"),
    ],
)
def test_a_fault_is_seen_by_the_caller(open_jobs: OpenJobs, faults: Faults, poll: Poll) -> None:
    """The creation is answered, the poll after it meets the fault."""

    async def main() -> None:
        async with open_jobs(ENDLESS, faults) as jobs:
            assert (await jobs.create("j")).job_id == "j"
            await poll(jobs)

    asyncio.run(main())


def test_latency_holds_back_every_answer(open_jobs: OpenJobs) -> None:
    """Answers and refusals alike, and calls wait beside each other, not in a row."""

    async def main() -> float:
        async with open_jobs(ENDLESS, Faults(latency=0.5, outages=FOR_EVER)) as jobs:
            loop = asyncio.get_running_loop()
            start = loop.time()
            await asyncio.gather(*(jobs.create(f"j{number}") for number in range(8)))
            assert loop.time() - start >= 0.49
            start = loop.time()
            with pytest.raises(JobUnavailable):
                await jobs.status("j1")
            return loop.time() - start

    assert asyncio.run(main()) >= 0.49


def test_a_flapping_status_falls_back_after_the_end(open_jobs: OpenJobs) -> None:
    """As a lagging replica answers."""
    script = JobScript(((JobState.QUEUED, 0.0), (JobState.RUNNING, 0.0)))

    async def main() -> JobState:
        async with open_jobs(script, Faults(flap_rate=1)) as jobs:
            await jobs.create("j")
            return (await jobs.status("j")).state

    assert asyncio.run(main()) is JobState.RUNNING


def test_a_rate_limited_caller_that_waits_as_told_gets_through(open_jobs: OpenJobs) -> None:
    """The pause is exact, not rounded to whole seconds."""

    async def main() -> None:
        async with open_jobs(ENDLESS, Faults(rate_limit=4)) as jobs:
            for number in range(4):
                await jobs.create(f"j{number}")
            with pytest.raises(JobRateLimited) as limited:
                await jobs.create("late")
            assert 0 < limited.value.retry_after < 1
            await asyncio.sleep(limited.value.retry_after)
            assert (await jobs.create("late")).job_id == "late"

    asyncio.run(main())


def test_the_same_seed_gives_every_caller_the_same_answers(open_jobs: OpenJobs) -> None:
    """Here and over HTTP, the answers are those that `Faults.fault` foretells."""
    faults = Faults(seed=20, error_rate=0.3, reset_rate=0.2)

    async def main() -> list[bool]:
        answered = []
        async with open_jobs(ENDLESS, faults) as jobs:
            for _ in range(30):
                try:
                    await jobs.create("j")
                except JobUnavailable:
                    answered.append(False)
                else:
                    answered.append(True)
        return answered

    foretold = [faults.fault("j", number) for number in range(30)]
    assert asyncio.run(main()) == [not (fault.error or fault.reset) for fault in foretold]
