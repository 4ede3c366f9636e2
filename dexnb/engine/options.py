"""`RuntimeOptions`: how an engine polls its store, how much it runs at once, how long it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any

from dexnb.clock import seconds_of
from dexnb.errors import DefinitionError
from dexnb.model.arguments import of_type
from dexnb.model.settings import MINIMUM_HEARTBEAT_TIMEOUT
from dexnb.model.shown import shown

_LOCKS = ("orchestrator_lock_timeout", "worker_lock_timeout")
SHORTEST_LOCK = 0.5
"""Seconds below which a lease would run out before its holder can renew it."""

_FLAGS, _OPTIONAL = ("live_knobs", "show_prints"), ("show_prints",)
_COUNTS = ("orchestration_concurrency", "worker_concurrency", "sync_concurrency", "max_attempts")
_NONE_AT_ALL = ("orchestration_concurrency", "worker_concurrency")


@dataclass
class RuntimeOptions:
    """Settings of one engine; the two dispatcher times may be changed while it runs.

    A number that is given for a time is seconds, as in a client's options; it becomes a timedelta.
    What a Flow says of itself (StepOptions, Timer, StartFlowOptions) takes timedelta alone.

    Args:
        dispatcher_min_poll_interval: Shortest time between two fetches that find nothing.
        dispatcher_long_poll_timeout: How long a store that can wait for work may block a fetch.
        orchestration_concurrency: Turns at once; 0 for an engine that moves no run on.
        worker_concurrency: Attempts at once; 0 for an engine that runs no Steps. Both are 0 for a
            client beside workers, so that these have all the work and count all of it.
        sync_concurrency: Of them, sync Steps and generators (each has a thread).
        orchestrator_lock_timeout: Lease of a turn.
        worker_lock_timeout: Lease of an attempt; renewed at half of it for as long as it runs.
        max_attempts: Deliveries after which something undecodable is poison. A run that can be
            read is closed after so many turns of one engine have failed, one after the other;
            deliveries that were lost with an engine do not count against it.
        minimum_heartbeat_timeout: Smallest heartbeat_timeout that is accepted. Less than 10 s is
            for teaching and deviates from Dex.
        cancellation_grace: How long a cancelled attempt may take to clean up before its
            replacement is scheduled.
        telemetry_bytes: Memory for the telemetry of all runs together; oldest goes first.
        live_knobs: Give every attempt its own copy of what its Step reads, so that knobs act while
            it runs. The Lab turns it on; without it only runs that were given overrides have one,
            and a knob acts on the others from their next attempt on.
        show_prints: Show what Steps and RPCs print and log on this process's own output, too. None
            shows it outside of notebooks, where it would stand below some other cell. The run's
            log has it in any case.

    Raises:
        DefinitionError: A value cannot hold; it is named with its range.
    """

    dispatcher_min_poll_interval: timedelta = timedelta(milliseconds=100)
    dispatcher_long_poll_timeout: timedelta = timedelta(seconds=30)
    orchestration_concurrency: int = 1000
    worker_concurrency: int = 10_000
    sync_concurrency: int = 64
    orchestrator_lock_timeout: timedelta = timedelta(seconds=5)
    worker_lock_timeout: timedelta = timedelta(seconds=30)
    max_attempts: int = 10
    minimum_heartbeat_timeout: timedelta = timedelta(seconds=MINIMUM_HEARTBEAT_TIMEOUT)
    cancellation_grace: timedelta = timedelta(milliseconds=500)
    telemetry_bytes: int = 64 << 20
    live_knobs: bool = False
    show_prints: bool | None = None

    def __post_init__(self) -> None:
        """Start without listeners."""
        object.__setattr__(self, "_listeners", [])

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` after each change, on the thread that made it; gives what ends that."""
        listeners: list[Callable[[], None]] = self.__dict__["_listeners"]
        listeners.append(changed)
        return lambda: listeners.remove(changed)

    def __copy__(self) -> RuntimeOptions:
        """Give equal options that nobody listens to."""
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> RuntimeOptions:
        """Give equal options that nobody listens to."""
        return replace(self)

    def __setattr__(self, name: str, value: Any) -> None:
        """Check a value before it takes effect; a refused one leaves the old in place."""
        if name not in {field.name for field in fields(self)}:
            message = f"RuntimeOptions has no setting {shown(name)}"
            raise DefinitionError(message)
        if name in _FLAGS:
            if not isinstance(value, bool) and (value is not None or name not in _OPTIONAL):
                instead = ", or None" if name in _OPTIONAL else ""
                message = f"RuntimeOptions.{name} is {shown(value)}: give True or False{instead}"
                raise DefinitionError(message)
        elif name in _COUNTS or name == "telemetry_bytes":
            least = 0 if name in _NONE_AT_ALL else 1
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                fix = f"give a whole number of at least {least}"
                raise DefinitionError(f"RuntimeOptions.{name} is {shown(value)}: {fix}")
        else:
            zero = name in ("dispatcher_long_poll_timeout", "cancellation_grace")
            shortest = SHORTEST_LOCK if name in _LOCKS else 0.0
            full_name = f"RuntimeOptions.{name}"
            seconds = seconds_of(value, name=full_name, minimum=shortest, allow_zero=zero)
            given, value = value, timedelta(seconds=seconds)
            if not value and not zero:
                message = f"{full_name} is {given!r}, less than the microsecond that counts"
                raise DefinitionError(message)
        object.__setattr__(self, name, value)
        for changed in tuple(self.__dict__.get("_listeners", ())):
            changed()


def options_of(given: Any) -> RuntimeOptions:
    """Give the options that a caller has given, or the defaults for None.

    Raises:
        DefinitionError: They are none.
    """
    if given is None:
        return RuntimeOptions()
    options: RuntimeOptions = of_type(given, RuntimeOptions, "options", "RuntimeOptions(...)")
    return options
