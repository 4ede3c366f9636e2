"""`Witness`: what Steps, callers and the store saw while a simulation ran."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dexnb.model.event import Event

Execution = tuple[str, str, str]
"""Run id, step execution id, method."""


@dataclass(frozen=True)
class Promise:
    """What an answer has told its caller of a run.

    Args:
        flow_id: Whose runs these are; one may have followed another meanwhile.
        text: What was told, for people.
        holds: Whether the runs' histories say so too.
    """

    flow_id: str
    text: str
    holds: Callable[[Sequence[Event]], bool]


@dataclass
class Witness:
    """Notes that the checks compare with the store; what contradicts it is a problem at once.

    Args:
        attempts: How often each method of each execution was entered.
        beats: Values of the heartbeats of each method of each execution.
        paces: The pace that each execution has found: run id, step execution id, value.
        turned: The paces that callers have asked for, by run.
        turns: The knobs that were turned: run id, name, value.
        accepted: Values that callers have published, with their run.
        corrupted: Runs that were sent what cannot be read: nothing behind that arrives.
        promises: What callers were told.
        answers: How many calls were answered, by kind and the answer's name.
        problems: What must not be.
        kills: How many machines were killed.
        stops: How many were stopped in order.
        published: The newest value that was made.
    """

    attempts: dict[Execution, list[int]] = field(default_factory=lambda: defaultdict(list))
    beats: dict[Execution, list[Any]] = field(default_factory=lambda: defaultdict(list))
    paces: list[tuple[str, str, float]] = field(default_factory=list)
    turned: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    turns: list[tuple[str, str, float]] = field(default_factory=list)
    accepted: dict[int, str] = field(default_factory=dict)
    corrupted: set[str] = field(default_factory=set)
    promises: list[Promise] = field(default_factory=list)
    answers: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
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

    def promise(self, flow_id: str, text: str, holds: Callable[[Sequence[Event]], bool]) -> None:
        """Note what a caller was told."""
        self.promises.append(Promise(flow_id, text, holds))

    def problem(self, text: str) -> None:
        """Note what must not be."""
        self.problems.append(text)
