"""`Session`: an engine in the background, called from plain code, cells and other loops."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import dexnb
from dexnb import Clock, Context, StepDecision, Stream, go_to, graceful_complete
from dexnb.engine import Run, RuntimeOptions, Session
from dexnb.errors import (
    DefinitionError,
    DexnbError,
    DexnbWarning,
    FlowDefinitionError,
    RunNotFound,
    RuntimeClosed,
    WaitTimeout,
)
from dexnb.flow.context import AsyncContext
from dexnb.model.event import DURABLE_KINDS, TELEMETRY_KINDS
from dexnb.providers import MemoryProvider
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import flow, step

ROOT = Path(__file__).parents[2]
CHILD = Path(__file__).with_name("session_child.py")
PROGRESS = Stream("Progress", int, 1 << 20)
CLOCKS = {"real": Clock.real(), "virtual": Clock.virtual(), "scaled": Clock.scaled(50)}


async def works(context: AsyncContext, input: Any) -> StepDecision:
    """Beat and write a few times, then give the input back."""
    for number in range(3):
        await context.heartbeat(number)
        PROGRESS.write(context, number)
        await asyncio.sleep(0.02)
    return graceful_complete(input)


WORKS = step(works)


async def goes_on(context: AsyncContext, input: Any) -> StepDecision:
    """Leave the work to another Step."""
    return go_to(WORKS, input)


async def for_ever(context: AsyncContext, input: Any) -> StepDecision:
    """Wait for ever."""
    await asyncio.sleep(1e6)
    return graceful_complete()


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_session_does_it_all_by_plain_calls(clock: str) -> None:
    """Start, wait, status, result, events, stream, stop, get, runs, close."""
    with dexnb.open("memory:", clock=CLOCKS[clock]) as session:
        run = session.start(flow(works, streams=[PROGRESS]), "flow", {"job": 1})
        assert repr(run) == "<Run TestFlow flow>"
        result = run.wait_sync(60)
        assert (result.output, run.status) == ({"job": 1}, "COMPLETED")
        assert run.result == result
        assert run.state().completions[0]["output"] == {"job": 1}
        kinds = [event.kind for event in run.events()]
        assert kinds[0] == "flow_started"
        assert kinds.count("heartbeat") == 3
        assert [message.value for message in run.stream(PROGRESS)] == [0, 1, 2]
        after = run.stream(PROGRESS)[0].resume_token
        assert [message.value for message in run.stream("Progress", after)] == [1, 2]
        assert session.get("flow").run_id == run.run_id
        other = session.start(flow(for_ever, name="Other"), "other")
        assert other.result is None
        if clock != "virtual":
            other.stop("FAIL", "enough")
            assert other.wait_sync().error_message == "enough"
        assert [each.flow_id for each in session.runs()] == ["other", "flow"]
    assert repr(session) == f"<dexnb runtime memory: on the {CLOCKS[clock].identity} clock, closed>"


def test_attaching_with_another_input_is_told_where_it_was_done() -> None:
    """The warning points at the caller's own line, whatever thread found it."""
    with dexnb.open("memory:") as session:
        run = session.start(flow(for_ever), "flow", 1)
        with pytest.warns(DexnbWarning, match="and 2 is not used") as told:
            again = session.start(flow(for_ever), "flow", 2)
        assert [warning.filename for warning in told] == [__file__]
        assert again.run_id == run.run_id


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_run_is_awaited_on_any_running_loop(clock: str) -> None:
    """A cell awaits it, several at once, whatever loop the cell has."""

    async def cell(session: Session) -> None:
        runs = [session.start(flow(works, streams=[PROGRESS]), f"flow-{n}", n) for n in range(5)]
        results = await asyncio.gather(*(run.wait() for run in runs))
        assert [result.output for result in results] == list(range(5))

    with dexnb.open("memory:", clock=CLOCKS[clock]) as session:
        asyncio.run(cell(session))


def test_a_wait_that_times_out_leaves_the_flow_alone() -> None:
    """In both forms; the text says so."""
    with dexnb.open("memory:") as session:
        run = session.start(flow(for_ever), "flow")
        with pytest.raises(WaitTimeout, match=r"flow runs on after 0\.1 s of .*; it was left"):
            run.wait_sync(0.1)
        with pytest.raises(TimeoutError):
            asyncio.run(run.wait(0.1))
        assert run.status == "RUNNING"


