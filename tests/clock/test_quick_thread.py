"""A thread that answers before the loop has come back from asking it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from typing import Any

import pytest

from dexnb.clock import Clock


class QuickFuture(concurrent.futures.Future[Any]):
    """Is done, by another thread, as soon as somebody waits for it."""

    def add_done_callback(self, fn: Callable[[concurrent.futures.Future[Any]], object]) -> None:
        """Take the callback, and let a thread answer at once."""
        super().add_done_callback(fn)
        if not self.done():
            thread = threading.Thread(target=self.set_result, args=("answer",))
            thread.start()
            thread.join()


class QuickExecutor(concurrent.futures.Executor):
    """Answers with such futures."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        """Give one."""
        return QuickFuture()


class NoExecutor(concurrent.futures.Executor):
    """Takes no work."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        """Refuse."""
        raise RuntimeError("closed")


def test_a_quick_answer_is_that_of_a_counted_thread() -> None:
    """It was counted before it was asked; the clock goes on afterwards."""

    async def main() -> str:
        loop = asyncio.get_running_loop()
        answer: str = await loop.run_in_executor(QuickExecutor(), str)
        await asyncio.sleep(3600)
        return answer

    assert Clock.virtual().run(main()) == "answer"


def test_work_that_nobody_took_does_not_hold_the_clock() -> None:
    """An executor that is closed refuses; time passes on."""

    async def main() -> None:
        with pytest.raises(RuntimeError, match="closed"):
            await asyncio.get_running_loop().run_in_executor(NoExecutor(), str)
        await asyncio.sleep(3600)

    Clock.virtual().run(main())
