"""What a Step, a fork or a lost file must not do to everybody else; on real time."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dexnb
from dexnb import AsyncContext, Clock, StepDecision, graceful_complete
from dexnb.engine import Session
from dexnb.errors import DefinitionError, DexnbError, ProviderError, RuntimeClosed
from tests.engine.flows import flow

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """Open a runtime on a file of its own."""
    with dexnb.open(tmp_path / "store" / "flows.db") as opened:
        yield opened


async def polls(context: AsyncContext, input: Any) -> StepDecision:
    """Beat for a second."""
    for _ in range(20):
        await context.heartbeat()
        await asyncio.sleep(0.05)
    return graceful_complete(context.attempt)


async def waits(context: AsyncContext, input: Any) -> StepDecision:
    """Wait until it is stopped."""
    await asyncio.sleep(600)
    return graceful_complete()


async def _exits() -> None:
    raise SystemExit(9)


def _stop_loop() -> None:
    asyncio.get_running_loop().stop()


left: list[asyncio.Future[None]] = []


def _exit_in_a_task() -> None:
    left.append(asyncio.ensure_future(_exits()))


def _exit_in_a_callback() -> None:
    asyncio.get_running_loop().call_soon(sys.exit, 4)


@pytest.mark.parametrize("attack", [_stop_loop, _exit_in_a_task, _exit_in_a_callback])
def test_a_step_cannot_end_the_loop_of_the_others(
    session: Session, attack: Callable[[], None]
) -> None:
    """Its neighbours poll on in their first attempt, and new Flows start."""

    async def attacks(context: AsyncContext, input: Any) -> StepDecision:
        attack()
        await asyncio.sleep(0.1)
        return graceful_complete()

    neighbour = session.start(flow(polls), "neighbour")
    session.start(flow(attacks, name="Attacks"), "attacker")
    result = neighbour.wait_sync(10)
    assert (result.status, result.output) == ("COMPLETED", 1)
    assert session.start(flow(polls), "afterwards").wait_sync(10).status == "COMPLETED"
    # An exit that nobody asks for would be told in whichever test collects the task.
    assert all(isinstance(task.exception(), SystemExit) for task in left)
    left.clear()


@pytest.mark.parametrize("timeout", [math.nan, math.inf, -1, "x", [], 10**400])
def test_e04_a_wait_that_cannot_hold_is_refused(session: Session, timeout: Any) -> None:
    """And the control loop's other timers stay in order."""
    run = session.start(flow(polls), "polls")
    with pytest.raises(DefinitionError, match="wait timeout is"):
        run.wait_sync(timeout)
    assert run.wait_sync(timedelta(seconds=10)).status == "COMPLETED"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_is_told_that_the_session_is_not_its_own(session: Session) -> None:
    """At once and by name; the parent goes on."""
    run = session.start(flow(polls), "polls")
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        try:
            assert not session.is_open
            run.status  # noqa: B018 - the access is what is refused
        except RuntimeClosed:
            session.close()
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert run.wait_sync(10).status == "COMPLETED"


def test_a_wait_learns_that_the_file_was_taken_away(tmp_path: Path) -> None:
    """It ends with the reason, and opening the path again gives a new store there."""
    store = tmp_path / "flows.db"
    with dexnb.open(store) as session:
        run = session.start(flow(waits), "waits")
        for file in tmp_path.glob("flows.db*"):
            if file.is_file():
                file.unlink()
        with pytest.raises(ProviderError, match=r"flows\.db"):
            run.wait_sync(10)
        with dexnb.open(store) as another:
            assert another is not session
            assert another.start(flow(polls), "polls").wait_sync(10).status == "COMPLETED"


def test_a_clock_refusal_fails_the_flow_at_once_and_is_named() -> None:
    """Trying again would meet the same clock: the Flow fails with the call's name."""

    async def connects(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.open_connection("127.0.0.1", 9)
        return graceful_complete()

    with dexnb.open("memory:", clock=Clock.virtual()) as session:
        result = session.start(flow(connects), "connects").wait_sync(60)
        assert result.status == "FAILED"
        assert "127.0.0.1" in result.error_message


_BAD_CALLS: dict[str, Callable[[Session, Any], object]] = {
    "overrides is": lambda session, _run: session.start(flow(polls), "x", overrides=1),  # type: ignore[arg-type]
    "name of an override is": lambda session, _run: session.start(
        flow(polls),
        "x",
        overrides={1: 1},  # type: ignore[dict-item]
    ),
    "knob is None": lambda _session, run: run.set_knob(None, 1),
    "margin is": lambda _session, run: run.set_knob("X", 1, margin="x"),
    "stream is 1": lambda _session, run: run.stream(1),
    "resume token is": lambda _session, run: run.stream("Progress", after=object()),
    "after is 'x'": lambda _session, run: run.events("x"),
    "limit is -1": lambda session, _run: session.runs(limit=-1),
    "limit is 1.5": lambda session, _run: session.runs(limit=1.5),  # type: ignore[arg-type]
    "status is 'x'": lambda session, _run: session.runs(status="x"),
    "flow_id is None": lambda session, _run: session.get(None),  # type: ignore[arg-type]
    "stop kind is 1": lambda _session, run: run.stop(1),
    "stop reason is 1": lambda _session, run: run.stop("CANCEL", 1),
    "close timeout is": lambda session, _run: session.close(None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("text", _BAD_CALLS)
def test_a_wrong_type_is_refused_by_name(session: Session, text: str) -> None:
    """Each public call names the argument, the value and the fix, and changes nothing."""
    run = session.start(flow(waits), "waits")
    with pytest.raises(DexnbError, match=text):
        _BAD_CALLS[text](session, run)
    assert run.status == "RUNNING"


@pytest.mark.parametrize(
    "given",
    [
        {"where": 123},
        {"where": b"x"},
        {"where": True},
        {"where": "\0x"},
        {"where": "\ud800"},
        {"where": "memory:", "clock": "virtual"},
        {"where": "memory:", "options": {}},
    ],
)
def test_an_address_clock_or_options_of_a_wrong_type_are_refused(given: dict[str, Any]) -> None:
    """Opening says which argument it was."""
    with pytest.raises(DefinitionError, match=r"^(where|clock|options) is"):
        dexnb.open(**given)