def test_a_wait_on_a_virtual_clock_times_out_by_that_clock() -> None:
    """A thousand seconds are over at once."""
    with dexnb.open("memory:", clock=Clock.virtual()) as session:
        run = session.start(flow(for_ever), "flow")
        with pytest.raises(WaitTimeout, match="after 1000 s"):
            run.wait_sync(1000)


def test_a_cancelled_wait_is_given_up_on_the_control_loop_too() -> None:
    """And a long one costs no more than a short one: nothing gathers while it lasts."""
    complaints: list[dict[str, Any]] = []

    async def cell(run: Any) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told))
        task = asyncio.ensure_future(run.wait())
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(WaitTimeout):
            await run.wait(0.5)
        await asyncio.sleep(0.1)

    with dexnb.open("memory:") as session:
        run = session.start(flow(for_ever), "flow")
        asyncio.run(cell(run))
        assert run.status == "RUNNING"
    import gc

    gc.collect()
    assert complaints == []


@pytest.mark.parametrize("form", ["sync", "async"])
def test_closing_during_a_wait_gives_runtime_closed(form: str) -> None:
    """The wait ends at once, with an error that says what happened."""
    session = dexnb.open("memory:")
    run = session.start(flow(for_ever), "flow")
    threading.Timer(0.2, session.close).start()
    began = time.monotonic()
    with pytest.raises(RuntimeClosed):
        _ = run.wait_sync() if form == "sync" else asyncio.run(run.wait())
    assert time.monotonic() - began < 3


def test_a_closed_session_says_so() -> None:
    """Every call of it and of its runs; closing again does nothing."""
    session = dexnb.open("memory:")
    run = session.start(flow(works, streams=[PROGRESS]), "flow")
    session.close()
    session.close()
    assert not session.is_open
    for use in (
        lambda: session.start(flow(works), "flow"),
        lambda: session.get("flow"),
        session.runs,
        lambda: session.register(flow(works)),
        lambda: run.status,
        lambda: run.result,
        run.state,
        run.events,
        run.wait_sync,
        run.stop,
        lambda: asyncio.run(run.wait()),
    ):
        with pytest.raises(RuntimeClosed, match=r"open it again with dexnb\.open"):
            use()


def test_many_threads_may_close_at_once() -> None:
    """And none of them hangs."""
    session = dexnb.open("memory:")
    session.start(flow(for_ever), "flow")
    threads = [threading.Thread(target=session.close) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in threads)


def test_no_thread_is_left_behind() -> None:
    """Control and Step threads end with their session."""
    before = set(threading.enumerate())
    for _ in range(3):
        with dexnb.open("memory:") as session:
            session.start(flow(works, streams=[PROGRESS]), "flow").wait_sync()
    until = time.monotonic() + 3
    while set(threading.enumerate()) - before and time.monotonic() < until:
        time.sleep(0.01)
    assert [thread.name for thread in set(threading.enumerate()) - before] == []


def test_five_opens_of_the_same_file_give_one_session(tmp_path: Path) -> None:
    """As re-running a cell does; however the path is written, until it is closed."""
    file = tmp_path / "runs.db"
    (tmp_path / "link").symlink_to(tmp_path)
    names: list[str | Path] = [
        str(file),
        file,
        f"sqlite:///{file}",
        tmp_path / "link" / "runs.db",
        str(file),
    ]
    sessions = [dexnb.open(name) for name in names]
    try:
        assert len(set(map(id, sessions))) == 1
        with dexnb.open("memory:") as one, dexnb.open("memory:") as two:
            assert one is not two
    finally:
        sessions[0].close()
    with dexnb.open(file) as again:
        assert again is not sessions[0]
        assert again.is_open


def test_a_store_that_cannot_be_opened_is_an_error_of_open() -> None:
    """No thread is left behind, and the error is the store's own."""
    before = set(threading.enumerate())
    store = FaultyProvider(MemoryProvider(), [Fault("open", retryable=False)])
    with pytest.raises(DexnbError, match="injected"):
        Session(lambda: store)
    until = time.monotonic() + 3
    while set(threading.enumerate()) - before and time.monotonic() < until:
        time.sleep(0.01)
    assert set(threading.enumerate()) - before == set()


