"""Playing many seeds: what a failure says, and the rate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from tests.simulation.world import simulate


@dataclass(frozen=True)
class Played:
    """What some seeds gave.

    Args:
        seeds: How many they are.
        attempts: How many attempts Steps have seen.
        kills: How many engines were killed.
        wrong: What is wrong, each with the command that shows it again.
        seconds: How long that took.
    """

    seeds: int
    attempts: int
    kills: int
    wrong: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        """Give the figures."""
        rate = self.seeds / self.seconds
        made = f"{self.attempts} attempts, {self.kills} kills"
        return f"{self.seeds} seeds: {made}, {rate:.1f} seeds/s, {len(self.wrong)} wrong"


def replay(seed: int, folder: Path | None = None) -> str:
    """Give the command that plays a seed again and prints what happened."""
    return f"python -m tests.simulation {seed}{' FOLDER' if folder else ''}"


def play(seeds: Iterable[int], folder: Path | None = None) -> Played:
    """Play seeds one after the other."""
    began, count, attempts, kills = perf_counter(), 0, 0, 0
    wrong: list[str] = []
    for seed in seeds:
        try:
            outcome = simulate(seed, folder)
        except BaseException as error:
            error.add_note(f"seed {seed}; to see it again: {replay(seed, folder)}")
            raise
        count += 1
        attempts += outcome.attempts
        kills += outcome.kills
        if outcome.problems:
            wrong.append(f"{replay(seed, folder)}: " + "; ".join(outcome.problems)[:2000])
    return Played(count, attempts, kills, tuple(wrong), perf_counter() - began)


def added(one: Played, other: Played, seconds: float) -> Played:
    """Give both together, which took so long side by side."""
    return Played(
        one.seeds + other.seeds,
        one.attempts + other.attempts,
        one.kills + other.kills,
        (*one.wrong, *other.wrong),
        seconds,
    )
