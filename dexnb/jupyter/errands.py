"""`Errands`: what a page asks for, done in order on one daemon thread.

A comm's callback may run on any thread of the kernel, with or without a loop, and must return at
once; what it asks for may take as long as a store does.
"""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

IDLE_SECONDS = 10.0
"""After so long without an errand the thread ends; the next errand begins another."""

_Errand = tuple["concurrent.futures.Future[Any]", Callable[..., Any], tuple[Any, ...]]


class Errands:
    """A queue of calls with one thread, while there are any."""

    def __init__(self, name: str) -> None:
        """Name the thread."""
        self._name = name
        self._lock = threading.Lock()
        self._waiting: SimpleQueue[_Errand] = SimpleQueue()
        self._busy = False

    def run(self, call: Callable[..., Any], *args: Any) -> concurrent.futures.Future[Any]:
        """Put a call behind the others; for any thread."""
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        with self._lock:
            self._waiting.put((future, call, args))
            if not self._busy:
                self._busy = True
                threading.Thread(target=self._serve, name=self._name, daemon=True).start()
        return future

    def _serve(self) -> None:
        while (errand := self._next()) is not None:
            future, call, args = errand
            try:
                result = call(*args)
            except BaseException as error:  # noqa: BLE001 - whatever it was belongs to the caller
                future.set_exception(error)
            else:
                future.set_result(result)
            del errand, future, call, args

    def _next(self) -> _Errand | None:
        try:
            return self._waiting.get(timeout=IDLE_SECONDS)
        except Empty:
            with self._lock:
                if self._waiting.empty():
                    self._busy = False
                    return None
            return self._waiting.get()
