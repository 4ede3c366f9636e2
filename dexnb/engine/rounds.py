"""`Driver`: steps a Step's coroutine itself, so that every suspension is seen.

Walking the await chain from the Step inward, the first frame that is neither the Step's nor of a
function of its module is a call, unless it is the sleep itself. User code needs no change.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Generator, Iterator
from types import AsyncGeneratorType, CodeType, CoroutineType
from typing import TYPE_CHECKING, Any, Literal

from dexnb.engine.attempt import Attempt
from dexnb.engine.stalls import HELD_SECONDS

if TYPE_CHECKING:
    from dexnb.engine.host import StepHost

Kind = Literal["own", "sleep", "call"]

STUBBORN = 100
"""Refused calls in a row after which a Step that swallows them is left where it stands."""

CLEANUP_CALLS = frozenset(
    {"__aexit__", "aclose", "close", "wait_closed", "disconnect", "shutdown", "cleanup"}
)
_SLEEP_NAMES = frozenset({"sleep", "sleep_until", "sleep_forever", "__sleep0"})
_SLEEP_MODULES = frozenset({"asyncio.tasks", "anyio._core._eventloop"})

_left_standing: list[Any] = []
"""Steps that swallow every refusal; to forget one would make Python complain of it."""


class Driver:
    """Awaits a Step's coroutine on behalf of an attempt; see the module's text."""

    __slots__ = (
        "_attempt",
        "_awaited",
        "_coroutine",
        "_host",
        "_kinds",
        "_module",
        "_refusals",
        "_sites",
        "_sleeping_on",
        "_slept_at",
        "_waker",
    )

    def __init__(
        self, coroutine: Coroutine[Any, Any, Any], attempt: Attempt, host: StepHost
    ) -> None:
        """Drive this coroutine, on this host's loop."""
        self._coroutine = coroutine
        self._attempt = attempt
        self._host = host
        # Not that of the coroutine, which is another one where the method is decorated.
        self._module = attempt.method.__module__
        self._kinds: dict[CodeType, Kind] = {}
        self._sites: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._awaited: Any = None
        self._sleeping_on: asyncio.Future[Any] | None = None
        self._refusals = 0
        self._slept_at = 0.0
        self._waker: asyncio.TimerHandle | None = None

    def wake(self) -> bool:
        """End the Step's sleep now, if it sleeps; on the host's loop."""
        future = self._sleeping_on
        if future is None or future.done():
            return False
        future.set_result(None)
        return True

    def retime(self, seconds_at: Callable[[int], float | None]) -> None:
        """Let the Step's sleep last as long as its line says now, counted from its begin.

        Where that cannot be told it ends now. A sleep cannot be made longer than it was begun.
        """
        if self._waker is not None:
            self._waker.cancel()
            self._waker = None
        future = self._sleeping_on
        if future is None or future.done():
            return
        seconds = seconds_at(_frame(self._walk()[0]).f_lineno)
        left = 0.0 if seconds is None else self._slept_at + seconds - self._attempt.links.tick()
        if left <= 0:
            self.wake()
        else:
            loop = asyncio.get_running_loop()
            self._waker = loop.call_later(left, self._wake_from, future)

    def _wake_from(self, future: asyncio.Future[Any]) -> None:
        if self._sleeping_on is future:
            self.wake()

    def __await__(self) -> Generator[Any, Any, Any]:
        """Step the coroutine until it returns."""
        attempt, host, tick = self._attempt, self._host, self._attempt.links.tick
        send, throw = self._coroutine.send, self._coroutine.throw
        thrown: BaseException | None = None
        while True:
            host.current = attempt
            host.since = since = tick()
            try:
                future = send(None) if thrown is None else throw(thrown)
            except StopIteration as stop:
                return stop.value
            finally:
                host.current = None
                if tick() - since > HELD_SECONDS:
                    host.stalled(attempt, since)
            self._observe(future)
            if attempt.closing is not None and not self._cleaning_up():
                if asyncio.isfuture(future):
                    future.add_done_callback(_hear)
                thrown = self._refuse()
                continue
            thrown = None
            try:
                yield future
            except GeneratorExit:
                self._coroutine.close()
                raise
            except BaseException as error:  # noqa: BLE001 - handed on to the Step
                thrown = error

    def _refuse(self) -> asyncio.CancelledError:
        """Give the error for a call behind the end; a Step that takes no no is left standing."""
        error = asyncio.CancelledError(f"{self._attempt.who}: the attempt is over")
        self._refusals += 1
        if self._refusals > STUBBORN:
            _left_standing.append(self._coroutine)
            raise error
        return error

    def _observe(self, future: Any) -> None:
        own, found, awaited, kind = self._walk()
        self._sleeping_on = None
        if found is self._awaited and found is not None:
            # Still the same call: it suspends many times while it talks to its server.
            return
        self._awaited = found
        if kind == "sleep":
            self._sleeping_on = future
            self._slept_at = self._attempt.links.tick()
        frame = _frame(own)
        site = (frame.f_code, frame.f_lineno, type(awaited), getattr(awaited, "__name__", None))
        payload = self._sites.get(site)
        if payload is None:
            payload = self._sites[site] = {"line": frame.f_lineno, "what": _name(awaited)}
        self._attempt.record("round_sleep" if kind == "sleep" else "round_call", payload)

    def _walk(self) -> tuple[Any, Any, Any, Kind]:
        """Give the innermost frame of the Step's own module, and what it awaits.

        That twice: as the object that stands for this one call, and as what can be named.
        """
        own: Any = self._coroutine
        found = own.cr_await
        kinds = self._kinds
        while True:
            plain = type(found) is CoroutineType
            code = found.cr_code if plain else getattr(found, "cr_code", None)
            awaited = found if code is not None else _named(found)
            if code is None and (code := _code(awaited)) is None:
                return own, found, awaited, "call"
            kind = kinds.get(code) or self._classify(awaited, code)
            if kind != "own":
                return own, found, awaited, kind
            own, found = awaited, _inward(awaited)

    def _classify(self, awaited: Any, code: CodeType) -> Kind:
        frame = _frame(awaited)
        module = None if frame is None else frame.f_globals.get("__name__")
        kind: Kind = "own" if module == self._module else "call"
        if code.co_name in _SLEEP_NAMES and module in _SLEEP_MODULES:
            kind = "sleep"
        self._kinds[code] = kind
        return kind

    def _cleaning_up(self) -> bool:
        """Tell whether the Step only closes what it opened, which it may do when it is over."""
        return any(
            getattr(awaited, "__name__", "") in CLEANUP_CALLS
            for awaited in _chain(self._coroutine.cr_await)  # type: ignore[attr-defined]
        )


