"""Fractions of a second, which matter to Dex alone."""

from __future__ import annotations

import pytest

from dexnb.lint import LintSettings, lint_paths
from tests.lint.marks import DATA, marked, shown
from tests.lint.texts import poll, said

FILE = DATA / "fractional-seconds/bad_dex.py"


def test_they_are_found_where_the_flow_is_to_run_on_dex() -> None:
    """Options, retry policies, Timers and the options that a decision gives, each on its line."""
    found = lint_paths([FILE], settings=LintSettings(target="dex")).findings
    assert shown(found) == marked(FILE, "dex")
    assert {each.severity for each in found} == {"note"}


def test_dexnb_takes_them() -> None:
    """Without the target nothing is said."""
    assert lint_paths([FILE]).findings == ()


TWO = """
        quick = RetryPolicy(initial_interval=timedelta(seconds=2))
        return StepOptions(
            wait_for_retry=RetryPolicy(
                initial_interval=timedelta(seconds=2.5),  # wait_for
            ),
            execute_retry={execute},
        )
"""


@pytest.mark.parametrize(
    ("execute", "places"),
    [
        ("quick", 1),
        ("RetryPolicy(initial_interval=timedelta(seconds=0.5))", 2),
        ("SHARED", 2),
    ],
)
def test_of_two_policies_the_one_is_named_that_has_it(execute: str, places: int) -> None:
    """Each on its own line, though both set the same option; a shared one where it is given."""
    text = poll("SHARED = RetryPolicy(initial_interval=timedelta(seconds=1.5))")
    text = text.replace("        return StepOptions()\n", TWO.format(execute=execute))
    numbered = list(enumerate(text.splitlines(), 1))
    lines = [
        at for mark in ("# wait_for", "execute_retry") for at, line in numbered if mark in line
    ]
    found = said(text, ["DX206"], LintSettings(target="dex"))
    assert sorted(each.place.line for each in found) == lines[:places]
