"""Daemon threads for code that blocks: they never keep the interpreter from ending."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_Call = tuple[concurrent.futures.Future[Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class DaemonThreads(concurrent.futures.ThreadPoolExecutor):
    """An executor whose threads are daemonic and are used again when idle.

    It is a ThreadPoolExecutor by name only, because loops take no other as their default; the
    standard one joins its threads at the interpreter's exit, however long they block.
    """

    def __init__(self, name: str) -> None:
        """Name the threads."""
        self._name = name
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._made = 0
        self._closed = False

    def submit(
        self, fn: Callable[..., T], /, *args: Any, **kwargs: Any
    ) -> concurrent.futures.Future[T]:
        """Run the call in a thread of its own, or in an idle one."""
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        with self._lock:
            if self._closed:
                message = "the threads are closed"
                raise RuntimeError(message)
            if self._idle:
                self._idle -= 1
            else:
                self._made += 1
                name = f"{self._name}-{self._made}"
                threading.Thread(target=self._serve, name=name, daemon=True).start()
            self._calls.put((future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - the signature of the base
        """Let idle threads end; running calls go on in their daemon threads."""
        with self._lock:
            self._closed = True
            for _ in range(self._idle):
                self._calls.put(None)
            self._idle = 0

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None:
            future, fn, args, kwargs = call
            if future.set_running_or_notify_cancel():
                try:
                    result = fn(*args, **kwargs)
                except BaseException as error:  # noqa: BLE001 - whatever it was belongs to the caller
                    future.set_exception(error)
                else:
                    future.set_result(result)
                    del result
            # An idle thread must not keep the last call's objects alive.
            del call, future, fn, args, kwargs
            with self._lock:
                if self._closed:
                    return
                self._idle += 1
