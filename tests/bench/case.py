"""What the bench is made of: programs that run in turn, and goals that compare their figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Figures = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Program:
    """One process that measures one thing and answers with figures.

    Args:
        name: In tables.
        place: The environment that it runs in.
        module: Below `tests.bench.programs`.
        asked: What it is told, beside the store.
        fsync_ms: How much longer each fsync takes it.
        killed: What a process of the same module is told that runs on the same store before it,
            until it says that it is ready, and is killed then.
    """

    name: str
    place: str
    module: str
    asked: Mapping[str, Any] = field(default_factory=dict)
    fsync_ms: float = 0.0
    killed: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on a figure of one program, or on its ratio to the best of others.

    Args:
        text: What is compared, for people.
        of: The program that is judged.
        figure: The name of its figure.
        bound: The floor, or the ceiling when less is better.
        beside: The programs that it is compared with, by `their` figure; none for a plain bound.
        their: Their figure; the same by default.
        less_is_better: Turns the bound into a ceiling, and the best of others into the smallest.
    """

    text: str
    of: str
    figure: str
    bound: float
    beside: tuple[str, ...] = ()
    their: str = ""
    less_is_better: bool = False

    def value(self, medians: Mapping[str, Figures]) -> float:
        """Give what is judged, from the medians of each program."""
        ours = float(medians[self.of][self.figure])
        if not self.beside:
            return ours
        others = [float(medians[name][self.their or self.figure]) for name in self.beside]
        return ours / (min(others) if self.less_is_better else max(others))

    def reached(self, value: float) -> bool:
        """Tell whether this is good enough."""
        return value <= self.bound if self.less_is_better else value >= self.bound


@dataclass(frozen=True, slots=True)
class Case:
    """Programs that are compared in one run.

    Args:
        name: What `--only` takes.
        title: For people.
        shown: The figures of the table, in order.
        programs: They run one after the other in each round.
        goals: What must be reached.
        needs_shim: Whether it means nothing without the shim.
    """

    name: str
    title: str
    shown: tuple[str, ...]
    programs: tuple[Program, ...]
    goals: tuple[Goal, ...]
    needs_shim: bool = False
