"""Fractions of a second, which matter to Dex alone."""

from __future__ import annotations

from dexnb.lint import LintSettings, lint_paths
from tests.lint.marks import DATA, marked, shown

FILE = DATA / "fractional-seconds/bad_dex.py"


def test_they_are_found_where_the_flow_is_to_run_on_dex() -> None:
    """Options, retry policies, Timers and the options that a decision gives, each on its line."""
    found = lint_paths([FILE], settings=LintSettings(target="dex")).findings
    assert shown(found) == marked(FILE, "dex")
    assert {each.severity for each in found} == {"note"}


def test_dexnb_takes_them() -> None:
    """Without the target nothing is said."""
    assert lint_paths([FILE]).findings == ()
