"""`Driver`: steps a Step's coroutine itself, so that every suspension is seen.

Walking the await chain from the Step inward, the first frame that is neither the Step's nor of a
function of its module is a call, unless it is the sleep itself. User code needs no change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from types import CodeType
from typing import TYPE_CHECKING, Any, Literal

from dexnb.engine.attempt import Attempt

if TYPE_CHECKING:
    from dexnb.engine.host import StepHost

Kind = Literal["own", "sleep", "call"]

STALL_SECONDS = 0.1
"""A Step that holds its loop for longer than this has blocked every other Step there."""

CLEANUP_CALLS = frozenset(
    {"__aexit__", "aclose", "close", "wait_closed", "disconnect", "shutdown", "cleanup"}
)
_SLEEP_NAMES = frozenset({"sleep", "sleep_until", "sleep_forever", "__sleep0"})
_SLEEP_MODULES = frozenset({"asyncio.tasks", "anyio._core._eventloop"})


class Driver:
    """Awaits a Step's coroutine on behalf of an attempt; see the module's text."""

    def __init__(
        self, coroutine: Coroutine[Any, Any, Any], attempt: Attempt, host: StepHost
    ) -> None:
        """Drive this coroutine, on this host's loop."""
        self._coroutine = coroutine
        self._attempt = attempt
        self._host = host
        self._module = coroutine.cr_frame.f_globals.get("__name__")  # type: ignore[attr-defined]
        self._kinds: dict[CodeType, Kind] = {}
        self._sites: dict[tuple[CodeType, int, str], dict[str, Any]] = {}
        self._awaited: Any = None
        self._sleeping_on: asyncio.Future[Any] | None = None

    def wake(self) -> bool:
        """End the Step's sleep now, if it sleeps; on the host's loop."""
        future = self._sleeping_on
        if future is None or future.done():
            return False
        future.set_result(None)
        return True

    def __await__(self) -> Generator[Any, Any, Any]:
        """Step the coroutine until it returns."""
        attempt, host, tick = self._attempt, self._host, self._attempt.links.tick
        coroutine = self._coroutine
        thrown: BaseException | None = None
        while True:
            host.current = attempt
            host.since = since = tick()
            try:
                future = coroutine.throw(thrown) if thrown else coroutine.send(None)
            except StopIteration as stop:
                return stop.value
            finally:
                host.current = None
                if tick() - since > STALL_SECONDS:
                    host.stalled(attempt, since)
            self._observe(future)
            if attempt.closing is not None and not self._cleaning_up():
                thrown = asyncio.CancelledError(f"{attempt.who}: the attempt is over")
                continue
            thrown = None
            try:
                yield future
            except BaseException as error:  # noqa: BLE001 - handed on to the Step
                thrown = error

    def _observe(self, future: Any) -> None:
        own, awaited = self._walk()
        self._sleeping_on = None
        if awaited is self._awaited and awaited is not None:
            # Still the same call: it suspends many times while it talks to its server.
            return
        self._awaited = awaited
        code = _code_of(awaited)
        kind = "call" if code is None else self._kinds[code]
        if kind == "sleep":
            self._sleeping_on = future
        line = own.cr_frame.f_lineno
        name = getattr(awaited, "__qualname__", type(awaited).__name__)
        site = (own.cr_code, line, name)
        payload = self._sites.get(site)
        if payload is None:
            payload = self._sites[site] = {"line": line, "what": name}
        self._attempt.record("round_sleep" if kind == "sleep" else "round_call", payload)

    def _walk(self) -> tuple[Any, Any]:
        """Give the innermost frame of the Step's own module, and what it awaits."""
        own: Any = self._coroutine
        kinds = self._kinds
        while True:
            awaited = own.cr_await
            code = getattr(awaited, "cr_code", None)
            if code is None:
                self._classify(awaited)
                return own, awaited
            kind = kinds.get(code) or self._classify(awaited)
            if kind != "own":
                return own, awaited
            own = awaited

    def _classify(self, awaited: Any) -> Kind:
        code = _code_of(awaited)
        if code is None:
            return "call"
        found = self._kinds.get(code)
        if found is None:
            frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
            module = None if frame is None else frame.f_globals.get("__name__")
            if code.co_name in _SLEEP_NAMES and module in _SLEEP_MODULES:
                found = "sleep"
            else:
                found = "own" if module == self._module else "call"
            self._kinds[code] = found
        return found

    def _cleaning_up(self) -> bool:
        """Tell whether the Step only closes what it opened, which it may do when it is over."""
        awaited = self._awaited
        while awaited is not None:
            if getattr(awaited, "__name__", "") in CLEANUP_CALLS:
                return True
            awaited = getattr(awaited, "cr_await", None)
        return False


def _code_of(awaited: Any) -> CodeType | None:
    return getattr(awaited, "cr_code", None) or getattr(awaited, "gi_code", None)
