"""What cannot follow a scaled or virtual clock is refused by name, and nothing else is."""

from __future__ import annotations

import asyncio
import http.client
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

import anyio
import pytest

from dexnb.clock import Clock, ClockRefusal, guard_thread, sleep_blocking

CLOCKS = [Clock.virtual(), Clock.scaled(10)]


@pytest.fixture(params=CLOCKS, ids=lambda clock: clock.identity)
def clock(request: pytest.FixtureRequest) -> Clock:
    """Give each clock that is not real."""
    assert isinstance(request.param, Clock)
    return request.param


@pytest.fixture
def server() -> Iterator[tuple[str, int]]:
    """Listen on a loopback port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()


async def by_stream() -> None:
    """Open a connection as asyncio's own streams do."""
    await asyncio.open_connection("job.example", 8443)


async def by_datagram() -> None:
    """Open a datagram endpoint."""
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=("job.example", 53))


async def by_socket() -> None:
    """Connect a socket on the loop, as HTTP clients do that race addresses."""
    with socket.socket() as sock:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("192.0.2.1", 80))


async def by_server() -> None:
    """Listen."""
    await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 8080)


async def by_program() -> None:
    """Start a program."""
    await asyncio.create_subprocess_exec("ssh", "--password", "hunter2")


async def by_shell() -> None:
    """Start a shell."""
    await asyncio.create_subprocess_shell("curl -H 'Authorization: hunter2' job.example")


