"""`ControlThread`: a loop on a daemon thread of its own, and calls into it that feel interrupts."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from dexnb.engine.carried import Carried
from dexnb.engine.host import end_tasks
from dexnb.errors import DexnbError, RuntimeClosed

T = TypeVar("T")

WAKE_SECONDS = 0.1
"""How often a wait looks up, so that an interrupt is felt."""


class ControlThread:
    """Runs coroutines of other threads on its loop.

    Args:
        loop: The loop; the thread closes it.
        name: Of the thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, name: str) -> None:
        """Start the thread."""
        self._loop = loop
        self._lock = threading.Lock()
        self._open = True
        self._process = os.getpid()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    @property
    def here(self) -> bool:
        """Tell whether this is the control thread itself."""
        return threading.current_thread() is self._thread

    @property
    def alive(self) -> bool:
        """Tell whether the loop still takes calls."""
        # The thread does not come along into a forked child.
        return self._open and self._process == os.getpid()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Run a coroutine on the loop.

        Raises:
            RuntimeClosed: The loop has ended; the text says why.
        """
        with self._lock:
            if self.alive:
                return asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        coroutine.close()
        raise self.ended() from self._failure

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop, and wait for its answer.

        Raises:
            DexnbError: This is the control thread, which would wait for itself.
            RuntimeClosed: The loop has ended, before or meanwhile.
        """
        if self.here:
            coroutine.close()
            message = "a session cannot be called from its own control thread; await instead"
            raise DexnbError(message)
        return self._answer(self.submit(Carried(coroutine))).give()

    async def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop, and await its answer on any other.

        Raises:
            RuntimeClosed: The loop has ended, before or meanwhile.
        """
        answer = asyncio.wrap_future(self.submit(Carried(coroutine)))
        try:
            while not answer.done():
                # Short sleeps, because a kernel's interrupt acts only between them.
                await asyncio.wait([answer], timeout=WAKE_SECONDS)
        except BaseException:
            answer.cancel()
            raise
        if answer.cancelled():
            raise self.ended() from self._failure
        return answer.result().give()

    def stop(self, timeout: float) -> None:
        """End loop and thread; after `timeout` seconds the thread is left to itself."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(max(0.0, timeout))

    def ended(self) -> RuntimeClosed:
        """Make the error that says that, and why, the loop has ended."""
        reason = "" if self._failure is None else f" ({self._failure})"
        return RuntimeClosed(f"the session has ended{reason}: open it again with dexnb.open(...)")

    def _answer(self, future: concurrent.futures.Future[T]) -> T:
        try:
            while True:
                with contextlib.suppress(concurrent.futures.TimeoutError):
                    return future.result(WAKE_SECONDS)
                if future.done():
                    return future.result()
        except concurrent.futures.CancelledError:
            raise self.ended() from self._failure
        except BaseException:
            future.cancel()
            raise

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        except BaseException as error:  # noqa: BLE001 - told to everyone who calls from now on
            self._failure = error
        finally:
            with self._lock:
                self._open = False
            # Also what others wait for: their calls end with the loop.
            with contextlib.suppress(Exception):
                end_tasks(self._loop)
            self._loop.close()
