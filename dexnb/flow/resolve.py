"""From `StepOptions` to `StepSettings`: defaults filled in, every mistake listed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from dexnb.clock import LONGEST
from dexnb.errors import DefinitionError, Problem
from dexnb.flow.options import Recovery, RetryPolicy, StepDurability, StepOptions
from dexnb.flow.step import Step
from dexnb.model.settings import (
    MINIMUM_HEARTBEAT_TIMEOUT,
    Durability,
    RetrySettings,
    StepSettings,
)
from dexnb.model.shown import shown


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
        method = self._seconds("execute_method_timeout", options.execute_method_timeout)
        recovery, recovery_options = self._recovery(options.recovery)
        return StepSettings(
            execute_method_timeout=method or defaults.execute_method_timeout,
            heartbeat_timeout=self._heartbeat(options) or defaults.heartbeat_timeout,
            retry=self._retry(options.execute_retry),
            durability=self._durability(options.execute_durability),
            recovery=recovery,
            recovery_options=recovery_options,
        )

    def _heartbeat(self, options: StepOptions) -> float | None:
        heartbeat = self._seconds("heartbeat_timeout", options.heartbeat_timeout)
        if heartbeat and heartbeat < self.minimum_heartbeat:
            self._problem(
                "heartbeat_timeout",
                options.heartbeat_timeout,
                f"give at least {self.minimum_heartbeat:g} s, leave it out for 60 s, or allow less "
                "with RuntimeOptions(minimum_heartbeat_timeout=...)",
            )
        return heartbeat

    def _retry(self, policy: RetryPolicy | None) -> RetrySettings:
        defaults = RetrySettings()
        if policy is None:
            return defaults
        if not isinstance(policy, RetryPolicy):
            self._problem("execute_retry", policy, "give a RetryPolicy or None")
            return defaults
        initial = self._interval(policy, "initial_interval") or defaults.initial_interval
        longest = self._interval(policy, "maximum_interval")
        if longest and longest < initial:
            fix = f"give at least initial_interval ({initial:g} s)"
            self._problem("execute_retry.maximum_interval", policy.maximum_interval, fix)
        return RetrySettings(
            initial_interval=initial,
            backoff_coefficient=self._coefficient(policy.backoff_coefficient),
            maximum_interval=longest or max(defaults.maximum_interval, initial),
            maximum_attempts=self._attempts(policy.maximum_attempts),
            total_duration=self._interval(policy, "total_duration") or defaults.total_duration,
        )

    def _interval(self, policy: RetryPolicy, field: str) -> float | None:
        name, value = f"execute_retry.{field}", getattr(policy, field)
        seconds = self._seconds(name, value)
        if seconds == 0:
            self._problem(name, value, "give more than 0 s, or leave it out for the default")
        return seconds

    def _coefficient(self, value: Any) -> float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and value == 0:
            return RetrySettings().backoff_coefficient
        if not number or not 1 <= value <= _LARGEST_COEFFICIENT:
            fix = "give a finite number of at least 1, or 0 for the default of 2"
            self._problem("execute_retry.backoff_coefficient", value, fix)
            return 1.0
        return float(value)

    def _attempts(self, value: Any) -> int:
        if type(value) is not int or not 0 <= value <= _LARGEST_COUNT:
            fix = "give a whole number of at least 1, or 0 for no limit"
            self._problem("execute_retry.maximum_attempts", value, fix)
            return 1
        return value

    def _durability(self, value: Any) -> Durability:
        if not isinstance(value, StepDurability):
            fix = "give StepDurability.SYNC, ASYNC or DEFAULT"
            self._problem("execute_durability", value, fix)
        return "ASYNC" if value is StepDurability.ASYNC else "SYNC"

    def _seconds(self, name: str, value: Any) -> float | None:
        """Give a duration's seconds, or None for what selects the default or cannot hold."""
        if value is None:
            return None
        if not isinstance(value, timedelta):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            example = f", for example timedelta(seconds={shown(value)})" if number else ""
            self._problem(name, value, f"give a datetime.timedelta{example}")
            return None
        seconds = LONGEST if value == timedelta.max else value.total_seconds()
        if not 0 <= seconds <= LONGEST:
            fix = (
                "give a positive duration of at most 100 years, timedelta.max for no limit, "
                "or None for the default"
            )
            self._problem(name, value, fix)
            return None
        return seconds

    def _recovery(self, recovery: Recovery | None) -> tuple[str | None, dict[str, Any] | None]:
        if recovery is None:
            return None, None
        if not isinstance(recovery, Recovery):
            self._problem("recovery", recovery, "use StepOptions(...)" + _PROCEED)
            return None, None
        try:
            target = step_type_of(recovery.step)
        except DefinitionError as error:
            self.problems.append(Problem(f"{self.where}.recovery", "", str(error)))
            return None, None
        if recovery.options is None:
            return target, None
        inner = Resolver(f"{self.where}.recovery", self.minimum_heartbeat)
        settings = inner.settings(recovery.options)
        self.problems += inner.problems
        return target, settings.to_json()

    def _problem(self, field: str, value: Any, fix: str) -> None:
        text = str(value) if isinstance(value, timedelta) else shown(value)
        self.problems.append(Problem(f"{self.where}.{field}", text, fix))


_PROCEED = ".on_execute_failure_proceed_to(YourStep)"
_LARGEST_COEFFICIENT = 1e300
_LARGEST_COUNT = 2**53 - 1


def step_type_of(step: type[Step[Any]]) -> str:
    """Give a Step class's registered name without making an instance of its own.

    Raises:
        DefinitionError: It is no Step class, or its name depends on an instance.
    """
    given: Any = step
    if not (isinstance(given, type) and issubclass(given, Step)):
        name = type(given).__name__ if isinstance(given, Step) else "YourStep"
        message = f"{shown(given)} is no Step class: give the class, {name}, not an instance"
        raise DefinitionError(message)
    if given.get_step_type is Step.get_step_type:
        return given.__name__
    try:
        name = given.get_step_type(object.__new__(given))
    except Exception as error:
        message = (
            f"{given.__name__}.get_step_type() raised {type(error).__name__} ({error}) without "
            "__init__: return the same name for every instance of the class"
        )
        raise DefinitionError(message) from error
    if not isinstance(name, str):
        message = f"{given.__name__}.get_step_type() gave {shown(name)}: return a str"
        raise DefinitionError(message)
    return name
