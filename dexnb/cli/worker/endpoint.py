"""The health and metrics of a worker over HTTP, on the parent's loop."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from dexnb.cli.target import CommandError
from dexnb.cli.worker.bounded import MOST_AT_ONCE, Bounded, refusals_told_once
from dexnb.cli.worker.health import Seen, liveness, readiness
from dexnb.cli.worker.slot import Slot
from dexnb.cli.worker.totals import Totals

Judge = Callable[[Sequence[Seen]], tuple[bool, dict[str, Any]]]

MISSING = "metrics need prometheus-client: pip install 'dexnb[metrics]'\n"


def bind(host: str, port: int) -> socket.socket:
    """Take the port.

    Raises:
        CommandError: It cannot be had.
    """
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise CommandError(
            f"--health-host {host!r} is no address of this machine ({error})"
        ) from error
    listener = socket.socket(family, kind, protocol)
    try:
        if sys.platform != "win32":
            # There it would let another program take a port that is in use.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen()
    except OSError as error:
        listener.close()
        raise CommandError(
            f"--health-port {port} on {host} cannot be had ({error.strerror}): stop who has it, "
            "give another one, or 0 for any"
        ) from error
    return listener


@asynccontextmanager
async def served(listener: socket.socket, slots: Sequence[Slot]) -> AsyncIterator[None]:
    """Answer on the port for the length of the block."""
    config = uvicorn.Config(
        _app(slots),
        http=Bounded,
        backlog=MOST_AT_ONCE,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    with refusals_told_once():
        try:
            yield
        finally:
            server.should_exit = True
            await serving
            listener.close()


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the worker."""
        yield


def _app(slots: Sequence[Slot]) -> Starlette:
    began = asyncio.get_running_loop().time()

    def seen() -> list[Seen]:
        now = asyncio.get_running_loop().time()
        return [
            Seen(slot.job.process, slot.report, now - (slot.reported or began)) for slot in slots
        ]

    def answering(judge: Judge) -> Callable[[Request], Any]:
        async def answer(_: Request) -> Response:
            good, document = judge(seen())
            return JSONResponse(document, 200 if good else 503)

        return answer

    async def metrics(request: Request) -> Response:
        try:
            from dexnb.cli.worker.metrics import exposition
        except ModuleNotFoundError:
            return PlainTextResponse(MISSING, 501)
        totals, reports = Totals(), [slot.report for slot in slots if slot.report is not None]
        for slot in slots:
            totals.include(slot.past)
        for report in reports:
            totals.add(report)
        body, content_type = exposition(totals, reports, request.headers.get("accept", ""))
        return Response(body, headers={"content-type": content_type})

    return Starlette(
        routes=[
            Route("/health/live", answering(liveness)),
            Route("/health/ready", answering(readiness)),
            Route("/metrics", metrics),
        ]
    )
