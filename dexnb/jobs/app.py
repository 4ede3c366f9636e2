"""The HTTP interface of a `JobBook`, as a Starlette application."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from dexnb.errors import DefinitionError
from dexnb.jobs.book import Answer, JobBook
from dexnb.jobs.connections import Connections
from dexnb.jobs.delivery import Delivery
from dexnb.jobs.errors import JobError, JobTooLarge
from dexnb.jobs.fields import check_object, check_text, refuse
from dexnb.jobs.gate import Gate
from dexnb.jobs.script import JobScript
from dexnb.jobs.state_file import StateFile
from dexnb.jobs.status import JobStatus
from dexnb.jobs.wire import document, write_error

# The largest script in its longest spelling still fits.
MOST_BODY = 524_288
MOST_LISTED = 1_000


class JobInterface:
    """Answers HTTP calls out of a book, once what they changed is safe in the state file.

    Args:
        book: What is known about jobs; it keeps its records in `state`.
        state: The file.
        connections: Those of the server that runs the application.
        now: The server's clock, in seconds.
    """

    def __init__(
        self,
        book: JobBook,
        state: StateFile,
        connections: Connections,
        now: Callable[[], float],
    ) -> None:
        """Join the parts of one server."""
        self._book = book
        self._state = state
        self._connections = connections
        self._now = now

    def app(self, *, local_only: bool) -> ASGIApp:
        """Give the application; `local_only` says that the server listens on loopback."""
        routes = [
            Route("/healthz", self._health, methods=["GET"]),
            Route("/jobs", self._list, methods=["GET"]),
            Route("/jobs/", self._nameless, methods=["GET", "PUT"]),
            Route("/jobs/{job_id}", self._create, methods=["PUT"]),
            Route("/jobs/{job_id}", self._status, methods=["GET"]),
            Route("/jobs/{job_id}/complete", self._complete, methods=["POST"]),
            Route("/jobs/{job_id}/fail", self._fail, methods=["POST"]),
        ]
        handlers: dict[Any, Any] = {
            DefinitionError: _refused,
            JobError: _refused,
            HTTPException: _unrouted,
            Exception: _broken,
        }
        return Gate(Starlette(routes=routes, exception_handlers=handlers), local_only=local_only)

    async def _health(self, request: Request) -> Response:
        return JSONResponse({"ok": True, "jobs": len(self._book)})

    async def _list(self, request: Request) -> Response:
        offset = _whole(request, "offset", 0, 10**9)
        limit = _whole(request, "limit", 100, MOST_LISTED)
        jobs = [
            {"job_id": status.job_id, "state": status.state.value, "calls": calls}
            for status, calls in self._book.page(self._now(), offset, limit)
        ]
        return JSONResponse({"jobs": jobs, "total": len(self._book)})

    async def _nameless(self, request: Request) -> Response:
        raise refuse("job_id", "", "give at least one character")

    async def _create(self, request: Request) -> Response:
        body = await _body(request)
        script = None if body is None else JobScript.from_json(body)
        return await self._deliver(self._book.create(_job_id(request), self._now(), script))

    async def _status(self, request: Request) -> Response:
        return await self._deliver(self._book.status(_job_id(request), self._now()))

    async def _complete(self, request: Request) -> Response:
        body = await _body(request)
        body = check_object("body", {} if body is None else body, ["result"])
        job_id = _job_id(request)
        return await self._done(self._book.complete(job_id, self._now(), body.get("result")))

    async def _fail(self, request: Request) -> Response:
        body = check_object("body", await _body(request), ["error"])
        error = check_text("error", body.get("error"))
        job_id = _job_id(request)
        return await self._done(self._book.fail(job_id, self._now(), error))

    async def _deliver(self, answer: Answer) -> Response:
        if isinstance(answer.outcome, JobStatus):
            response = await self._done(answer.outcome)
        else:
            response = _error(answer.outcome)
        return Delivery(response, answer.delay, answer.fate, self._connections)

    async def _done(self, status: JobStatus) -> Response:
        await self._state.durable()
        return JSONResponse(status.to_json())


def _job_id(request: Request) -> str:
    quoted = request.path_params["job_id"]
    try:
        return unquote(quoted, errors="strict")
    except UnicodeDecodeError:
        raise refuse("job_id", quoted, "quote it as UTF-8") from None


def _whole(request: Request, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name, str(default))
    if text.isascii() and text.isdigit() and len(text) <= len(str(most)) and int(text) <= most:
        return int(text)
    raise refuse(name, text, f"give a whole number from 0 to {most}")


async def _body(request: Request) -> Any:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY:
            message = f"the body is over {MOST_BODY} bytes"
            raise JobTooLarge(message)
    if not body:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise refuse("body", body[:40], f"give JSON ({error})") from error


def _error(error: DefinitionError | JobError) -> JSONResponse:
    status, body, headers = write_error(error)
    return JSONResponse(body, status, headers)


async def _refused(_: Request, error: DefinitionError | JobError) -> JSONResponse:
    return _error(error)


async def _unrouted(request: Request, error: HTTPException) -> JSONResponse:
    path = request.scope["path"][:200]
    message = f"{request.method} {path}: {error.detail}"
    return JSONResponse(document("no_endpoint", message), error.status_code, error.headers)


async def _broken(_: Request, __: Exception) -> JSONResponse:
    return JSONResponse(document("broken", "the job server failed; see its log"), 500)
