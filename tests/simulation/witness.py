"""`Witness`: what Steps, callers and the store saw while a simulation ran."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

Execution = tuple[str, str, str]
"""Run id, step execution id, method."""


@dataclass
class Witness:
    """Notes that the checks compare with the store; what contradicts it is a problem at once.

    Args:
        attempts: How often each method of each execution was entered.
        beats: Values of the heartbeats of each method of each execution.
        accepted: Values that callers have published, with their run.
        problems: What must not be.
        kills: How many machines were killed.
        stops: How many were stopped in order.
        published: The newest value that was made.
    """

    attempts: dict[Execution, list[int]] = field(default_factory=lambda: defaultdict(list))
    beats: dict[Execution, list[Any]] = field(default_factory=lambda: defaultdict(list))
    accepted: dict[int, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    kills: int = 0
    stops: int = 0
    published: int = 0

    def enter(self, execution: Execution, attempt: int, seen: Any) -> None:
        """Note that an attempt begins, with the checkpoint that it found."""
        self.attempts[execution].append(attempt)
        if seen is not None and seen not in self.beats[execution]:
            self.problem(f"{execution} found the checkpoint {seen}, which was never written")

    def new_value(self) -> int:
        """Make a value that no Channel has had."""
        self.published += 1
        return self.published

    def problem(self, text: str) -> None:
        """Note what must not be."""
        self.problems.append(text)
