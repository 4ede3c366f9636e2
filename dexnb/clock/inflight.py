"""Count what goes on outside a virtual loop, in threads that it cannot see by itself."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import threading
import types
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_RESULT_CODE = concurrent.futures.Future.result.__code__
_INWARD = "run_coroutine_threadsafe.<locals>.callback"


class Submission(concurrent.futures.Executor):
    """Pass one submit on and keep the future it gave, which asyncio does not hand out."""

    def __init__(self, inner: concurrent.futures.Executor, threads: CountedThreads) -> None:
        """Stand in front of the real one."""
        self._inner = inner
        self._threads = threads
        self.future: concurrent.futures.Future[Any]

    def submit(
        self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> concurrent.futures.Future[Any]:
        """Submit and remember."""
        if isinstance(self._inner, concurrent.futures.ThreadPoolExecutor):
            args, fn = (fn, *args), self._threads.run
        self.future = self._inner.submit(fn, *args, **kwargs)
        return self.future


class AnyioWorkers:
    """The worker threads of `anyio.to_thread` on one loop; anyio starts them without the loop.

    anyio keeps all its workers in one set and the idle ones in another, both under names of its
    own. Should those names change, work goes uncounted here and the loop reports the first answer
    that comes from such a thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Nothing is looked up before anyio has a thread."""
        self._loop = loop
        self._all: Sized | None = None
        self._idle: Sized = ()

    def busy(self) -> int:
        """Give the number of workers that have not yet reported back to the loop."""
        if self._all is None:
            self._find()
            if self._all is None:
                return 0
        return len(self._all) - len(self._idle)

    def _find(self) -> None:
        backend = sys.modules.get("anyio._backends._asyncio")
        if backend is None:
            return
        found = getattr(sys.modules["anyio.lowlevel"], "_run_vars", {}).get(self._loop)
        if not found:
            return
        everyone = getattr(backend, "_threadpool_workers", None)
        idle = getattr(backend, "_threadpool_idle_workers", None)
        # Before 4.11 anyio kept these under their names instead of under the variables.
        workers = found.get(everyone, found.get("_threadpool_workers"))
        if workers is not None:
            self._idle = found.get(idle, found.get("_threadpool_idle_workers", ()))
            self._all = workers


class CountedThreads:
    """The threads that count as outside work, and which of them wait for the loop.

    A counted thread may go back into the loop by `run_coroutine_threadsafe` or
    `anyio.from_thread.run` and wait for the answer. While it does, it is the loop's time that it
    waits for: keeping time still for it would stop both for ever.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._counts: dict[int, int] = {}
        self._calls: dict[int, concurrent.futures.Future[Any]] = {}

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Tell that this thread itself stands for one piece of outside work inside the block."""
        thread = threading.get_ident()
        self._counts[thread] = self._counts.get(thread, 0) + 1
        try:
            yield
        finally:
            self._counts[thread] -= 1
            if not self._counts[thread]:
                del self._counts[thread]

    def run(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Call a function as the one piece of work that its thread stands for."""
        with self.counted():
            return function(*args)

    def note(self, callback: Callable[..., object]) -> None:
        """Remember this thread's call into the loop, if it is counted and may wait for it."""
        if getattr(callback, "__qualname__", "") != _INWARD:
            return
        thread = threading.get_ident()
        if thread not in self._counts and not is_anyio_worker():
            return
        for cell in getattr(callback, "__closure__", None) or ():
            if isinstance(cell.cell_contents, concurrent.futures.Future):
                self._calls[thread] = cell.cell_contents

    def calling(self) -> bool:
        """Say whether any counted thread has a call in the loop; cheap."""
        return bool(self._calls)

    def blocked(self) -> int:
        """Count the work of threads that stand still in `result()` of their call just now."""
        frames = sys._current_frames()  # noqa: SLF001 - public but for its name
        waiting = 0
        for thread, future in list(self._calls.items()):
            if future.done():
                self._calls.pop(thread, None)
            elif _stands_in_result(frames.get(thread), future):
                # A worker of anyio is counted by anyio's own books.
                waiting += self._counts.get(thread, 1)
        return waiting


def is_anyio_worker() -> bool:
    """Say whether this is a thread of `anyio.to_thread`."""
    return type(threading.current_thread()).__module__.startswith("anyio.")


def _stands_in_result(
    frame: types.FrameType | None, future: concurrent.futures.Future[Any]
) -> bool:
    for _ in range(4):
        if frame is None:
            return False
        if frame.f_code is _RESULT_CODE:
            return frame.f_locals.get("self") is future
        frame = frame.f_back
    return False
