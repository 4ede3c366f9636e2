"""`python -m dexnb.jobs`, killed at any moment and started again."""

from __future__ import annotations

import asyncio
import json
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from dexnb.clock import monotonic
from dexnb.jobs import HttpJobs, JobError, JobScript, JobState, JobStatus, JobUnavailable

ROOT = Path(__file__).parents[2]
ENDLESS = JobScript.endless()
RUNNING = JobScript(((JobState.RUNNING, 1.0),), end=None)


def begun(state: Path, *options: str) -> subprocess.Popen[str]:
    """Start the command."""
    command = [sys.executable, "-m", "dexnb.jobs", "--state", str(state), *options]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@contextmanager
def served(state: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Give the process and its URL; a process that is left at the end is killed -9."""
    process = begun(state, *options)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_it_prints_one_line_when_it_accepts(state: Path) -> None:
    """The URL, and nothing else before or after."""
    with served(state) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert asyncio.run(created(url, "j")).state is JobState.QUEUED
        assert stat.S_IMODE(state.stat().st_mode) == 0o600
        process.terminate()
        assert process.communicate(timeout=10) == ("", "")


async def created(url: str, job_id: str, script: JobScript | None = None) -> JobStatus:
    """Create a job, or create it again."""
    async with HttpJobs(url) as jobs:
        return await jobs.create(job_id, script)


async def ended(url: str, job_id: str, result: str) -> JobStatus:
    """Complete a job."""
    async with HttpJobs(url) as jobs:
        return await jobs.complete(job_id, result)


def test_killed_and_started_again_it_goes_on_with_the_same_jobs(state: Path) -> None:
    """Start times, scripts and results are as they were, though the options are others."""
    with served(state) as (process, url):
        early = asyncio.run(created(url, "early"))
        done = asyncio.run(ended(url, "early", "the result"))
        asyncio.run(created(url, "failing", JobScript.failing("e", 0.1)))
        asyncio.run(created(url, "endless", ENDLESS))
        process.kill()
        process.wait()
    kept = state.read_bytes()
    assert len(kept.splitlines()) == 5
    with served(state, "--script", '{"phases": []}') as (_, url):
        assert early.state is JobState.QUEUED
        assert asyncio.run(created(url, "early")) == done
        assert asyncio.run(created(url, "failing")).error == "e"
        assert asyncio.run(created(url, "endless", ENDLESS)).is_terminal is False
        assert asyncio.run(created(url, "new")).state is JobState.SUCCEEDED
        added = state.read_bytes().removeprefix(kept)
    assert [json.loads(line)["job_id"] for line in added.splitlines()] == ["new"]


async def work(url: str, killed: int, process: subprocess.Popen[str]) -> dict[str, JobStatus]:
    """Create and complete jobs, kill the server amid it, and give what it had answered."""
    answered: dict[str, JobStatus] = {}

    async def worker(jobs: HttpJobs, name: str) -> None:
        for number in count():
            job_id = f"{name}-{number}"
            answered[job_id] = await jobs.create(job_id, RUNNING)
            if number % 2 == 0:
                answered[job_id] = await jobs.complete(job_id, f"result of {job_id}")
            if len(answered) >= 25 + killed:
                process.kill()

    async with HttpJobs(url) as jobs:
        workers = (worker(jobs, f"{killed}-{number}") for number in range(8))
        ends = await asyncio.gather(*workers, return_exceptions=True)
    assert {type(end) for end in ends} == {JobUnavailable}
    return answered


async def assert_kept(url: str, answered: dict[str, JobStatus]) -> None:
    """Ask again about each job: it is as it was, or went on to an answer that was lost."""
    async with HttpJobs(url) as jobs:
        for job_id, status in answered.items():
            now = await jobs.status(job_id)
            assert now == status or (now.is_terminal and not status.is_terminal)


def test_whatever_it_answered_for_survives_a_kill_in_the_middle_of_work(state: Path) -> None:
    """Killed amid creations and completions, five times over: no answered change is lost."""
    answered: dict[str, JobStatus] = {}
    for killed in range(5):
        with served(state) as (process, url):
            asyncio.run(assert_kept(url, answered))
            answered |= asyncio.run(work(url, killed, process))
            assert process.wait(10) == -signal.SIGKILL
    with served(state) as (_, url):
        asyncio.run(assert_kept(url, answered))
    assert len(answered) > 100
    assert any(status.is_terminal for status in answered.values())


def test_faults_and_script_are_given_as_json(state: Path) -> None:
    """As `to_json` writes them."""
    script = json.dumps(JobScript((), result="at once").to_json())
    with served(state, "--script", script, "--faults", '{"disappear_after": 0}') as (_, url):
        assert asyncio.run(created(url, "j")).result == "at once"
        with pytest.raises(JobError, match="disappeared"):
            asyncio.run(created(url, "j"))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--script", "{"], "--script is '{': give a JSON object"),
        (["--script", "[]"], "script is []: give a JSON object"),
        (["--faults", '{"latency": -1}'], "faults.latency is -1"),
        (["--faults", "[" * 100_000], "--faults is '[[["),
        (["--port", "70000"], "port is 70000"),
        (["--host", "no such host"], "host is 'no such host'"),
    ],
)
def test_options_that_cannot_hold_end_it_with_one_line(
    state: Path, options: list[str], named: str
) -> None:
    """Exit code 2, no traceback, nothing on stdout."""
    process = begun(state, *options)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    assert err.startswith(f"dexnb.jobs: {named}")
    assert err.count("\n") == 1


@pytest.mark.timing
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_within_a_second_and_in_silence(state: Path, stop: signal.Signals) -> None:
    """Also while a call hangs."""
    with served(state, "--faults", '{"hang_rate": 1}') as (process, url):

        async def hang() -> float:
            async with HttpJobs(url) as jobs:
                call = asyncio.create_task(jobs.create("j"))
                while b'"j"' not in state.read_bytes():  # noqa: ASYNC240 - a line, on a local disk
                    await asyncio.sleep(0.01)
                start = monotonic()
                process.send_signal(stop)
                with pytest.raises(JobUnavailable):
                    await call
                assert process.communicate(timeout=10) == ("", "")
                return monotonic() - start

        assert asyncio.run(hang()) < 1.5
