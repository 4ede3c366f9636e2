"""Playing many seeds: what a failure says, the rate, and all processors at once."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from tests.simulation.world import simulate

CHUNK = 50


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
        rate = self.seeds / self.seconds if self.seconds else 0.0
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


def play_everywhere(
    seeds: range,
    processes: int | None = None,
    player: Callable[[range], Played] = play,
    chunk: int = CHUNK,
) -> Iterator[Played]:
    """Play seeds on all processors; give what all have given so far, after each chunk.

    The first chunk with something wrong is the last that is given; what others play then is given
    up.

    Args:
        seeds: All of them.
        processes: How many play; as many as there are processors by default.
        player: Plays a chunk, in another process.
        chunk: Seeds that are played between two looks.
    """
    began, whole = perf_counter(), Played(0, 0, 0, (), 0.0)
    count = processes or os.cpu_count() or 1
    with _pool(count) as pool:
        # A few ahead, so that nobody waits and little is left when it ends early.
        playing: deque[Future[Played]] = deque()
        for first in range(0, len(seeds), chunk):
            playing.append(pool.submit(player, seeds[first : first + chunk]))
            if len(playing) < 2 * count:
                continue
            whole = added(whole, playing.popleft().result(), perf_counter() - began)
            yield whole
            if whole.wrong:
                return
        while playing and not whole.wrong:
            whole = added(whole, playing.popleft().result(), perf_counter() - began)
            yield whole


@contextmanager
def _pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """Give processes that end with the block, whatever they are at."""
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    try:
        yield pool
    finally:
        processes = list((pool._processes or {}).values())  # noqa: SLF001 - no way before 3.14
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
