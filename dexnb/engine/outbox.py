"""`Outbox`: checkpoints and Stream messages on their way from attempts to the store, in batches.

Attempts put things in from any thread and never wait. Of each kind one batch is under way at a
time and takes all that has gathered, so it costs one commit however many attempts beat. Of a
token's checkpoints only the newest is written.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from dexnb.engine.mailbox import Mailbox
from dexnb.errors import ProviderError
from dexnb.providers import Beat, Provider, StreamWrite

RETRY_DELAYS = (0.02, 0.05, 0.1, 0.2, 0.5)
MESSAGE_TRIES = 3


class Outbox:
    """The engine's one way of writing what attempts say while they run.

    Args:
        provider: The store.
        mailbox: The control loop's.
        lost: Called on the control loop with tokens that are not live any more.
        refused: Called with each Stream message that the store did not keep.
        failed: Called with an error of the store.
        written: Called with Stream messages that were written, kept or not.
        lag: Called for each batch of checkpoints with the seconds that its oldest had to wait.
    """

    def __init__(
        self,
        provider: Provider,
        mailbox: Mailbox,
        *,
        lost: Callable[[frozenset[str]], None],
        refused: Callable[[StreamWrite], None],
        failed: Callable[[Exception], None],
        written: Callable[[Sequence[StreamWrite]], None] = lambda _: None,
        lag: Callable[[float], None] = lambda _: None,
    ) -> None:
        """Start with nothing to write."""
        self._provider = provider
        self._mailbox = mailbox
        self._lost = lost
        self._refused = refused
        self._failed = failed
        self._written = written
        self._lag = lag
        self._oldest = 0.0
        self._lock = threading.Lock()
        self._beats: dict[str, str | None] = {}
        self._messages: deque[StreamWrite] = deque()
        self._beating: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._asked = False

    def beat(self, token: str, checkpoint: str | None) -> None:
        """Record a checkpoint soon; for any thread."""
        with self._lock:
            if not self._beats:
                self._oldest = self._mailbox.loop.time()
            self._beats[token] = checkpoint
        self._ask()

    def message(self, write: StreamWrite) -> None:
        """Append a Stream message soon; for any thread."""
        self._messages.append(write)
        self._ask()

    def forget(self, token: str) -> None:
        """Drop a token's waiting checkpoint: its attempt carries it on by itself."""
        # Nothing is put in behind the end of its attempt.
        if token in self._beats:
            with self._lock:
                self._beats.pop(token, None)

    async def messages_sent(self) -> None:
        """Wait until every message put in so far is written or refused."""
        while self._messages or self._writing is not None:
            self._start()
            if self._writing is not None:
                await asyncio.wait([self._writing])

    async def drained(self) -> None:
        """Wait until everything put in so far is written, for as long as the store fails."""
        await self.messages_sent()
        while self._beats or self._beating is not None:
            self._start()
            if self._beating is not None:
                await asyncio.wait([self._beating])

    async def close(self) -> None:
        """Give up what is still not written."""
        tasks = [task for task in (self._beating, self._writing) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _ask(self) -> None:
        if not self._asked:
            self._asked = True
            self._mailbox.post(self._start)

    def _start(self) -> None:
        self._asked = False
        if self._beating is None and self._beats:
            self._beating = _task(self._send_beats())
        if self._writing is None and self._messages:
            self._writing = _task(self._send_messages())

    async def _send_beats(self) -> None:
        failures = 0
        try:
            while self._beats:
                with self._lock:
                    beats, self._beats, oldest = self._beats, {}, self._oldest
                if await self._write_beats(beats, first=not failures):
                    self._lag(self._mailbox.loop.time() - oldest)
                    failures = 0
                    continue
                with self._lock:
                    # Newer values came in meanwhile and win.
                    self._beats, self._oldest = {**beats, **self._beats}, oldest
                await asyncio.sleep(RETRY_DELAYS[min(failures, len(RETRY_DELAYS) - 1)])
                failures += 1
        finally:
            self._beating = None

    async def _write_beats(self, beats: dict[str, str | None], *, first: bool) -> bool:
        """Tell whether these are settled; the first failure in a row is reported."""
        try:
            lost = await self._provider.record_beats([Beat(*pair) for pair in beats.items()])
        except Exception as error:  # noqa: BLE001 - whatever a store raises, later beats must go out
            if first:
                self._failed(error)
            return not _retryable(error)
        if lost:
            self._lost(lost)
        return True

    async def _send_messages(self) -> None:
        try:
            while self._messages:
                await self._write([self._messages.popleft() for _ in range(len(self._messages))])
        finally:
            self._writing = None

    async def _write(self, messages: list[StreamWrite]) -> None:
        kept: tuple[bool, ...] = (False,) * len(messages)
        for tries in range(MESSAGE_TRIES):
            try:
                kept = await self._provider.write_stream(messages)
                break
            except Exception as error:  # noqa: BLE001 - best effort: a message never fails its Step
                if tries == 0:
                    self._failed(error)
                if not _retryable(error):
                    break
                await asyncio.sleep(RETRY_DELAYS[tries])
        self._written(messages)
        for message, stored in zip(messages, kept, strict=True):
            if not stored:
                self._refused(message)


def _retryable(error: Exception) -> bool:
    return not isinstance(error, ProviderError) or error.retryable


def _task(coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.get_running_loop().create_task(coroutine)
