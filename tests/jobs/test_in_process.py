"""The service inside this process, on clocks that are not real."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable

import pytest

from dexnb.clock import Clock, VirtualTimeStuck
from dexnb.jobs import (
    Faults,
    InProcessJobs,
    JobClient,
    JobNotFound,
    JobRateLimited,
    JobScript,
    JobState,
    JobStatus,
    JobUnavailable,
)


async def taken(call: Awaitable[object]) -> float:
    """Give the seconds of the loop that a call takes."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    await call
    return loop.time() - start


def test_it_is_a_job_client() -> None:
    """As the HTTP client is, so that a Flow may be given either."""
    assert isinstance(InProcessJobs(), JobClient)


def test_a_poll_loop_sees_the_default_job_through_in_virtual_time() -> None:
    """At 0, 2, 4 and 6 s exactly, in no time at all."""

    async def main() -> list[tuple[float, str]]:
        jobs, loop = InProcessJobs(), asyncio.get_running_loop()
        start, seen = loop.time(), []
        status = await jobs.create("j")
        while not status.is_terminal:
            seen.append((loop.time() - start, status.state.value))
            await asyncio.sleep(2)
            status = await jobs.status("j")
        assert status.result == "result of j"
        assert jobs.calls("j") == 4
        return [*seen, (loop.time() - start, status.state.value)]

    assert Clock.virtual().run(main()) == [
        (0, "QUEUED"),
        (2, "RUNNING"),
        (4, "RUNNING"),
        (6, "SUCCEEDED"),
    ]


def test_a_week_of_polls_takes_no_time_and_repeats_by_seed() -> None:
    """Sixty thousand polls under latency and errors: two runs see the same."""
    faults = Faults(seed=11, latency=(0.1, 2), error_rate=0.05)

    async def main() -> tuple[int, float]:
        jobs, loop = InProcessJobs(JobScript.lasting(604_800), faults), asyncio.get_running_loop()
        errors = 0
        while True:
            try:
                if (await jobs.create("j")).is_terminal:
                    return errors, loop.time()
            except JobUnavailable:
                errors += 1
            await asyncio.sleep(60)

    first = Clock.virtual().run(main())
    assert first == Clock.virtual().run(main())
    assert 400 < first[0] < 600


def test_a_call_that_hangs_ends_by_the_callers_timeout_alone() -> None:
    """The timeout takes its virtual seconds, and the next call is not held up."""

    async def main() -> None:
        jobs = InProcessJobs(faults=Faults(hang_windows=[(1, 3)]))
        await jobs.create("j")
        await asyncio.sleep(1)
        loop = asyncio.get_running_loop()
        start = loop.time()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(jobs.status("j"), 10)
        assert loop.time() - start == pytest.approx(10)
        assert (await jobs.status("j")).state is JobState.SUCCEEDED

    Clock.virtual().run(main())


def test_a_call_that_hangs_without_a_timeout_is_named_by_the_virtual_clock() -> None:
    """A hang is never silent: the clock says what waits, and where."""

    async def main() -> None:
        await InProcessJobs(faults=Faults(hang_rate=1)).create("j")

    with pytest.raises(VirtualTimeStuck, match="in_process"):
        Clock.virtual().run(main())


def test_a_hung_task_that_nobody_holds_is_not_collected() -> None:
    """Else a hang would end in a destroyed task instead of the caller's timeout."""

    async def main() -> None:
        jobs = InProcessJobs(faults=Faults(hang_rate=1))
        ended = asyncio.Event()

        async def call() -> None:
            try:
                await jobs.create("j")
            finally:
                ended.set()

        tasks = [asyncio.create_task(call())]
        await asyncio.sleep(0.01)
        task = tasks.pop()
        name = task.get_name()
        del task
        gc.collect()
        assert not ended.is_set()
        (left,) = [task for task in asyncio.all_tasks() if task.get_name() == name]
        left.cancel()
        await ended.wait()

    Clock.virtual().run(main())


def test_latency_and_slow_calls_take_the_loops_time() -> None:
    """To the microsecond, as drawn."""
    faults = Faults(seed=2, latency=(0.5, 1.5), slow_rate=0.5, slow_seconds=20)

    async def main() -> list[float]:
        jobs = InProcessJobs(faults=faults)
        return [await taken(jobs.create("j")) for _ in range(20)]

    expected = [faults.fault("j", number).delay for number in range(20)]
    assert Clock.virtual().run(main()) == pytest.approx(expected)
    assert {delay > 20 for delay in expected} == {True, False}


def test_a_caller_that_obeys_the_rate_limit_loses_no_call() -> None:
    """Fifty pollers share two calls per second and each gets through."""

    async def main() -> float:
        jobs, loop = InProcessJobs(faults=Faults(rate_limit=2)), asyncio.get_running_loop()
        start = loop.time()

        async def create(number: int) -> JobStatus:
            while True:
                try:
                    return await jobs.create(f"j{number}")
                except JobRateLimited as limited:
                    await asyncio.sleep(limited.retry_after)

        await asyncio.gather(*(create(number) for number in range(50)))
        return loop.time() - start

    assert Clock.virtual().run(main()) == pytest.approx(24, abs=0.01)


def test_a_call_yields_to_the_loop_even_without_latency() -> None:
    """A poll loop without a sleep does not stop everything else."""

    async def main() -> int:
        jobs, turns = InProcessJobs(), 0
        await jobs.create("j")

        async def poll() -> None:
            for _ in range(100):
                await jobs.status("j")

        task = asyncio.create_task(poll())
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert Clock.virtual().run(main()) >= 100


def test_a_scaled_clock_runs_the_same_script() -> None:
    """Six seconds pass in six hundredths of one."""

    async def main() -> JobStatus:
        jobs = InProcessJobs()
        await jobs.create("j")
        await asyncio.sleep(6)
        return await jobs.status("j")

    assert Clock.scaled(100).run(main()).state is JobState.SUCCEEDED


def test_code_without_a_loop_gets_the_same_answers_without_waiting() -> None:
    """Counted and faulted alike; what would hang says so instead."""
    jobs = InProcessJobs(faults=Faults(latency=50, hang_windows=[(1, 2)], outages=[(2, 3)]))
    assert jobs.create_now("j", 100).state is JobState.QUEUED
    with pytest.raises(JobUnavailable, match="never be answered"):
        jobs.status_now("j", 101)
    with pytest.raises(JobUnavailable, match="the service is down"):
        jobs.status_now("j", 102)
    assert jobs.status_now("j", 106).state is JobState.SUCCEEDED
    with pytest.raises(JobNotFound):
        jobs.status_now("k", 106)
    assert jobs.calls("j") == 4


def test_loops_in_several_threads_share_one_service() -> None:
    """Each creates and polls the same jobs; every call is counted, no job is made twice."""
    jobs = InProcessJobs(JobScript.endless())
    seen: list[JobStatus] = []

    async def main() -> None:
        for number in range(100):
            await jobs.create(f"j{number}")
            seen.append(await jobs.status(f"j{number}"))

    threads = [threading.Thread(target=asyncio.run, args=(main(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 400
    assert len(jobs.book) == 100
    assert {jobs.calls(f"j{number}") for number in range(100)} == {8}
