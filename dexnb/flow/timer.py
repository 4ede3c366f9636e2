"""`Timer`: waiting for time to pass, without a running Step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from dexnb.clock import seconds_of
from dexnb.errors import DefinitionError
from dexnb.flow.condition import Condition, condition_id_of
from dexnb.model.shown import shown


@dataclass(frozen=True)
class TimerCondition(Condition):
    """Ready when this many seconds have passed since the wait began.

    Raises:
        DefinitionError: It is no number of seconds from 0 to 100 years.
    """

    seconds: float

    def __post_init__(self) -> None:
        """Check the id and the seconds."""
        super().__post_init__()
        seconds_of(self.seconds, name="TimerCondition seconds")

    def document(self) -> dict[str, Any]:
        """Give its plain form."""
        return {"kind": "timer", "id": self.condition_id, "seconds": self.seconds}


class Timer:
    """Makes conditions that time fulfils; a wait on one costs nothing while it lasts."""

    @staticmethod
    def by_duration(duration: timedelta, *, condition_id: str | None = None) -> TimerCondition:
        """Give a condition that is ready so long after the wait began; zero is ready at once.

        Fractions of a second are taken.

        Raises:
            DefinitionError: The duration is no timedelta, negative or longer than 100 years, or
                the id cannot be one.
        """
        owner = "Timer.by_duration duration"
        given: Any = duration
        if not isinstance(given, timedelta):
            number = isinstance(given, int | float) and not isinstance(given, bool)
            example = f"timedelta(seconds={shown(given) if number else 30})"
            fix = f"give a datetime.timedelta, such as {example}"
            raise DefinitionError(f"{owner} is {shown(given)}: {fix}")
        seconds = seconds_of(given, name=owner)
        return TimerCondition(seconds, condition_id=condition_id_of(condition_id))
