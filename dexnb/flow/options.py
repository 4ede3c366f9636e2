"""`StepOptions` and `RetryPolicy`: what a Step says about its timeouts, retries and recovery."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dexnb.flow.step import Step


class StepDurability(Enum):
    """How safely a Step's result is written.

    DEFAULT is SYNC. ASYNC acknowledges without waiting for the disk: a power cut may run the Step
    again.
    """

    DEFAULT = "default"
    SYNC = "sync"
    ASYNC = "async"


@dataclass(frozen=True)
class RetryPolicy:
    """When a failed attempt of a Step is tried again; what cannot hold is refused by the registry.

    Durations are above zero and at most 100 years, or `timedelta.max` for no limit.

    Args:
        initial_interval: Delay before the second attempt; default 1 s.
        backoff_coefficient: Factor between delays, at least 1; 0 selects the default of 2.
        maximum_interval: Longest delay, at least the initial one; default 100 s.
        maximum_attempts: Attempts in all, the first included; 0 for no limit, the default.
        total_duration: Time from the first delivery after which no retry begins; default 4 h. It
            never cuts a running attempt.
    """

    initial_interval: timedelta | None = None
    backoff_coefficient: float = 0.0
    maximum_interval: timedelta | None = None
    maximum_attempts: int = 0
    total_duration: timedelta | None = None


@dataclass(frozen=True)
class Recovery:
    """Where an exhausted Step leads; `options` None means the target's own."""

    step: type[Step[Any]]
    options: StepOptions | None = None


@dataclass(frozen=True)
class StepOptions:
    """What a Step asks of the runtime; everything left out has a default, a zero timeout too.

    Args:
        execute_method_timeout: Longest run of one attempt; default 2 h.
        heartbeat_timeout: Longest silence of a running attempt before it is failed and retried;
            default 60 s, at least 10 s unless the runtime allows less.
        execute_retry: When a failed attempt is tried again.
        execute_durability: How safely the result is written.
    """

    execute_method_timeout: timedelta | None = None
    heartbeat_timeout: timedelta | None = None
    execute_retry: RetryPolicy | None = None
    execute_durability: StepDurability = StepDurability.DEFAULT
    recovery: Recovery | None = field(default=None, kw_only=True)

    def on_execute_failure_proceed_to(
        self, step: type[Step[Any]], options: StepOptions | None = None
    ) -> StepOptions:
        """Give a copy that leads to `step`, with the same input, when no retry is left.

        A second call replaces the first. The recovery Step reads `context.recovery_error`.
        """
        return replace(self, recovery=Recovery(step, options))
