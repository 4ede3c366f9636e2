"""The HTTP client, also toward servers that are none of ours."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dexnb.clock import Clock, ClockRefusal
from dexnb.errors import DefinitionError
from dexnb.jobs import (
    Faults,
    HttpJobs,
    HttpJobServer,
    JobClient,
    JobError,
    JobNotFound,
    JobRateLimited,
    JobScript,
    JobState,
    JobUnavailable,
)

ENDLESS = JobScript.endless()
GOOD = json.dumps({"job_id": "j", "state": "RUNNING"})


@asynccontextmanager
async def answering(answer: bytes | None) -> AsyncIterator[str]:
    """Run a TCP server that sends the same bytes to everybody, or nothing at all."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            if answer is None:
                await reader.read()
            else:
                writer.write(answer)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()


def http(status: str, body: str | bytes, headers: str = "") -> bytes:
    """Build an HTTP answer."""
    content = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


async def asked(answer: bytes) -> JobError | None:
    """Ask a server that answers these bytes and give the error, if it is one."""
    async with answering(answer) as url, HttpJobs(url) as jobs:
        try:
            await jobs.status("j")
        except JobError as error:
            return error
    return None


def test_it_is_a_job_client() -> None:
    """As the service in this process is."""
    assert isinstance(HttpJobs("http://127.0.0.1:1"), JobClient)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (http("200 OK", GOOD), None),
        (http("200 OK", GOOD.replace("j", "k")), JobError),
        (http("200 OK", "<html>"), JobError),
        (http("200 OK", "{}"), JobError),
        (http("200 OK", b"\xff\xfe\xfd"), JobError),
        (http("200 OK", "[" * 100_000), JobError),
        (http("200 OK", "9" * 100_000), JobError),
        (http("200 OK", " " * 1_100_000), JobError),
        (http("204 No Content", ""), JobError),
        (http("301 Moved", "", "Location: http://127.0.0.1:1/\r\n"), JobError),
        (http("404 Not Found", "<html>"), JobError),
        (http("404 Not Found", '{"error": "not found"}'), JobError),
        (http("404 Not Found", '{"error": {"code": "no_job"}}'), JobNotFound),
        (http("418 Teapot", '{"error": {"message": 3}}'), JobError),
        (http("429 Slow", "", "Retry-After: 7\r\n"), JobRateLimited),
        (http("500 Oops", "trace"), JobUnavailable),
        (http("502 Bad Gateway", "<html>"), JobUnavailable),
        (http("799 Odd", "{}"), JobUnavailable),
        (b"garbage\r\n\r\n", JobUnavailable),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", JobUnavailable),
        (b"", JobUnavailable),
    ],
)
def test_every_answer_is_a_status_or_one_of_our_errors(
    answer: bytes, kind: type[JobError] | None
) -> None:
    """Nothing of httpx comes through, and the text stays short."""
    error = asyncio.run(asked(answer))
    assert (None if error is None else type(error)) is kind
    assert len(str(error)) < 700


@pytest.mark.parametrize(
    ("headers", "body", "pause"),
    [
        ("Retry-After: 7\r\n", "", 7),
        ("Retry-After: 7\r\n", '{"error": {"retry_after": 6.25}}', 6.25),
        ("Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n", "", 1),
        ("Retry-After: nan\r\n", '{"error": {"retry_after": -3}}', 1),
        ("Retry-After: 1e300\r\n", '{"error": {"retry_after": []}}', 1),
        ("", '{"error": {"retry_after": 1%s}}' % ("0" * 400), 1),
    ],
)
def test_the_pause_of_a_rate_limit_is_always_a_sane_number(
    headers: str, body: str, pause: float
) -> None:
    """The exact one of the body, else the header's, else a second."""
    error = asyncio.run(asked(http("429 Slow", body, headers)))
    assert isinstance(error, JobRateLimited)
    assert error.retry_after == pause


def test_a_redirect_is_not_followed() -> None:
    """A server cannot send the client elsewhere, not even to a good answer."""

    async def main() -> None:
        async with answering(http("200 OK", GOOD)) as elsewhere:
            error = await asked(http("307 Moved", "", f"Location: {elsewhere}/jobs/j\r\n"))
            assert error is not None
            assert "307" in str(error)

    asyncio.run(main())


