"""The ratios of the bench that need no peer, small enough for every change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench.case import Case, Figures, Goal, Program
from tests.bench.place import THIS, shim
from tests.bench.process import run
from tests.bench.report import medians, show_case, show_verdicts, verdicts

pytestmark = [pytest.mark.timing, pytest.mark.slow]

# Each goal is the least that a quiet machine of two cores has shown, less 30 %; what it does in a
# second differs by half from one minute to the next.
MOST_ROUNDS = 3
FLOWS = {"flows": 1500, "steps": 1, "in_flight": 1000}
BEATS = {"pollers": 1000, "interval": 0, "seconds": 1.0}
POLLS = {"pollers": 1000, "interval": 0.02, "seconds": 1.5}
MANY = {"pollers": 1000, "interval": 0.5, "seconds": 2.0, "burden": "none"}

CASES = (
    Case(
        "flows",
        "1-step flows/s beside commits of one row",
        ("rate", "cpu_us", "fsyncs"),
        (
            Program("raw commits", THIS, "raw_commits", {"commits": 500}),
            Program("dexnb", THIS, "dexnb_flows", FLOWS),
        ),
        (
            Goal("dexnb : raw commits", "dexnb", "rate", 0.2, ("raw commits",)),
            Goal("fsyncs of a flow", "dexnb", "fsyncs", 0.05, less_is_better=True),
        ),
    ),
    Case(
        "heartbeats",
        "durable heartbeats/s beside executemany",
        ("rate", "stored_rate", "cpu_us"),
        (
            Program("raw executemany", THIS, "raw_beats", {"beats": 50_000}),
            Program("provider alone", THIS, "provider_beats", {"tasks": 1000, "beats": 20_000}),
            Program("dexnb", THIS, "dexnb_rounds", BEATS),
        ),
        (
            Goal("stored : raw", "dexnb", "stored_rate", 0.006, ("raw executemany",), "rate"),
            Goal("provider : raw", "provider alone", "rate", 0.08, ("raw executemany",)),
        ),
    ),
    Case(
        "rounds",
        "poll rounds/s beside the bare loop",
        ("rate", "cpu_us"),
        (
            Program("bare loop", THIS, "bare_rounds", POLLS),
            Program("dexnb", THIS, "dexnb_rounds", POLLS),
        ),
        (Goal("dexnb : bare loop", "dexnb", "rate", 0.2, ("bare loop",)),),
    ),
    Case(
        "pollers",
        "1,000 pollers at 0.5 s",
        ("share", "cores", "lag_p99_ms", "kb_each"),
        (Program("dexnb", THIS, "dexnb_pollers", MANY),),
        (
            Goal("share of heartbeats", "dexnb", "share", 0.9),
            Goal("lag p99, ms", "dexnb", "lag_p99_ms", 100, less_is_better=True),
        ),
    ),
)


def judged_after(case: Case, rounds: list[dict[str, Figures]]) -> list[dict[str, Any]]:
    """Show the medians so far, and give what they reach."""
    figures = {p.name: medians([given[p.name] for given in rounds]) for p in case.programs}
    judged = verdicts(case, figures)
    show_case(case, figures)
    show_verdicts(judged)
    return judged


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_ratio_holds(case: Case) -> None:
    """One round is enough when it is good; else medians decide, for the machine may be busy."""
    preloaded, missed = shim(), ["not measured yet"]
    rounds: list[dict[str, Figures]] = []
    while missed and len(rounds) < MOST_ROUNDS:
        rounds.append({program.name: run(program, preloaded) for program in case.programs})
        missed = [g["goal"] for g in judged_after(case, rounds) if not g["reached"]]
    assert missed == []
