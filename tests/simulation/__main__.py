"""`python -m tests.simulation SEED [SQLITE_FOLDER]`: play a seed and print what happened."""

from __future__ import annotations

import sys
from pathlib import Path

from dexnb.model.json_text import to_text
from tests.simulation.world import simulate


def main(seed: str, folder: str = "") -> int:
    """Print the histories, then what is wrong with them."""
    outcome = simulate(int(seed), Path(folder) if folder else None)
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
