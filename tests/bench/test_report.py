"""The bench itself: what it compares, and that it keeps no figure of a program that fails."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.bench.case import Goal, Program
from tests.bench.cases import cases
from tests.bench.place import PLACES, THIS
from tests.bench.process import ProgramFailed, run
from tests.bench.report import medians, number

FIGURES = {"a": {"rate": 30.0}, "b": {"rate": 2.0}, "c": {"rate": 3.0, "other": 60.0}}


def test_a_ratio_is_to_the_best_of_the_others() -> None:
    """The largest rate of the peers counts, or the smallest time."""
    most = Goal("", "a", "rate", 10, ("b", "c"))
    least = Goal("", "a", "rate", 10, ("b", "c"), less_is_better=True)
    assert (most.value(FIGURES), least.value(FIGURES)) == (10.0, 15.0)
    assert (most.reached(10.0), most.reached(9.9)) == (True, False)
    assert (least.reached(10.0), least.reached(10.1)) == (True, False)


def test_a_goal_may_name_another_figure_or_none() -> None:
    """Their figure may have another name; without others the figure itself is judged."""
    assert Goal("", "a", "rate", 1, ("c",), "other").value(FIGURES) == 0.5
    assert Goal("", "a", "rate", 1).value(FIGURES) == 30.0


def test_the_median_is_of_each_figure() -> None:
    """Text and settings are those of the last round."""
    rounds = [{"rate": rate, "says": str(rate)} for rate in (1.0, 9.0, 4.0)]
    assert medians(rounds) == {"rate": 4.0, "says": "4.0"}


@pytest.mark.parametrize("quick", [False, True])
def test_every_case_names_what_there_is(quick: bool) -> None:
    """Its programs exist, its goals speak of its programs, and names are used once."""
    every = cases(quick=quick)
    assert len({case.name for case in every}) == len(every)
    for case in every:
        names = [program.name for program in case.programs]
        assert len(set(names)) == len(names)
        assert {name for goal in case.goals for name in (goal.of, *goal.beside)} <= set(names)
        for program in case.programs:
            assert program.place in PLACES
            assert find_spec(f"tests.bench.programs.{program.module}") is not None


def test_a_program_that_fails_gives_no_figure() -> None:
    """It is tried again, and then its last words are the error."""
    with pytest.raises(ProgramFailed, match=r"(?s)lost failed 3 times.*No module named"):
        run(Program("lost", THIS, "none_of_that_name"), None)


def test_numbers_are_readable() -> None:
    """Three figures, never an exponent."""
    shown = [number(value) for value in (1234567.0, 12.345, 0.0125, 0.0000625)]
    assert shown == ["1,234,567", "12.3", "0.0125", "0.00006"]
