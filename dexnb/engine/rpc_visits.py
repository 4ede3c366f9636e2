"""`RpcVisits`: moments in which a call of an RPC is alone with its run.

A run may turn so often that a transactional RPC, which counts only if nothing has changed under
it, is outrun by it each time. Then it asks for a visit: whichever turn of its own engine takes the
question stands still for the call, applies what that has changed, and goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence

from dexnb.model.message import Message, RpcDone, RpcVisit
from dexnb.model.run_state import RunState
from dexnb.providers import OrchestrationItem

LONGEST = 0.5
"""Seconds for which a run stands still at most; a call that takes longer has missed its visit."""


class Visit:
    """One visit, which begins with the run's state at hand.

    Args:
        loop: The control loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait to be let in."""
        self.state: asyncio.Future[RunState] = loop.create_future()
        self._done: asyncio.Future[RpcDone | None] = loop.create_future()

    def end(self, done: RpcDone | None) -> None:
        """Go, with what has changed; nothing comes of it if that took too long."""
        if not self._done.done():
            self._done.set_result(done)

    async def hold(self, state: RunState, seconds: float) -> RpcDone | None:
        """Let the call in; give what it has changed.

        Raises:
            TimeoutError: It took too long.
        """
        self.state.set_result(state)
        async with asyncio.timeout(seconds):
            # It is cancelled behind the time, so that nobody goes on with what comes too late.
            return await self._done


class RpcVisits:
    """The visits that calls of one engine wait for; on the control loop."""

    def __init__(self) -> None:
        """Start with none."""
        self._open: dict[str, Visit] = {}

    @property
    def waiting(self) -> int:
        """Count the calls that wait for a visit or make one."""
        return len(self._open)

    @contextlib.contextmanager
    def open(self, request_id: str) -> Iterator[Visit]:
        """Wait for a visit inside the block; the run goes on behind it."""
        visit = self._open[request_id] = Visit(asyncio.get_running_loop())
        try:
            yield visit
        finally:
            del self._open[request_id]
            visit.end(None)

    async def let_in(
        self, item: OrchestrationItem, messages: Sequence[Message], lease: float
    ) -> list[Message]:
        """Let the first visitor of a turn in; give the messages with its changes before all others.

        What another engine's call has asked, or a second one, stays: the turn refuses it.

        Args:
            item: The run.
            messages: Of the turn.
            lease: Seconds of the run's lock; half of it may be used up.
        """
        for place, message in enumerate(messages):
            visit = self._open.get(message.request_id) if isinstance(message, RpcVisit) else None
            if visit is not None and not visit.state.done():
                others = [*messages[:place], *messages[place + 1 :]]
                try:
                    # A copy of its own: the method may go on behind the visit.
                    state = RunState.from_text(item.state)
                    done = await visit.hold(state, min(LONGEST, lease / 2))
                except TimeoutError:
                    break
                return others if done is None else [done, *others]
        return list(messages)
