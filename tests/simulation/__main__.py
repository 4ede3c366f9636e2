"""`python -m tests.simulation SEED [SQLITE_FOLDER]`: play a seed and print what happened.

`python -m tests.simulation FROM-TO`: play them on all processors, up to the first that fails.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dexnb.model.json_text import to_text
from tests.simulation.playing import play_everywhere
from tests.simulation.world import simulate

TELLS = 20
"""Chunks of seeds between two lines of figures."""


def main(seeds: str, folder: str = "") -> int:
    """Play one seed or a range; give the status of the process."""
    first, _, last = seeds.partition("-")
    if last:
        return play_range(range(int(first), int(last) + 1))
    return show(int(first), Path(folder) if folder else None)


def play_range(seeds: range) -> int:
    """Print figures now and then, and in the end."""
    whole = None
    for number, whole in enumerate(play_everywhere(seeds), 1):
        if number % TELLS == 0:
            print(whole, flush=True)
    if whole is None:
        print(f"no seeds in {seeds.start}-{seeds.stop - 1}")
        return 2
    print(f"from {seeds.start}: {whole}", *whole.wrong, sep="\n")
    return 1 if whole.wrong else 0


def show(seed: int, folder: Path | None) -> int:
    """Print the histories, then what is wrong with them."""
    outcome = simulate(seed, folder)
    for event in outcome.events:
        key = event.step_execution_id
        line = f"{event.time:.3f} {event.flow_id} {event.seq} {event.kind} {key} {event.attempt}"
        print(line, to_text(event.payload))
    print(f"seed {outcome.seed}: {outcome.attempts} attempts, {outcome.kills} kills")
    print(f"digest {outcome.digest}")
    print(*outcome.problems or ("no problem",), sep="\n")
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
