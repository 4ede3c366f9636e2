"""`Outbox`: checkpoints and Stream messages on their way from attempts to the store, in batches.

Attempts put things in from any thread and never wait. One flush is under way at a time and takes
all that has gathered, so a batch costs one commit however many attempts beat. Of a token's
checkpoints only the newest is written.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

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
    """

    def __init__(
        self,
        provider: Provider,
        mailbox: Mailbox,
        lost: Callable[[frozenset[str]], None],
        refused: Callable[[StreamWrite], None],
    ) -> None:
        """Start with nothing to write."""
        self._provider = provider
        self._mailbox = mailbox
        self._lost = lost
        self._refused = refused
        self._beats: dict[str, str | None] = {}
        self._messages: deque[StreamWrite] = deque()
        self._flushing: asyncio.Task[None] | None = None
        self._asked = False

    def beat(self, token: str, checkpoint: str | None) -> None:
        """Record a checkpoint soon; for any thread."""
        self._beats[token] = checkpoint
        self._ask()

    def message(self, write: StreamWrite) -> None:
        """Append a Stream message soon; for any thread."""
        self._messages.append(write)
        self._ask()

    def forget(self, token: str) -> None:
        """Drop a token's waiting checkpoint: its attempt carries it on by itself."""
        self._beats.pop(token, None)

    async def drained(self) -> None:
        """Wait until everything put in so far is written, or is known to fail."""
        while self._beats or self._messages or self._flushing is not None:
            self._start()
            if self._flushing is not None:
                await asyncio.shield(self._flushing)

    def _ask(self) -> None:
        if not self._asked:
            self._asked = True
            self._mailbox.post(self._start)

    def _start(self) -> None:
        self._asked = False
        if self._flushing is None and (self._beats or self._messages):
            self._flushing = asyncio.create_task(self._flush())

    async def _flush(self) -> None:
        failures = 0
        try:
            while self._beats or self._messages:
                beats, self._beats = self._beats, {}
                messages = [self._messages.popleft() for _ in range(len(self._messages))]
                written = await asyncio.gather(self._write_beats(beats), self._write(messages))
                failures = 0 if all(written) else failures + 1
                if failures:
                    await asyncio.sleep(RETRY_DELAYS[min(failures, len(RETRY_DELAYS)) - 1])
        finally:
            self._flushing = None

    async def _write_beats(self, beats: dict[str, str | None]) -> bool:
        if not beats:
            return True
        try:
            lost = await self._provider.record_beats([Beat(*pair) for pair in beats.items()])
        except ProviderError as error:
            if not error.retryable:
                return True
            # Newer values came in meanwhile and win.
            self._beats = {**beats, **self._beats}
            return False
        if lost:
            self._lost(lost)
        return True

    async def _write(self, messages: list[StreamWrite]) -> bool:
        if not messages:
            return True
        for tries in range(MESSAGE_TRIES):
            try:
                kept = await self._provider.write_stream(messages)
            except ProviderError as error:
                if not error.retryable:
                    break
                await asyncio.sleep(RETRY_DELAYS[tries])
            else:
                for message, stored in zip(messages, kept, strict=True):
                    if not stored:
                        self._refused(message)
                return True
        for message in messages:
            self._refused(message)
        return True
