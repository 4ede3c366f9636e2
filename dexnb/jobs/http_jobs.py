"""`HttpJobs`: the client of the HTTP job server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from dexnb.clock import Clock, ClockRefusal
from dexnb.errors import DocumentError
from dexnb.jobs.errors import JobError, JobUnavailable
from dexnb.jobs.fields import check_job_id, check_seconds, check_text, refuse
from dexnb.jobs.script import JobScript
from dexnb.jobs.status import JobStatus
from dexnb.jobs.wire import read_error

_MOST_ANSWER = 1_048_576

_Loop = asyncio.AbstractEventLoop
_Keeper = AsyncGenerator[httpx.AsyncClient, None]


class HttpJobs:
    """A `JobClient` that calls an `HttpJobServer`.

    It may be used from any loop and thread: an httpx client belongs to the loop that made it,
    so each loop gets its own, closed when that loop ends or on `aclose`. Each call has a
    connection of its own. Proxies and other settings of the environment are not looked at, and
    redirects are not followed.

    Args:
        url: Where the server is, as `HttpJobServer.url` gives it.
        timeout: Seconds that a whole call may take; None waits for ever.

    Raises:
        DefinitionError: Not an http or https URL of a host, or a timeout that cannot hold.
        ClockRefusal: By each call on a loop whose time is scaled or virtual.
    """

    def __init__(self, url: str, timeout: float | None = 10.0) -> None:
        """Remember where to call; nothing is opened before the first call."""
        self.url = _checked(url)
        if timeout is not None:
            timeout = check_seconds("timeout", timeout, above_zero=True)
        self.timeout = timeout
        self._lock = threading.Lock()
        self._keepers: dict[_Loop, tuple[_Keeper, httpx.AsyncClient]] = {}

    async def create(self, job_id: str, script: JobScript | None = None) -> JobStatus:
        """Start the job, or answer its status if it is there; see `JobClient.create`."""
        body = None if script is None else script.to_json()
        return await self._call("PUT", job_id, "", body)

    async def status(self, job_id: str) -> JobStatus:
        """Answer where the job stands; see `JobClient.status`."""
        return await self._call("GET", job_id, "", None)

    async def complete(self, job_id: str, result: str | None = None) -> JobStatus:
        """Let the job succeed now; see `JobClient.complete`."""
        body = None if result is None else {"result": check_text("result", result)}
        return await self._call("POST", job_id, "/complete", body)

    async def fail(self, job_id: str, error: str) -> JobStatus:
        """Let the job fail now; see `JobClient.fail`."""
        return await self._call("POST", job_id, "/fail", {"error": check_text("error", error)})

    async def aclose(self) -> None:
        """Close what belongs to the running loop; a later call begins anew."""
        with self._lock:
            kept = self._keepers.pop(asyncio.get_running_loop(), None)
        if kept is not None:
            await kept[0].aclose()

    async def __aenter__(self) -> Self:
        """Give the client."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close what belongs to the running loop."""
        await self.aclose()

    async def _call(self, method: str, job_id: str, action: str, body: Any) -> JobStatus:
        # Dots are quoted too: "." and ".." would be taken for steps of the path.
        segment = quote(check_job_id(job_id), safe="").replace(".", "%2E")
        client = await self._client()
        try:
            async with asyncio.timeout(self.timeout):
                status, document, retry_after = await _exchange(
                    client, method, f"{self.url}/jobs/{segment}{action}", body
                )
        except TimeoutError as error:
            message = f"the job server did not answer within {self.timeout} s"
            raise JobUnavailable(message) from error
        except httpx.TransportError as error:
            message = f"the job server cannot be reached: {str(error) or type(error).__name__}"
            raise JobUnavailable(message) from error
        if status != HTTPStatus.OK:
            raise read_error(job_id, status, document, retry_after)
        return _status(job_id, document)

    async def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        kept = self._keepers.get(loop)
        if kept is None:
            self._require_real(loop)
            kept = await self._keep(loop)
        return kept[1]

    def _require_real(self, loop: _Loop) -> None:
        clock = Clock.of(loop)
        if clock.kind != "real":
            fix = "poll InProcessJobs there, or run this on Clock.real()"
            raise ClockRefusal(f"HTTP to {self.url}", clock=clock.identity, who="HttpJobs", fix=fix)

    async def _keep(self, loop: _Loop) -> tuple[_Keeper, httpx.AsyncClient]:
        # An async generator because loops close those themselves when they end: nobody has to
        # remember a client that was first used deep inside a Step.
        keeper = self._lifetime(loop)
        client = await anext(keeper)
        with self._lock:
            # Nothing else of this loop ran since the look: the generator never suspends.
            self._keepers[loop] = keeper, client
            for ended in [other for other in self._keepers if other.is_closed()]:
                del self._keepers[ended]
        return keeper, client

    async def _lifetime(self, loop: _Loop) -> _Keeper:
        client = httpx.AsyncClient(
            timeout=None,  # noqa: S113 - the whole call has one, see _call
            follow_redirects=False,
            trust_env=False,
            # Loading certificates that a plain connection never looks at would hold up the loop.
            verify=self.url.startswith("https:"),
            headers={"accept-encoding": "identity", "connection": "close"},
            # A connection kept for the next poll may be closed by the server just then: a fault
            # that no seed has drawn. Bursts of calls are also slower on kept connections.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        )
        try:
            yield client
        finally:
            with self._lock:
                self._keepers.pop(loop, None)
            await client.aclose()


async def _exchange(
    client: httpx.AsyncClient, method: str, url: str, body: Any
) -> tuple[int, Any, str | None]:
    async with client.stream(method, url, json=body) as response:
        text = b""
        async for chunk in response.aiter_raw():
            text += chunk
            if len(text) > _MOST_ANSWER:
                message = f"the job server sent over {_MOST_ANSWER} bytes; is {url} one?"
                raise JobError(message)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    return response.status_code, document, response.headers.get("retry-after")


def _status(job_id: str, document: Any) -> JobStatus:
    try:
        status = JobStatus.from_json(document)
    except DocumentError as error:
        message = f"the job server answered something else: {error}"
        raise JobError(message) from error
    if status.job_id != job_id:
        message = f"the job server was asked about {job_id!r} and answered {status.job_id!r}"
        raise JobError(message)
    return status


def _checked(url: str) -> str:
    fix = "give the URL of a job server, http://host:port"
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError) as error:
        raise refuse("url", url, fix) from error
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.fragment:
        raise refuse("url", url, fix)
    if parsed.userinfo:
        # Not shown: it is a secret.
        raise refuse("url", parsed.host, f"{fix}, without a user and password")
    return str(parsed).rstrip("/")
