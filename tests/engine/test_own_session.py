"""What Steps and RPCs may do with the session that runs them, and what would wait for itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import dexnb
from dexnb import (
    AsyncContext,
    Context,
    Flow,
    RPCResult,
    StepDecision,
    StepList,
    graceful_complete,
    rpc,
)
from dexnb.engine import Client, Session
from dexnb.errors import LoopBoundError
from tests.engine.flows import flow, step

REAL_SECONDS = 10.0


async def _gives_input(context: AsyncContext, input: Any) -> StepDecision:
    return graceful_complete(input)


OTHER = flow(step(_gives_input))


async def _waits(context: AsyncContext, input: Any) -> StepDecision:
    await asyncio.sleep(3600)
    return graceful_complete()


class Called(Flow[None]):
    """Waits, and has RPCs that call a session."""

    def __init__(self, session: Session) -> None:
        """Call this session."""
        self.session = session

    def get_steps(self) -> StepList[None]:
        """Give a Step that lasts."""
        return StepList.start_step(step(_waits)())

    @rpc
    async def one(self, context: AsyncContext) -> RPCResult[int]:
        """Give a number."""
        return RPCResult(1)

    @rpc
    async def nested(self, context: AsyncContext) -> RPCResult[int]:
        """Call the other one by a plain call."""
        return RPCResult(Client(self.session).invoke_rpc("one", "called"))

    @rpc
    async def elsewhere(self, context: AsyncContext) -> RPCResult[int]:
        """Call the other one from a thread."""
        return RPCResult(
            await asyncio.to_thread(lambda: Client(self.session).invoke_rpc("one", "called"))
        )


PLAIN: dict[str, Callable[[Session], Any]] = {
    "start and wait": lambda session: session.start(OTHER, "other", 1).wait_sync(REAL_SECONDS),
    "status": lambda session: session.get("flow").status,
    "client": lambda session: Client(session).describe_flow("flow"),
    "rpc": lambda session: Client(session).invoke_rpc("one", "called"),
}


@pytest.mark.parametrize("call", PLAIN)
def test_an_async_step_is_refused_a_plain_call_at_once(call: str) -> None:
    """It would hold the loop on which the answer is made; what to do instead is said."""

    async def asks(context: AsyncContext, input: Any) -> StepDecision:
        with pytest.raises(LoopBoundError, match=r"await asyncio.to_thread\(\.\.\.\)"):
            PLAIN[call](session)
        return graceful_complete("refused")

    with dexnb.open("memory:") as session:
        session.start(Called(session), "called")
        result = session.start(flow(step(asks)), "flow").wait_sync(REAL_SECONDS)
        assert result.output == "refused"


def test_a_step_that_does_not_catch_it_fails_once() -> None:
    """Another attempt would be refused, too."""

    async def asks(context: AsyncContext, input: Any) -> StepDecision:
        return graceful_complete(session.get("flow").status)

    with dexnb.open("memory:") as session:
        run = session.start(flow(step(asks)), "flow")
        result = run.wait_sync(REAL_SECONDS)
        assert "async Step or RPC" in result.error_message
        assert [event.attempt for event in run.events() if event.kind == "step_failed"] == [1]


def test_an_async_rpc_is_refused_a_plain_call_at_once() -> None:
    """Whoever calls it hears of it; from a thread it works."""
    with dexnb.open("memory:") as session:
        session.start(Called(session), "called")
        client = Client(session)
        with pytest.raises(LoopBoundError, match="async Step or RPC"):
            client.invoke_rpc(Called.nested, "called")
        assert client.invoke_rpc(Called.elsewhere, "called") == 1


AWAITED: dict[str, Callable[[Session], Awaitable[Any]]] = {
    "thread": lambda session: asyncio.to_thread(session.runs),
    "run": lambda session: asyncio.to_thread(session.start, OTHER, "other", 1),
}


@pytest.mark.parametrize("call", AWAITED)
def test_an_async_step_may_await_its_session(call: str) -> None:
    """A thread makes the plain call, and a run's end is awaited as it is."""

    async def asks(context: AsyncContext, input: Any) -> StepDecision:
        made = await AWAITED[call](session)
        return graceful_complete((await made.wait(5)).output if call == "run" else len(made))

    with dexnb.open("memory:") as session:
        assert session.start(flow(step(asks)), "flow").wait_sync(REAL_SECONDS).output == 1


def test_a_plain_step_may_call_its_session() -> None:
    """It has a thread of its own."""

    def asks(context: Context, input: Any) -> StepDecision:
        return graceful_complete(session.start(OTHER, "other", 1).wait_sync(5).output)

    with dexnb.open("memory:") as session:
        assert session.start(flow(step(asks)), "flow").wait_sync(REAL_SECONDS).output == 1


def test_a_plain_call_on_any_other_loop_is_a_plain_call(tmp_path: Path) -> None:
    """As in a cell, and for another session's Steps."""

    async def asks(context: AsyncContext, input: Any) -> StepDecision:
        return graceful_complete(len(other.runs()))

    async def cell() -> int:
        return len(session.runs())

    with dexnb.open("memory:") as session, dexnb.open(tmp_path / "o.db") as other:
        assert session.start(flow(step(asks)), "flow").wait_sync(REAL_SECONDS).output == 0
        assert asyncio.run(cell()) == 1
