"""Playing on all processors: everything once, up to the first seed that fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.simulation.playing import Played, play_everywhere

ROOT = Path(__file__).parents[2]


def play_badly(seeds: range) -> Played:
    """Give a chunk in which the seed 12 fails."""
    wrong = ("seed 12",) if 12 in seeds else ()
    return Played(len(seeds), 0, 0, wrong, 1.0)


def test_the_first_seed_that_fails_is_the_last_that_is_told_of() -> None:
    """Chunks come in their order, and those behind it are not played for nothing."""
    told = list(play_everywhere(range(1000), 2, play_badly, chunk=5))
    assert [(each.seeds, each.wrong) for each in told] == [(5, ()), (10, ()), (15, ("seed 12",))]


def test_a_range_of_seeds_is_played_to_its_last() -> None:
    """The last one is among them; the figures are printed."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.simulation", "5-7"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert told.stdout.startswith("from 5: 3 seeds: ")
    assert told.stdout.endswith(" seeds/s, 0 wrong\n")
