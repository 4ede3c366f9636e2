"""From `StepOptions` to `StepSettings`: defaults filled in, every mistake listed."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from dexnb.errors import Problem
from dexnb.flow.options import RetryPolicy, StepDurability, StepOptions
from dexnb.flow.step import Step
from dexnb.model.settings import MINIMUM_HEARTBEAT_TIMEOUT, RetrySettings, StepSettings

_LONGEST = timedelta(days=36500).total_seconds()


class Resolver:
    """Reads one Step's options into seconds and collects what does not hold.

    Args:
        where: `Flow.Step`, the prefix of each problem.
        minimum_heartbeat: Smallest heartbeat_timeout that the runtime takes, in seconds.
    """

    def __init__(self, where: str, minimum_heartbeat: float = MINIMUM_HEARTBEAT_TIMEOUT) -> None:
        """Start with no problems."""
        self.where = where
        self.minimum_heartbeat = minimum_heartbeat
        self.problems: list[Problem] = []

    def settings(self, options: StepOptions | None) -> StepSettings:
        """Resolve options; None gives all defaults. Look at `problems` afterwards."""
        if options is None:
            return StepSettings()
        if not isinstance(options, StepOptions):
            self._problem("options", options, "give StepOptions or None")
            return StepSettings()
        defaults = StepSettings()
        heartbeat = self._seconds(
            "heartbeat_timeout", options.heartbeat_timeout, defaults.heartbeat_timeout
        )
        if heartbeat < self.minimum_heartbeat:
            self._problem(
                "heartbeat_timeout",
                options.heartbeat_timeout,
                f"give at least {self.minimum_heartbeat:g} s, leave it out for 60 s, or allow less "
                "with RuntimeOptions(minimum_heartbeat_timeout=...)",
            )
        recovery, recovery_options = self._recovery(options)
        return StepSettings(
            execute_method_timeout=self._seconds(
                "execute_method_timeout",
                options.execute_method_timeout,
                defaults.execute_method_timeout,
            ),
            heartbeat_timeout=heartbeat,
            retry=self._retry(options.execute_retry),
            durability=self._durability(options.execute_durability),
            recovery=recovery,
            recovery_options=recovery_options,
        )

    def _retry(self, policy: RetryPolicy | None) -> RetrySettings:
        defaults = RetrySettings()
        if policy is None:
            return defaults
        if not isinstance(policy, RetryPolicy):
            self._problem("execute_retry", policy, "give a RetryPolicy or None")
            return defaults
        name = "execute_retry"
        initial = self._seconds(
            f"{name}.initial_interval", policy.initial_interval, defaults.initial_interval
        )
        longest = self._seconds(
            f"{name}.maximum_interval",
            policy.maximum_interval,
            max(defaults.maximum_interval, initial),
        )
        if longest < initial:
            fix = f"give at least initial_interval ({initial:g} s)"
            self._problem(f"{name}.maximum_interval", policy.maximum_interval, fix)
        return RetrySettings(
            initial_interval=initial,
            backoff_coefficient=self._coefficient(policy.backoff_coefficient),
            maximum_interval=longest,
            maximum_attempts=self._attempts(policy.maximum_attempts),
            total_duration=self._seconds(
                f"{name}.total_duration", policy.total_duration, defaults.total_duration
            ),
        )

    def _coefficient(self, value: Any) -> float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and value == 0:
            return RetrySettings().backoff_coefficient
        if not number or not math.isfinite(value) or value < 1:
            fix = "give a finite number of at least 1, or 0 for the default of 2"
            self._problem("execute_retry.backoff_coefficient", value, fix)
            return 1.0
        return float(value)

    def _attempts(self, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            fix = "give a whole number of at least 1, or 0 for no limit"
            self._problem("execute_retry.maximum_attempts", value, fix)
            return 1
        return value

    def _durability(self, value: Any) -> Any:
        if not isinstance(value, StepDurability):
            self._problem("execute_durability", value, "give a StepDurability")
        return "ASYNC" if value is StepDurability.ASYNC else "SYNC"

    def _seconds(self, name: str, value: Any, default: float) -> float:
        if value is None:
            return default
        if not isinstance(value, timedelta):
            self._problem(name, value, "give a datetime.timedelta")
            return default
        seconds = value.total_seconds()
        if seconds < 0:
            self._problem(name, value, "give a positive duration, or None for the default")
            return default
        return min(seconds, _LONGEST) or default

    def _recovery(self, options: StepOptions) -> tuple[str | None, dict[str, Any] | None]:
        if options.recovery is None:
            return None, None
        target = options.recovery.step
        if not (isinstance(target, type) and issubclass(target, Step)):
            fix = "give a Step class to on_execute_failure_proceed_to"
            self._problem("recovery", target, fix)
            return None, None
        if options.recovery.options is None:
            return step_type_of(target), None
        inner = Resolver(f"{self.where}.recovery", self.minimum_heartbeat)
        try:
            settings = inner.settings(options.recovery.options)
        except RecursionError:
            self._problem("recovery", target.__name__, "recovery options lead back to themselves")
            return step_type_of(target), None
        self.problems += inner.problems
        return step_type_of(target), settings.to_json()

    def _problem(self, field: str, value: Any, fix: str) -> None:
        shown = str(value) if isinstance(value, timedelta) else repr(value)
        self.problems.append(Problem(f"{self.where}.{field}", shown, fix))


def step_type_of(step: type[Step[Any]]) -> str:
    """Give a Step class's registered name without making an instance of its own."""
    if step.get_step_type is Step.get_step_type:
        return step.__name__
    return step.get_step_type(object.__new__(step))
