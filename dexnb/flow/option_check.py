"""`OptionCheck`: the values that options are made of, read one by one; every mistake is kept."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from typing import Any, TypeVar

from dexnb.clock import LONGEST
from dexnb.errors import Problem
from dexnb.flow.options import RetryPolicy, StepDurability
from dexnb.model.settings import MINIMUM_HEARTBEAT_TIMEOUT, Durability, RetrySettings
from dexnb.model.shown import shown

EnumT = TypeVar("EnumT", bound=Enum)


class OptionCheck:
    """Reads values of options and collects what does not hold.

    Args:
        where: `Flow.Step` or another prefix of each problem.
        minimum_heartbeat: Smallest heartbeat_timeout that the runtime takes, in seconds.
    """

    def __init__(self, where: str, minimum_heartbeat: float = MINIMUM_HEARTBEAT_TIMEOUT) -> None:
        """Start with no problems."""
        self.where = where
        self.minimum_heartbeat = minimum_heartbeat
        self.problems: list[Problem] = []

    def is_a(self, class_: type, field: str, value: Any) -> bool:
        """Tell whether a value is of this class; None is not, without being a problem."""
        if value is not None and not isinstance(value, class_):
            article = "an" if class_.__name__[0] in "AEIOU" else "a"
            name = (
                class_.__name__ if class_.__name__.endswith("s") else f"{article} {class_.__name__}"
            )
            self.problem(field, value, f"give {name} or None")
            return False
        return value is not None

    def member(self, field: str, value: Any, default: EnumT) -> EnumT:
        """Give back a member of the default's Enum; the default for what is none."""
        class_ = type(default)
        if isinstance(value, class_):
            return value
        first, *others = [member.name for member in class_ if member.name != "DEFAULT"]
        names = ", ".join(others)
        if "DEFAULT" in class_.__members__:
            names = f"{names} or DEFAULT"
        self.problem(field, value, f"give {class_.__name__}.{first}, {names}")
        return default

    def flag(self, field: str, value: Any) -> bool:
        """Give back a bool."""
        if not isinstance(value, bool):
            self.problem(field, value, "give True or False")
        return value is True

    def seconds(self, field: str, value: Any) -> float | None:
        """Give a duration's seconds, or None for what selects the default or cannot hold."""
        if value is None:
            return None
        if not isinstance(value, timedelta):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            example = f", for example timedelta(seconds={shown(value)})" if number else ""
            self.problem(field, value, f"give a datetime.timedelta{example}")
            return None
        seconds = LONGEST if value == timedelta.max else value.total_seconds()
        if not 0 <= seconds <= LONGEST:
            fix = (
                "give a positive duration of at most 100 years, timedelta.max for no limit, "
                "or None for the default"
            )
            self.problem(field, value, fix)
            return None
        return seconds

    def heartbeat(self, field: str, value: Any) -> float | None:
        """Give the seconds of a heartbeat_timeout, which has a minimum."""
        heartbeat = self.seconds(field, value)
        if heartbeat and heartbeat < self.minimum_heartbeat:
            fix = (
                f"give at least {self.minimum_heartbeat:g} s, leave it out for 60 s, or allow less "
                "with RuntimeOptions(minimum_heartbeat_timeout=...)"
            )
            self.problem(field, value, fix)
        return heartbeat

    def durability(self, field: str, value: Any) -> Durability:
        """Give how safely a result is written."""
        member = self.member(field, value, StepDurability.DEFAULT)
        return "ASYNC" if member is StepDurability.ASYNC else "SYNC"

    def retry(self, field: str, policy: RetryPolicy | None) -> RetrySettings:
        """Give a policy's numbers, with every default filled in."""
        defaults = RetrySettings()
        if not self.is_a(RetryPolicy, field, policy) or policy is None:
            return defaults
        initial = self._interval(policy, field, "initial_interval") or defaults.initial_interval
        longest = self._interval(policy, field, "maximum_interval")
        total = self._interval(policy, field, "total_duration")
        if longest and longest < initial:
            fix = f"give at least initial_interval ({initial:g} s)"
            self.problem(f"{field}.maximum_interval", policy.maximum_interval, fix)
        return RetrySettings(
            initial_interval=initial,
            backoff_coefficient=self._coefficient(
                f"{field}.backoff_coefficient", policy.backoff_coefficient
            ),
            maximum_interval=longest or max(defaults.maximum_interval, initial),
            maximum_attempts=self._attempts(f"{field}.maximum_attempts", policy.maximum_attempts),
            total_duration=total or defaults.total_duration,
        )

    def _interval(self, policy: RetryPolicy, prefix: str, name: str) -> float | None:
        field, value = f"{prefix}.{name}", getattr(policy, name)
        seconds = self.seconds(field, value)
        if seconds == 0:
            self.problem(field, value, "give more than 0 s, or leave it out for the default")
        return seconds

    def _coefficient(self, field: str, value: Any) -> float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and value == 0:
            return RetrySettings().backoff_coefficient
        if not number or not 1 <= value <= _LARGEST_COEFFICIENT:
            fix = "give a finite number of at least 1, or 0 for the default of 2"
            self.problem(field, value, fix)
            return 1.0
        return float(value)

    def _attempts(self, field: str, value: Any) -> int:
        if type(value) is not int or not 0 <= value <= _LARGEST_COUNT:
            self.problem(field, value, "give a whole number of at least 1, or 0 for no limit")
            return 1
        return value

    def problem(self, field: str, value: Any, fix: str) -> None:
        """Keep a mistake: the field, what stands there, and what to give."""
        text = str(value) if isinstance(value, timedelta) else shown(value)
        self.problems.append(Problem(f"{self.where}.{field}", text, fix))


_LARGEST_COEFFICIENT = 1e300
_LARGEST_COUNT = 2**53 - 1
