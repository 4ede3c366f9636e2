"""What the graph and the registry say of a Flow, as findings: places, nodes, live and from text."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from dexnb.errors import FlowDefinitionError
from dexnb.lint import LintSettings, lint_flow, lint_paths
from dexnb.model.finding import Finding
from tests.lint.wrong_flow import Wrong

FILE = Path(inspect.getfile(Wrong))


def line_of(text: str) -> int:
    """Give the line of the Flow's file that has a text."""
    lines = FILE.read_text("utf-8").splitlines()
    return next(at for at, line in enumerate(lines, 1) if text in line)


def facts(found: list[Finding]) -> set[tuple[str, str, int]]:
    """Give code, node and line of each."""
    return {(each.code, each.node, each.place.line) for each in found}


WANTED = {
    ("DX401", "step:Left", line_of("def get_step_options") + 4),
    ("DX402", "resource:stream:Unused", line_of("of(USED, UNUSED)")),
    ("DX403", "step:Begin", line_of("# stray")),
    ("DX403", "step:Begin", line_of("OTHER.get(")),
}


def test_each_stands_at_its_line_and_its_node() -> None:
    """Of a live Flow that cannot be registered too: all is said at once, and nothing is raised."""
    found = lint_flow(Wrong())
    assert facts(found) >= WANTED
    (invalid,) = (each for each in found if each.code == "DX405")
    assert "Wrong.Left.execute_retry.backoff_coefficient is 0.5" in invalid.message
    assert (invalid.node, invalid.severity) == ("step:Left", "error")
    assert invalid.place.line == line_of("def get_step_options")
    assert {each.code for each in found} == {"DX401", "DX402", "DX403", "DX405"}


def test_a_text_says_the_same() -> None:
    """Codes, nodes and messages; lines too, but for an option that stands at its Step's class."""
    live = lint_flow(Wrong())
    still = list(lint_paths([FILE]).findings)
    assert facts(still) >= WANTED
    assert sorted(each.message for each in still) == sorted(each.message for each in live)
    assert {each.place.path for each in still} == {str(FILE)}


def test_what_is_no_flow_is_refused() -> None:
    """A class in place of its instance is the caller's mistake and no finding."""
    flow: Any = Wrong
    with pytest.raises(
        FlowDefinitionError, match=r"give an instance of a Flow subclass: Wrong\(\)"
    ):
        lint_flow(flow)


def test_the_smallest_heartbeat_is_a_setting() -> None:
    """A runtime for demonstrations may allow less."""
    path = Path(__file__).parents[2] / "data/lint/heartbeat-under-minimum/bad.py"
    for least, number in ((10, 3), (5, 1), (4, 0)):
        found = lint_paths([path], settings=LintSettings(minimum_heartbeat=least)).findings
        assert len([each for each in found if each.code == "DX205"]) == number


def test_a_flow_that_cannot_be_made_is_said_to_be_hidden(tmp_path: Path) -> None:
    """What hides a whole Flow is reported too; a cell of another language is only a problem."""
    cells = [
        "from dexnb import *\nfrom plans import steps",
        "class Planned(Flow[str]):\n    def get_steps(self):\n        return steps()",
        "class Never(Flow[str]):\n    def get_steps(self):\n        raise NotImplementedError",
        "%%bash\nls",
    ]
    made = [
        {"cell_type": "code", "id": f"c{number}", "metadata": {}, "source": cell, "outputs": []}
        for number, cell in enumerate(cells)
    ]
    path = tmp_path / "planned.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}))
    report = lint_paths([path])
    hidden = [each for each in report.findings if each.code == "DX404"]
    assert {each.place.cell for each in hidden} >= {"c1"}
    assert {each.verdict for each in hidden} == {"cannot tell"}
    assert [(each.kind, each.place.cell) for each in report.problems] == [("skipped", "c3")]
    silenced = LintSettings(ignored=frozenset({"hidden-definition"}))
    assert all(each.code != "DX404" for each in lint_paths([path], settings=silenced).findings)


def test_a_step_without_a_source_is_said_to_be_hidden() -> None:
    """Made by exec: what it decides is unknown, and so is whether it is right."""
    space: dict[str, Any] = {}
    text = (
        "from dexnb import *\n"
        "class Made(Step[str]):\n"
        "    def execute(self, context: Context, input: str) -> StepDecision:\n"
        "        return graceful_complete()\n"
        "class Making(Flow[str]):\n"
        "    def get_steps(self):\n"
        "        return StepList.start_step(Made())\n"
    )
    exec(text, space)  # noqa: S102 - as a kernel without IPython does
    (found,) = lint_flow(space["Making"]())
    assert (found.code, found.verdict, found.node) == ("DX404", "cannot tell", "step:Made")
