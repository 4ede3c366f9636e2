"""Medians of the rounds, and the tables that a person reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from tests.bench.case import Case, Figures

FSYNCS = "fsyncs"

UNITS = {
    "rate": "/s",
    "stored_rate": "stored/s",
    "cpu_us": "us CPU each",
    "stored_cpu_us": "us CPU each stored",
    FSYNCS: "fsyncs each",
    "p50_ms": "ms p50",
    "p99_ms": "ms p99",
    "cores": "cores",
    "share": "of those due",
    "lag_p50_ms": "ms lag p50",
    "lag_p99_ms": "ms lag p99",
    "kb_each": "kB each",
    "seconds": "s",
}


def medians(rounds: Iterable[Figures]) -> dict[str, Any]:
    """Give the median of each figure; what is no number is taken from the last round."""
    kept = list(rounds)
    result = dict(kept[-1])
    for name, value in kept[-1].items():
        if isinstance(value, int | float):
            result[name] = median(figures[name] for figures in kept)
    return result


def verdicts(case: Case, figures: Mapping[str, Figures]) -> list[dict[str, Any]]:
    """Give each goal with its value and whether it is reached; without the shim, no fsyncs."""
    judged = []
    for goal in case.goals:
        if goal.figure not in figures[goal.of] and goal.figure == FSYNCS:
            continue
        value = goal.value(figures)
        judged.append(
            {
                "case": case.name,
                "goal": goal.text,
                "value": value,
                "bound": goal.bound,
                "at_most": goal.less_is_better,
                "reached": goal.reached(value),
            }
        )
    return judged


def show_case(case: Case, figures: Mapping[str, Figures]) -> None:
    """Print what each program gave."""
    print(f"\n{case.title}")
    for program in case.programs:
        mine = figures[program.name]
        shown = [f"{number(mine[name])} {UNITS[name]}" for name in case.shown if name in mine]
        shown += [f"Python {mine['python']}"] if "python" in mine else []
        print(f"  {program.name:<20} {', '.join(shown)}")
        if "settings" in mine:
            said = mine["settings"]
            names = ("journal_mode", "synchronous", "sqlite")
            print(f"  {'':<20} {', '.join(f'{name} {said[name]}' for name in names)}")
        for failure in mine.get("failures", ()):
            print(f"  {'':<20} a try failed: {failure.splitlines()[-1]}")


def show_verdicts(judged: Iterable[Mapping[str, Any]]) -> None:
    """Print the ratios beside their floors."""
    print(f"\n{'case':<14}{'what':<26}{'value':>10}  {'must be':<12}reached")
    for goal in judged:
        bound = f"{'<=' if goal['at_most'] else '>='} {number(goal['bound'])}"
        reached = "yes" if goal["reached"] else "NO"
        print(
            f"{goal['case']:<14}{goal['goal']:<26}{number(goal['value']):>10}  {bound:<12}{reached}"
        )


def number(value: float) -> str:
    """Give three figures, without an exponent."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.5f}"
