"""`HttpJobServer`: an external system of its own, on a real socket, that survives its crashes."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import uvicorn

from dexnb.clock import Clock, ClockRefusal, wall
from dexnb.jobs.app import JobInterface
from dexnb.jobs.book import JobBook
from dexnb.jobs.connections import Connections
from dexnb.jobs.errors import JobError
from dexnb.jobs.faults import Faults
from dexnb.jobs.fields import refuse
from dexnb.jobs.gate import is_loopback
from dexnb.jobs.script import JobScript
from dexnb.jobs.state_file import StateFile

MOST_BYTES = 64 * 1024 * 1024

# At a stop, answers on their way get this long; calls that hang are cut then.
_GRACE = 0.2
_START_TIMEOUT = 30.0


class HttpJobServer:
    """Serves jobs over HTTP and keeps them in a file.

    Started again on the same file, also after a kill -9, it goes on with the same jobs, each
    with its start time, script and ending; call numbers and the rate limit begin anew. Started
    again as the same object, it also keeps its port. It runs in a daemon thread:
    `with HttpJobServer(path) as server:` or `async with`, and it accepts calls from the first
    line of the block on. `serve` runs it on the caller's loop instead.

    Endpoints: `PUT /jobs/{id}` with an optional script as its body, `GET /jobs/{id}`,
    `POST /jobs/{id}/complete` with an optional `{"result": text}`, `POST /jobs/{id}/fail` with
    `{"error": text}`, `GET /jobs?offset=&limit=` and `GET /healthz`. An id is one quoted path
    segment. There is no password: who reaches the port may do everything, so the server binds
    loopback unless told otherwise.

    Args:
        path: The state file, made with mode 0600; one server at a time.
        host: The address to listen on.
        port: 0 picks a free one.
        script: What a job does that is created without a script of its own.
        faults: What goes wrong.
        most_bytes: How far the state file, and with it memory, may grow.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        host: str = "127.0.0.1",
        port: int = 0,
        script: JobScript | None = None,
        faults: Faults | None = None,
        *,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """Remember what to serve; nothing is opened before `start`."""
        self.path = path
        self.host = host
        self.port = port
        self._script = script
        self._faults = faults
        self._most_bytes = most_bytes
        self._book = JobBook(script, faults)
        self._thread: threading.Thread | None = None
        self._server: _Server | None = None
        self._failure: BaseException | None = None

    @property
    def url(self) -> str:
        """Where the server is reached; its port is known from the first start on."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - compared, not bound
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def calls(self, job_id: str) -> int:
        """Give how many creations and status calls arrived about a job since the last start."""
        return self._book.calls(job_id)

    def start(self) -> None:
        """Start in a daemon thread and return when calls are accepted.

        Raises:
            DefinitionError: The file or the address cannot be had; the text says why.
            DocumentError: The file holds something else.
        """
        if self._thread is not None:
            return
        state, listener = self._open()
        ready = threading.Event()
        self._failure = None
        self._thread = threading.Thread(
            target=self._run, args=(state, listener, ready), name="dexnb-jobs", daemon=True
        )
        self._thread.start()
        if not ready.wait(_START_TIMEOUT):
            raise JobError(f"the job server did not start within {_START_TIMEOUT} s")
        if self._failure is not None:
            self._thread.join()
            self._thread = None
            raise self._failure

    def stop(self) -> None:
        """Stop within a second: answers on their way are given, calls that hang are cut."""
        thread, self._thread = self._thread, None
        if thread is None or self._server is None:
            return
        self._server.should_exit = True
        thread.join()

    async def serve(self, ready: Callable[[], None]) -> None:
        """Serve on the running loop until cancelled or signalled; call `ready` when accepting.

        Raises:
            DefinitionError: As `start`.
            DocumentError: As `start`.
            ClockRefusal: The loop's time is scaled or virtual.
        """
        clock = Clock.of(asyncio.get_running_loop())
        if clock.kind != "real":
            fix = "start it in its own thread, or run this on Clock.real()"
            raise ClockRefusal("serve", clock=clock.identity, who="HttpJobServer", fix=fix)
        state, listener = self._open()
        await self._serve(state, listener, ready)

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    async def __aenter__(self) -> Self:
        """Start without blocking the loop."""
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop without blocking the loop."""
        await asyncio.to_thread(self.stop)

    def _open(self) -> tuple[StateFile, socket.socket]:
        state = StateFile(self.path, self._most_bytes)
        try:
            book = JobBook(self._script, self._faults, keep=state.append)
            for record in state.records():
                book.restore(record)
            listener = _bind(self.host, self.port)
        except BaseException:
            state.close()
            raise
        self._book = book
        self.port = listener.getsockname()[1]
        return state, listener

    def _run(self, state: StateFile, listener: socket.socket, ready: threading.Event) -> None:
        try:
            asyncio.run(self._serve(state, listener, ready.set))
        except BaseException as error:  # noqa: BLE001 - given to the thread that waits
            self._failure = error
        finally:
            ready.set()

    async def _serve(
        self, state: StateFile, listener: socket.socket, ready: Callable[[], None]
    ) -> None:
        loop = asyncio.get_running_loop()
        # The wall clock is read once: its later steps neither stretch nor cut a job.
        start = wall() - loop.time()
        connections = Connections()
        interface = JobInterface(self._book, state, connections, lambda: start + loop.time())
        local = is_loopback(listener.getsockname()[0])
        config = uvicorn.Config(
            interface.app(local_only=local),
            http=connections.protocol(),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config, connections, ready)
        try:
            await self._server.serve(sockets=[listener])
        finally:
            listener.close()
            state.close()


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, connections: Connections, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._connections = connections
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        cut = loop.call_later(_GRACE, self._connections.abort_all)
        try:
            await super().shutdown(sockets=sockets)
        finally:
            cut.cancel()


def _bind(host: str, port: int) -> socket.socket:
    if port not in range(65_536):
        raise refuse("port", port, "give 0 (any free port) to 65535")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise refuse("host", host, f"it is no address of this machine ({error})") from error
    try:
        if sys.platform != "win32":
            # There it would let another program take a port that is in use.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        fix = f"it cannot be bound ({error.strerror}); stop who has it, or take port 0"
        raise refuse("address", f"{host}:{port}", fix) from error
    return listener