def _hear(future: asyncio.Future[Any]) -> None:
    """Hear how a refused call ends, of which asyncio would say that nobody has asked."""
    if not future.cancelled():
        future.exception()


_NAMES = {"FutureIter": "a future", "NoneType": "one turn of the loop"}


def _name(awaited: Any) -> str:
    kind = type(awaited).__name__
    return getattr(awaited, "__qualname__", None) or _NAMES.get(kind, kind)


def _named(awaited: Any) -> Any:
    """Give the async generator behind one step of it, and everything else as it is."""
    if type(awaited).__name__.startswith("async_generator_a"):
        # It tells its generator to the garbage collector alone.
        for generator in gc.get_referents(awaited):
            if isinstance(generator, AsyncGeneratorType):
                return generator
    return awaited


def _chain(awaited: Any) -> Iterator[Any]:
    """Go from what a coroutine awaits inward, as far as Python shows it."""
    while awaited is not None:
        yield (named := _named(awaited))
        awaited = _inward(named)


def _code(awaited: Any) -> Any:
    return _first(awaited, "gi_code", "ag_code")


def _inward(awaited: Any) -> Any:
    if type(awaited) is CoroutineType:
        return awaited.cr_await
    return _first(awaited, "cr_await", "gi_yieldfrom", "ag_await")


def _frame(awaited: Any) -> Any:
    if type(awaited) is CoroutineType:
        return awaited.cr_frame
    return _first(awaited, "cr_frame", "gi_frame", "ag_frame")


def _first(awaited: Any, *names: str) -> Any:
    for name in names:
        if (value := getattr(awaited, name, None)) is not None:
            return value
    return None
