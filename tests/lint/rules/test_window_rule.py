"""The window rule as the linter judges it: its numbers, and how they are come by."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from dexnb.lint import LintSettings, lint_flow, lint_paths
from dexnb.model.finding import Finding
from tests.lint.slow_poll import Awaiting
from tests.lint.texts import poll, said

FILE = Path(inspect.getfile(Awaiting))


def window(text: str, settings: LintSettings | None = None) -> list[Finding]:
    """Give the findings of this rule."""
    return said(text, {"DX201"}, settings)


@pytest.mark.parametrize(
    ("head", "sleep"),
    [
        ("", "40"),
        ("INTERVAL = timedelta(seconds=40)", "INTERVAL.total_seconds()"),
        ("MINUTES = 1", "MINUTES * 60 - 20"),
        ("A = timedelta(minutes=1)\nB = A - timedelta(seconds=20)", "B / timedelta(seconds=1)"),
    ],
)
def test_a33_equality_is_accepted_and_a_thousandth_more_is_not(head: str, sleep: str) -> None:
    """Window 60 s, call 10 s: 40 s is legal, whichever way it is written."""
    assert window(poll(head, sleep=sleep)) == []
    (found,) = window(poll(head, sleep=f"{sleep} + 0.001"))
    assert (found.verdict, found.severity) == ("found", "error")
    assert "interval 40.001 s is over 40 s = 60 - 10 - 10" in found.message
    assert found.hint.startswith("sleep at most 40 s")
    assert found.fix is None


@pytest.mark.parametrize(("heartbeat", "smallest"), [(10, 25), (15, 25), (20, 25)])
def test_a33_where_no_interval_is_legal_the_smallest_window_is_named(
    heartbeat: int, smallest: int
) -> None:
    """Window 10 to 20 s, call 10 s: no interval is offered that is zero or less."""
    options = f"heartbeat_timeout=timedelta(seconds={heartbeat})"
    (found,) = window(poll(options=options))
    assert "no interval fits" in found.message
    assert f"raise heartbeat_timeout to at least {smallest} s" in found.message
    assert found.hint == f"give the Step a heartbeat_timeout of at least {smallest} s"


def test_the_margin_is_a_setting() -> None:
    """Without a margin 50 s fit, with one of 30 s no more than 20 s do."""
    assert window(poll(sleep="50"), LintSettings(margin=0)) == []
    (found,) = window(poll(sleep="21"), LintSettings(margin=30))
    assert "over 20 s = 60 - 30 - 10" in found.message


def test_c09_constants_of_another_cell_count(tmp_path: Path) -> None:
    """The interval, the call timeout and the window stand in three cells of a notebook."""
    flow = poll(options="heartbeat_timeout=WINDOW", call="CALL", sleep="INTERVAL.total_seconds()")
    cells = [
        "%load_ext dexnb\nfrom datetime import timedelta\nCALL = 7",
        "!ls\nWINDOW = timedelta(seconds=30)\nINTERVAL = WINDOW / 2",
        f"%%time\n{flow.replace('from __future__ import annotations', '')}",
    ]
    made = [
        {"cell_type": "code", "id": f"c{number}", "metadata": {}, "source": cell, "outputs": []}
        for number, cell in enumerate(cells)
    ]
    path = tmp_path / "flow.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}))
    found = [each for each in lint_paths([path]).findings if each.code == "DX201"]
    assert [(each.place.cell, each.verdict) for each in found] == [("c2", "found")]
    assert "interval 15 s is over 13 s = 30 - 10 - 7" in found[0].message


def test_constants_of_a_module_beside_it_count(tmp_path: Path) -> None:
    """They are found without importing it."""
    (tmp_path / "timings.py").write_text("raise SystemExit\nINTERVAL = 41\n")
    (tmp_path / "limits.py").write_text("INTERVAL = 41\n")
    path = tmp_path / "flow.py"
    path.write_text(poll("from limits import INTERVAL", sleep="INTERVAL"))
    found = [each for each in lint_paths([path]).findings if each.code == "DX201"]
    assert [each.verdict for each in found] == ["found"]


@pytest.mark.parametrize(
    ("sleep", "call", "text"),
    [
        ("job.again", "10", "it cannot be told how long this interval is: it may be 40 s at most"),
        ("5", "job.limit", "interval and call may take 50 s together"),
        ("float(input)", "job.limit", "interval and call may take 50 s together"),
    ],
)
def test_what_is_not_known_cannot_be_told(sleep: str, call: str, text: str) -> None:
    """It is a warning that says what would be legal."""
    (found,) = window(poll(before="job = None", sleep=sleep, call=call))
    assert (found.verdict, found.severity) == ("cannot tell", "warning")
    assert text in found.message


def test_what_no_call_timeout_could_save_is_found_without_one() -> None:
    """A sleep of 51 s leaves no time for any call."""
    (found,) = window(poll(call="None", sleep="51"))
    assert found.verdict == "found"


def test_a_live_flow_is_judged_as_its_text_is() -> None:
    """The same finding at the same line, at the node of its Step."""
    live = [each for each in lint_flow(Awaiting()) if each.code == "DX201"]
    still = [each for each in lint_paths([FILE]).findings if each.code == "DX201"]
    lines = FILE.read_text("utf-8").splitlines()
    line = next(at for at, text in enumerate(lines, 1) if text.endswith("# here"))
    assert [each.place.line for each in live] == [each.place.line for each in still] == [line]
    assert live[0].message == still[0].message
    assert live[0].node == "step:Await"
