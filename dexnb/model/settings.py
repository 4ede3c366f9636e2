"""`StepSettings`: a Step's timeouts and retries as plain seconds, with every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from dexnb.errors import DocumentError
from dexnb.model.json_text import NUMBER, Fields, check_choice, check_fields

Durability = Literal["SYNC", "ASYNC"]

DEFAULT_METHOD_TIMEOUT = 7200.0
DEFAULT_HEARTBEAT_TIMEOUT = 60.0
MINIMUM_HEARTBEAT_TIMEOUT = 10.0
DEFAULT_RPC_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """When a failed attempt is tried again.

    Args:
        initial_interval: Seconds before the second attempt.
        backoff_coefficient: Factor between one delay and the next.
        maximum_interval: Longest delay in seconds.
        maximum_attempts: Attempts in all, the first included; 0 for no limit.
        total_duration: Seconds from the first delivery after which no retry begins. It gates
            retries and never cuts a running attempt, so the whole wait is at most this plus one
            method timeout (source: the Dex polling pattern).
    """

    initial_interval: float = 1.0
    backoff_coefficient: float = 2.0
    maximum_interval: float = 100.0
    maximum_attempts: int = 0
    total_duration: float = 14400.0

    def delay_after(self, attempt: int) -> float:
        """Give the seconds between the end of attempt `attempt` (from 1) and the next one.

        initial x coefficient^(attempt-1), at most maximum_interval; finite for every attempt.
        """
        try:
            # As floats, because a power of integers grows until memory ends.
            growth = float(self.backoff_coefficient) ** (attempt - 1)
            delay = self.initial_interval * growth
        except OverflowError:
            return self.maximum_interval
        return min(delay, self.maximum_interval)

    def allows_another(self, attempt: int, elapsed: float, delay: float) -> bool:
        """Tell whether attempt `attempt` may be followed by another.

        Args:
            attempt: The number of the attempt that has failed.
            elapsed: Seconds since the first delivery.
            delay: Seconds before the next attempt.
        """
        if self.maximum_attempts and attempt >= self.maximum_attempts:
            return False
        return elapsed + delay < self.total_duration


@dataclass(frozen=True, slots=True)
class StepSettings:
    """The settings that an attempt runs under, in seconds.

    Args:
        execute_method_timeout: Longest run of one attempt of execute.
        heartbeat_timeout: Longest time between two signs of life of a running attempt.
        retry: When a failed attempt of execute is tried again.
        durability: ASYNC lets acknowledgements commit without waiting for the disk.
        recovery: Step type that follows when no retry is left, or None.
        recovery_options: The settings that replace that Step's own, as plain JSON, or None.
        recovery_plan: What a turn must know of that Step under those settings; None for nothing.
        wait_for_method_timeout: Longest run of one attempt of wait_for.
        wait_for_retry: When a failed attempt of wait_for is tried again.
        wait_for_durability: As durability, for wait_for.
        explicit_sync: Whether SYNC was asked for, so that a run's config cannot change it.
        wait_for_explicit_sync: The same, for wait_for.
    """

    execute_method_timeout: float = DEFAULT_METHOD_TIMEOUT
    heartbeat_timeout: float = DEFAULT_HEARTBEAT_TIMEOUT
    retry: RetrySettings = RetrySettings()
    durability: Durability = "SYNC"
    recovery: str | None = None
    recovery_options: dict[str, Any] | None = None
    recovery_plan: dict[str, Any] | None = None
    wait_for_method_timeout: float = DEFAULT_METHOD_TIMEOUT
    wait_for_retry: RetrySettings = RetrySettings()
    wait_for_durability: Durability = "SYNC"
    explicit_sync: bool = False
    wait_for_explicit_sync: bool = False

    def durability_under(self, config: Mapping[str, Any], *, waits: bool = False) -> Durability:
        """Give how safely a method's result is written in a run of this config.

        What the Step says comes first, then the run's `step_durability`, then SYNC.
        """
        own = self.wait_for_durability if waits else self.durability
        explicit = self.wait_for_explicit_sync if waits else self.explicit_sync
        if own == "SYNC" and not explicit and config.get("step_durability") == "ASYNC":
            return "ASYNC"
        return own

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form that a movement carries.

        What only some Steps have is left out where it stands on its default.
        """
        document = asdict(self)
        default = asdict(_DEFAULTS)
        return {
            name: value
            for name, value in document.items()
            if name in _SETTINGS or value != default[name]
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> StepSettings:
        """Read the plain JSON form.

        Raises:
            DocumentError: It is no such document.
        """
        try:
            return cls._read(document)
        except RecursionError:
            message = "step settings are nested too deeply"
            raise DocumentError(message) from None

    @classmethod
    def _read(cls, document: Any) -> StepSettings:
        check_fields(document, _SETTINGS, "step settings")
        given = {name: kind for name, kind in _OPTIONAL.items() if name in document}
        check_fields(document, given, "step settings")
        values = {name: document[name] for name in (*_SETTINGS, *given)}
        for name in {"durability", "wait_for_durability"} & values.keys():
            check_choice(values[name], get_args(Durability), f"step settings {name}")
        for name in {"retry", "wait_for_retry"} & values.keys():
            retry = check_fields(values[name], _RETRY, "retry settings")
            values[name] = RetrySettings(**{field: retry[field] for field in _RETRY})
        if values["recovery_options"] is not None:
            cls._read(values["recovery_options"])
        return cls(**values)


_DEFAULTS = StepSettings()
_SETTINGS: Fields = {
    "execute_method_timeout": NUMBER,
    "heartbeat_timeout": NUMBER,
    "retry": dict,
    "durability": str,
    "recovery": (str, type(None)),
    "recovery_options": (dict, type(None)),
}
_OPTIONAL: Fields = {
    "recovery_plan": (dict, type(None)),
    "wait_for_method_timeout": NUMBER,
    "wait_for_retry": dict,
    "wait_for_durability": str,
    "explicit_sync": bool,
    "wait_for_explicit_sync": bool,
}
_RETRY: Fields = {
    "initial_interval": NUMBER,
    "backoff_coefficient": NUMBER,
    "maximum_interval": NUMBER,
    "maximum_attempts": int,
    "total_duration": NUMBER,
}