def test_users_mistakes_are_named() -> None:
    """A wrong id, kind, token or Flow reaches the caller as what it is."""
    with dexnb.open("memory:") as session:
        with pytest.raises(FlowDefinitionError, match="flow_id"):
            session.start(flow(works), "a/b")
        with pytest.raises(RunNotFound):
            session.get("nobody")
        run = session.start(flow(for_ever), "flow")
        with pytest.raises(DefinitionError, match="stop kind is 'KILL'"):
            run.stop("KILL")  # type: ignore[arg-type]  # the mistake under test
        with pytest.raises(DefinitionError, match="resume token is 'x'"):
            run.stream("Progress", "x")


def test_a_step_may_use_its_own_session_but_not_block_its_control_thread() -> None:
    """From a Step's thread it works; on a clock that shares the loop it is refused, not hung."""
    found: list[Any] = []
    sessions: list[Session] = []

    def asks(context: Context, input: Any) -> StepDecision:
        found.append(sessions[0].get("flow").status)
        return graceful_complete()

    async def asks_in_vain(context: AsyncContext, input: Any) -> StepDecision:
        for use in (lambda: sessions[0].get("flow"), sessions[0].close):
            try:
                use()
            except DexnbError as error:
                found.append(str(error))
        return graceful_complete()

    with dexnb.open("memory:") as session:
        sessions[:] = [session]
        session.start(flow(asks), "flow").wait_sync(10)
    assert found == ["RUNNING"]
    with dexnb.open("memory:", clock=Clock.virtual()) as session:
        sessions[:] = [session]
        session.start(flow(asks_in_vain), "flow").wait_sync(10)
    assert found[1:] == [
        "a session cannot be called from its own control thread; await instead",
        "a session cannot be closed from its own control thread",
    ]


def test_options_may_be_changed_from_the_users_thread() -> None:
    """A pause of an hour ends when the interval is set to less."""
    options = RuntimeOptions(dispatcher_long_poll_timeout=0, dispatcher_min_poll_interval=3600)  # type: ignore[arg-type]  # seconds are taken
    with dexnb.open("memory:", options=options) as session:
        run = session.start(flow(goes_on, WORKS, streams=[PROGRESS]), "flow")
        with pytest.raises(WaitTimeout):
            run.wait_sync(0.3)
        options.dispatcher_min_poll_interval = 0.05  # type: ignore[assignment]  # seconds are taken
        assert run.wait_sync(10).status == "COMPLETED"


def child(program: str) -> tuple[float, str]:
    """Run a program; give the seconds that it took to end after it said `leaving`, and its text."""
    done = subprocess.run(
        [sys.executable, "-W", "error", CHILD, program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    ended = time.time()
    assert done.stderr == ""
    assert done.returncode == (3 if program == "exit_error" else 0)
    times = [line.split() for line in done.stdout.splitlines()]
    left = [float(words[1]) for words in times if words[0] == "leaving"]
    return (ended - left[0] if left else 0.0), done.stdout


@pytest.mark.timing
@pytest.mark.parametrize("program", ["interrupted_wait_sync", "interrupted_wait"])
def test_an_interrupt_is_felt_within_a_fifth_of_a_second(program: str) -> None:
    """The wait ends, the run goes on."""
    _, text = child(program)
    felt, status = (line.split() for line in text.splitlines())
    assert float(felt[1]) < 0.2
    assert status[1] == "RUNNING"


@pytest.mark.timing
@pytest.mark.parametrize("program", ["exit_async", "exit_sync", "exit_error", "exit_waiting"])
def test_the_interpreter_ends_within_a_second_with_a_run_in_flight(program: str) -> None:
    """Nobody closed the session; nothing is printed to stderr."""
    seconds, _ = child(program)
    assert seconds < 1.5


def test_the_kinds_of_events_are_listed_where_they_are_read() -> None:
    """What a run's log may hold is in the help of the call that gives it."""
    told = set(re.findall(r"\w+", Run.events.__doc__ or ""))
    assert sorted((DURABLE_KINDS | TELEMETRY_KINDS) - told) == []
