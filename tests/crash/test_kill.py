"""kill -9 at any instant: a new process on the same file goes on."""

from __future__ import annotations

import ast
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash import polling_child

CHILD = Path(polling_child.__file__)
CI_KILLS = 20
SOAK_KILLS = 500
RECORDED_SECONDS = 0.05
RESUME_SECONDS = 2.0


@dataclass(frozen=True)
class Survival:
    """What a kill and the process after it showed."""

    seed: int
    delay: float
    resumed_after: float
    attempt: int


def _child(store: Path, journal: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(store), str(journal)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _lines(journal: Path) -> list[tuple[float, list[str]]]:
    rows = [line.split(" ", 2) for line in journal.read_text().splitlines()]
    return [(float(row[0]), row[1:]) for row in rows]


def _kill_one(seed: int, folder: Path) -> float:
    """Run the child and kill it at a random instant; give the time of the kill."""
    child = _child(folder / "store.db", folder / "journal")
    assert child.stdout is not None
    assert child.stderr is not None
    with child, child.stdout, child.stderr:
        child.stdout.readline()
        time.sleep(random.Random(seed).uniform(0.0, polling_child.JOB_SECONDS))
        killed = time.monotonic()
        os.kill(child.pid, signal.SIGKILL)
    return killed


def _survive(seed: int, folder: Path) -> Survival:
    killed = _kill_one(seed, folder)
    before = _lines(folder / "journal")
    output, errors = _child(folder / "store.db", folder / "journal").communicate(timeout=50)
    assert errors == ""
    status, attempt, phases = output.splitlines()[-1].split(" ", 2)
    after = _lines(folder / "journal")[len(before) :]
    assert status == "COMPLETED"
    registered = next(when for when, words in after if words[0] == "registered")
    runs = [words[1] for _, words in (*before, *after) if words[0] == "run"]
    if len(set(runs)) > 1:
        # The job had ended before the kill, so the second process began a run of its own.
        return Survival(seed, killed - before[0][0], 0.0, int(attempt))
    recorded_until = killed - RECORDED_SECONDS
    _check_phases(ast.literal_eval(phases), before, recorded_until)
    resumed = _check_checkpoint(before, after, recorded_until)
    return Survival(seed, killed - before[0][0], resumed - registered, int(attempt))


def _check_phases(
    phases: list[int], before: list[tuple[float, list[str]]], recorded_until: float
) -> None:
    """A message repeats at most for the round in flight; none is lost or out of order."""
    assert phases == sorted(phases)
    repeats = len(phases) - len(set(phases))
    assert repeats <= 1
    written = {
        int(words[1].split(" ")[1])
        for when, words in before
        if words[0] == "phase" and when < recorded_until
    }
    assert written <= set(phases)


def _check_checkpoint(
    before: list[tuple[float, list[str]]],
    after: list[tuple[float, list[str]]],
    recorded_until: float,
) -> float:
    """Attempt 2 sees the last checkpoint that had reached the store, or a newer one."""
    safe = [
        int(words[1].split(" ")[1])
        for when, words in before
        if words[0] == "beat" and when < recorded_until
    ]
    resumed_at, words = next((when, words) for when, words in after if words[0] == "attempt")
    _, checkpoint = words[1].split(" ", 1)
    resumed_round = (ast.literal_eval(checkpoint) or [0, 0])[1]
    assert resumed_round >= (safe[-1] if safe else 0)
    return resumed_at


def _survive_all(seeds: list[int], tmp_path: Path) -> list[Survival]:
    def one(seed: int) -> Survival:
        folder = tmp_path / str(seed)
        folder.mkdir()
        return _survive(seed, folder)

    return [one(seed) for seed in seeds]


def _report(survivals: list[Survival]) -> None:
    slowest = max(survivals, key=lambda survival: survival.resumed_after)
    retried = sum(survival.attempt > 1 for survival in survivals)
    print(
        f"\nkills survived: {len(survivals)}, of them {retried} in the middle of an attempt; "
        f"slowest resume {slowest.resumed_after:.3f} s after registering (seed {slowest.seed})"
    )
    assert slowest.resumed_after < RESUME_SECONDS


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.timeout(240)
def test_a_killed_process_is_resumed_by_the_next_one(tmp_path: Path) -> None:
    """At 20 random instants: resumed in time, from the checkpoint, with the right result."""
    first = random.SystemRandom().randrange(1_000_000)
    print(f"\nseeds from {first}")
    _report(_survive_all(list(range(first, first + CI_KILLS)), tmp_path))


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_five_hundred_kills(tmp_path: Path) -> None:
    """The same at 500 instants."""
    _report(_survive_all(list(range(SOAK_KILLS)), tmp_path))