def test_proxies_of_the_environment_are_not_asked(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loopback is called as loopback."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    async def main() -> JobState:
        async with HttpJobServer(state) as server, HttpJobs(server.url) as jobs:
            return (await jobs.create("j")).state

    assert asyncio.run(main()) is JobState.QUEUED


def test_a_server_that_never_answers_ends_by_the_timeout() -> None:
    """The whole call has one timeout, in which a trickle of bytes does not count."""

    async def main() -> float:
        loop = asyncio.get_running_loop()
        async with answering(None) as url, HttpJobs(url, timeout=0.2) as jobs:
            start = loop.time()
            with pytest.raises(JobUnavailable, match=r"did not answer within 0.2 s"):
                await jobs.status("j")
            return loop.time() - start

    assert 0.19 < asyncio.run(main()) < 5


def test_without_a_timeout_the_callers_own_ends_the_call() -> None:
    """Cancellation is cancellation, not a job error."""

    async def main() -> None:
        async with answering(None) as url, HttpJobs(url, timeout=None) as jobs:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(jobs.status("j"), 0.2)
            task = asyncio.create_task(jobs.status("j"))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


def test_a_server_that_is_not_there_is_unavailable_until_it_is(state: Path) -> None:
    """The same client goes on when the server is back."""

    async def main() -> None:
        server = HttpJobServer(state)
        async with server, HttpJobs(server.url) as jobs:
            await jobs.create("j")
            server.stop()
            with pytest.raises(JobUnavailable, match="cannot be reached"):
                await jobs.status("j")
            server.start()
            assert (await jobs.status("j")).state is JobState.QUEUED

    asyncio.run(main())


def test_one_client_serves_several_loops_and_threads(state: Path) -> None:
    """Each loop gets an httpx client of its own; nothing is bound to the first."""
    with HttpJobServer(state, script=ENDLESS) as server:
        jobs = HttpJobs(server.url)
        asyncio.run(poll(jobs, "first"))
        asyncio.run(poll(jobs, "second"))
        threads = [
            threading.Thread(target=asyncio.run, args=(poll(jobs, f"thread {number}"),))
            for number in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counted = ("first", "second", "thread 0", "thread 3")
        assert [server.calls(job_id) for job_id in counted] == [21] * 4


async def poll(jobs: JobClient, job_id: str) -> None:
    """Create a job and ask about it twenty times at once."""
    await jobs.create(job_id)
    await asyncio.gather(*(jobs.status(job_id) for _ in range(20)))


def test_a_client_that_nobody_closed_leaves_nothing_open(state: Path) -> None:
    """Its loop closes it at its end: no warning, no connection, no entry."""

    async def main(url: str) -> HttpJobs:
        jobs = HttpJobs(url)
        await poll(jobs, "j")
        return jobs

    with HttpJobServer(state, script=ENDLESS) as server:
        jobs = asyncio.run(main(server.url))
        (entries,) = [value for value in vars(jobs).values() if isinstance(value, dict)]
        assert entries == {}
        loop = asyncio.new_event_loop()
        loop.run_until_complete(poll(jobs, "j"))
        loop.close()
        asyncio.run(poll(jobs, "j"))
        assert entries == {}
        del jobs
        gc.collect()


def test_a_closed_client_may_be_used_again(state: Path) -> None:
    """Closing twice is closing once."""

    async def main() -> None:
        async with HttpJobServer(state, script=ENDLESS) as server:
            jobs = HttpJobs(server.url)
            await jobs.aclose()
            await jobs.create("j")
            await jobs.aclose()
            await jobs.aclose()
            await jobs.status("j")

    asyncio.run(main())


@pytest.mark.parametrize("clock", [Clock.virtual(), Clock.scaled(10)])
def test_http_on_a_clock_that_is_not_real_is_refused_by_name(clock: Clock) -> None:
    """It is never left to hang; the text names the clock and what to poll instead."""

    async def main() -> None:
        await HttpJobs("http://127.0.0.1:1").status("j")

    with pytest.raises(ClockRefusal, match=f"HttpJobs .* {clock.identity} clock: poll InProcess"):
        clock.run(main())


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("", "url is ''"),
        ("127.0.0.1:80", "url is '127.0.0.1:80'"),
        ("ftp://host", "url is 'ftp://host'"),
        ("http://", "url is 'http://'"),
        ("http://host/?q=1", "url is"),
        ("http://host/#top", "url is"),
        ("http://host:port", "url is"),
        ("http://me:hunter2@host", "without a user and password"),
        (None, "url is None"),
    ],
)
def test_a_url_of_no_job_server_is_refused(url: str, named: str) -> None:
    """Before anything is called, and without showing a password."""
    with pytest.raises(DefinitionError, match=named) as refused:
        HttpJobs(url)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), True, "1"])
def test_a_timeout_that_cannot_hold_is_refused(timeout: float) -> None:
    """None is the way to say for ever."""
    with pytest.raises(DefinitionError, match="timeout is "):
        HttpJobs("http://127.0.0.1:1", timeout=timeout)


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_url_may_end_in_a_slash(state: Path, slash: str) -> None:
    """As people paste it."""

    async def main() -> None:
        async with HttpJobServer(state) as server, HttpJobs(server.url + slash) as jobs:
            await jobs.create("j")

    asyncio.run(main())


def test_hung_calls_do_not_hold_up_the_others(state: Path) -> None:
    """A hundred and fifty calls that are never answered, and one that is."""

    async def main() -> None:
        faults = Faults(seed=1, hang_rate=0.5)
        names = [f"j{number}" for number in range(400)]
        hung = [name for name in names if faults.fault(name, 0).hang][:150]
        good = next(name for name in names if name not in hung)
        async with HttpJobServer(state, faults=faults) as server, HttpJobs(server.url) as jobs:
            tasks = [asyncio.create_task(jobs.create(name)) for name in hung]
            while not all(server.calls(name) for name in hung):
                await asyncio.sleep(0.01)
            assert (await jobs.create(good)).state is JobState.QUEUED
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert {type(end) for end in ended} == {asyncio.CancelledError}

    asyncio.run(main())