async def by_reader() -> None:
    """Watch a file descriptor, as database drivers do."""
    asyncio.get_running_loop().add_reader(0, print)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (by_stream, "loop.create_connection('job.example', 8443)"),
        (by_datagram, "loop.create_datagram_endpoint(remote_addr=('job.example', 53))"),
        (by_socket, "loop.sock_connect(('192.0.2.1', 80))"),
        (by_server, "loop.create_server('127.0.0.1', 8080)"),
        (by_program, "loop.subprocess_exec('ssh')"),
        (by_shell, "loop.subprocess_shell()"),
        (by_reader, "loop.add_reader(0)"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_network_and_processes_are_refused_with_their_address(
    clock: Clock, call: Callable[[], Awaitable[None]], named: str
) -> None:
    """The text names the call, the address, the clock, the task and the fix; no secret."""

    async def main() -> None:
        await call()

    with pytest.raises(ClockRefusal) as caught:
        clock.run(main())

    text = str(caught.value)
    assert caught.value.call == named
    assert f"cannot follow the {clock.identity} clock" in text
    assert "main)" in text
    assert "dexnb.jobs" in text
    assert "Clock.real()" in text
    assert "hunter2" not in text


def test_a_connection_by_anyio_is_refused_inside_its_group(clock: Clock) -> None:
    """The library races addresses in a task group, which carries the refusal out."""

    async def main() -> None:
        await anyio.connect_tcp("127.0.0.1", 8080)

    with pytest.RaisesGroup(pytest.RaisesExc(ClockRefusal, match="create_connection")):
        clock.run(main())


def test_a_blocking_sleep_in_a_coroutine_is_refused_with_its_line(clock: Clock) -> None:
    """The mistake of every first polling loop is named where it stands."""

    async def poll() -> None:
        time.sleep(5)  # noqa: ASYNC251 - the mistake under test

    with pytest.raises(ClockRefusal, match=r"time\.sleep\(5\)") as caught:
        clock.run(poll())

    assert "poll) at " in caught.value.who
    assert f"{__file__}:" in caught.value.who
    assert "asyncio.sleep" in caught.value.fix


def test_a_blocking_sleep_in_a_callback_is_refused(clock: Clock) -> None:
    """Code that runs in no task is on the loop's thread all the same."""

    async def main() -> BaseException:
        loop = asyncio.get_running_loop()
        failed = loop.create_future()
        loop.set_exception_handler(lambda _, context: failed.set_result(context["exception"]))
        loop.call_soon(time.sleep, 1)
        caught = await failed
        assert isinstance(caught, BaseException)
        return caught

    assert isinstance(clock.run(main()), ClockRefusal)


def test_a_sleep_of_zero_is_legal(clock: Clock) -> None:
    """It gives way to other threads and takes no time."""

    async def main() -> None:
        time.sleep(0)  # noqa: ASYNC251 - the exception under test
        sleep_blocking(0.0)

    clock.run(main())


def test_a_blocking_connection_is_refused(clock: Clock, server: tuple[str, int]) -> None:
    """A synchronous HTTP client inside a coroutine is refused before it looks up a name."""

    async def fetch() -> None:
        http.client.HTTPConnection(*server, timeout=5).request("GET", "/")

    async def connect() -> None:
        with socket.socket() as sock:
            sock.connect(server)

    with pytest.raises(ClockRefusal, match=r"socket\.getaddrinfo\('127\.0\.0\.1'"):
        clock.run(fetch())
    with pytest.raises(ClockRefusal, match=r"socket\.connect\(\('127\.0\.0\.1', \d+\)\)"):
        clock.run(connect())


def test_a_thread_of_a_sync_step_is_guarded_while_it_says_so(
    clock: Clock, server: tuple[str, int]
) -> None:
    """The refusal names the Flow and Step that the engine gave, and ends with the block."""

    def connect() -> None:
        with socket.socket() as sock:
            sock.connect(server)

    def step() -> list[str]:
        refused = []
        calls: list[Callable[[], None]] = [partial(sleep_blocking, 3), connect]
        with guard_thread(clock, "Step PollingFlow.AwaitJob"):
            for call in calls:
                with pytest.raises(ClockRefusal) as caught:
                    call()
                refused.append(caught.value.who)
            with (
                guard_thread(clock, "Step PollingFlow.Inner"),
                pytest.raises(ClockRefusal) as caught,
            ):
                time.sleep(1)
            refused.append(caught.value.who)
        time.sleep(0.001)
        connect()
        return refused

    async def main() -> list[str]:
        return await asyncio.to_thread(step)

    first, second, third = clock.run(main())
    assert first.startswith("Step PollingFlow.AwaitJob at ")
    assert second.startswith("Step PollingFlow.AwaitJob at ")
    assert third.startswith("Step PollingFlow.Inner at ")


def test_nothing_is_refused_on_the_real_clock(server: tuple[str, int]) -> None:
    """On an ordinary loop and in its threads, sleeping and the network are the user's business."""

    async def main() -> None:
        with guard_thread(Clock.real(), "Step PollingFlow.AwaitJob"):
            time.sleep(0.001)  # noqa: ASYNC251 - legal on this clock
        _, writer = await asyncio.open_connection(*server)
        writer.close()
        await writer.wait_closed()

    Clock.real().run(main())


def test_other_threads_are_left_alone_while_a_loop_runs(clock: Clock) -> None:
    """A server or a publisher in the same process sleeps as it likes."""
    ended = threading.Event()

    def other() -> None:
        time.sleep(0.001)
        ended.set()

    async def main() -> None:
        threading.Thread(target=other).start()
        await asyncio.to_thread(ended.wait, 10)

    clock.run(main())
    assert ended.is_set()
    time.sleep(0.001)


def test_making_a_loop_inside_guarded_code_is_legal(clock: Clock, server: tuple[str, int]) -> None:
    """The wake-up pipe of a loop is no network, even where Python makes it by connecting."""

    def socketpair() -> None:
        with socket.socket() as sock:
            sock.connect(server)

    with guard_thread(clock, "Step PollingFlow.AwaitJob"):
        asyncio.new_event_loop().close()
        clock.new_event_loop().close()
        socketpair()


BOUND_EARLY = """
import asyncio
from time import sleep
import time as t
nap = t.sleep
from dexnb.clock import Clock, ClockRefusal

async def by_name():
    sleep(1)

async def by_alias():
    nap(2)

async def by_module():
    t.sleep(3)

for main in (by_name, by_alias, by_module):
    for clock in (Clock.virtual(), Clock.scaled(10)):
        try:
            clock.run(main())
        except ClockRefusal as refusal:
            print(refusal.call)
sleep(0.001)
"""


def test_a_sleep_that_was_imported_by_name_is_refused_too() -> None:
    """`from time import sleep` before the first clock was made hides nothing."""
    done = subprocess.run(
        [sys.executable, "-c", BOUND_EARLY], capture_output=True, text=True, check=True, timeout=50
    )

    assert done.stdout.split() == [f"time.sleep({n})" for n in (1, 1, 2, 2, 3, 3)]
