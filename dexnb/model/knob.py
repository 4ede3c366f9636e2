"""`Knob`: a constant or an option that may be turned for one run, with the range that is legal."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Unit = Literal["s", "count"]


@dataclass(frozen=True, slots=True)
class Knob:
    """A value to turn.

    Args:
        name: The constant's name, or `StepType.option`: the key of a run's overrides.
        label: What stands beside it.
        unit: `s` for seconds, `count` for a whole number.
        value: As of now.
        default: What the code says.
        minimum: Smallest legal value; equal to `maximum` where there is no choice.
        maximum: Largest legal value that is offered.
        step: How finely to turn.
        live: Whether a running run takes the change at once.
        note: Why the range is as it is.
        legal: Whether the value holds together with the others.
        error: What is wrong and what to change, where it does not.
    """

    name: str
    label: str
    unit: Unit
    value: float
    default: float
    minimum: float
    maximum: float
    step: float
    live: bool = True
    note: str = ""
    legal: bool = True
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form that Python and TypeScript share."""
        return asdict(self)
