"""`python -m tests.bench`: dexnb beside its peers, in turn, in one run. `make bench` runs it."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench.case import Case
from tests.bench.cases import cases
from tests.bench.machine import machine
from tests.bench.place import HERE, PLACES, python, shim
from tests.bench.process import ProgramFailed, run
from tests.bench.report import medians, show_case, show_verdicts, verdicts


def main() -> None:
    """Measure, show, write; the status is 1 when a program failed."""
    asked = _asked()
    missing = [place for place in PLACES if not python(place).exists()]
    if missing:
        sys.exit(f"no environment for {', '.join(missing)}: run `python -m tests.bench.place`")
    preloaded = shim()
    if preloaded is None:
        print("No C compiler for Linux here: fsyncs are not counted, slow-disk is skipped")
    if asked.quick:
        print("A tenth of each size: no figure here is worth quoting")
    result = _measured(asked, preloaded)
    show_verdicts(result["goals"])
    Path(asked.json).write_text(json.dumps(result, indent=2) + "\n")
    print(f"\nAll rounds are in {asked.json}")
    if result["failed"]:
        sys.exit("\n".join(f"{name}: {error}" for name, error in result["failed"].items()))


def _measured(asked: argparse.Namespace, preloaded: Path | None) -> dict[str, Any]:
    chosen = [c for c in cases(quick=asked.quick) if not asked.only or c.name in asked.only]
    result: dict[str, Any] = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": asked.quick,
        "machine": machine(),
        "goals": [],
        "cases": {},
        "failed": {},
    }
    for key, value in result["machine"].items():
        print(f"{key}: {value}")
    for case in chosen:
        if case.needs_shim and preloaded is None:
            continue
        try:
            rounds = _rounds(case, asked.rounds, preloaded)
        except ProgramFailed as failed:
            print(f"\n{case.title}\n  {failed}")
            result["failed"][case.name] = str(failed)
            continue
        figures = {name: medians(given) for name, given in rounds.items()}
        show_case(case, figures)
        result["cases"][case.name] = {
            program.name: {
                "asked": program.asked,
                "fsync_ms": program.fsync_ms,
                "rounds": rounds[program.name],
            }
            for program in case.programs
        }
        result["goals"] += verdicts(case, figures)
    return result


def _rounds(case: Case, count: int, preloaded: Path | None) -> dict[str, list[dict[str, Any]]]:
    """Give the figures of each program; they take turns, and another one begins each round."""
    rounds: dict[str, list[dict[str, Any]]] = {program.name: [] for program in case.programs}
    for number in range(count):
        first = number % len(case.programs)
        for program in case.programs[first:] + case.programs[:first]:
            rounds[program.name].append(run(program, preloaded))
    return rounds


def _asked() -> argparse.Namespace:
    names = [case.name for case in cases()]
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=names, help="one case; may be repeated")
    parser.add_argument("--rounds", type=int, default=3, help="of which medians are shown")
    parser.add_argument("--json", default=str(HERE / "bench.json"), help="where all rounds go")
    parser.add_argument("--quick", action="store_true", help="a tenth: proves only that it runs")
    return parser.parse_args()


if __name__ == "__main__":
    main()
