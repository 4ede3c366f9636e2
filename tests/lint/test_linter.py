"""The linter as a whole: live Flows and texts, files and notebooks, settings, speed."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from dexnb.errors import DefinitionError
from dexnb.lint import LintSettings, explain, lint_flow, lint_paths, lint_text, rules
from tests.lint.marks import DATA, SHAPES, marked, shown

DROPPED = DATA / "dropped-output/bad.py"
SWALLOWING = SHAPES / "f06_swallowing.py"


def loaded(path: Path) -> ModuleType:
    """Import a file."""
    spec = importlib.util.spec_from_file_location(f"lint_{path.stem}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_live_flow_is_judged_as_its_text() -> None:
    """The same codes on the same lines; findings carry the Flow and the Step's node."""
    found = lint_flow(loaded(DROPPED).Counting())
    assert shown(found) == marked(DROPPED)
    assert {each.flow for each in found} == {"Counting"}
    assert found[0].node == "step:CountInAPlainStep"
    assert found[0].place.path.endswith("bad.py")


def test_a_plain_steps_message_is_dropped_by_dex_alone() -> None:
    """Where dexnb sends at once, Dex needs a generator."""
    good = DATA / "dropped-output/good.py"
    assert lint_paths([good]).findings == ()
    found = lint_paths([good], settings=LintSettings(target="dex")).findings
    assert [each.code for each in found] == ["DX313"]


def test_rules_are_chosen_by_code_or_name() -> None:
    """What is ignored is left out of what is selected."""
    chosen = LintSettings(selected=frozenset({"DX104", "errors-swallowed"}))
    assert [each.code for each in lint_paths([SWALLOWING], settings=chosen).findings] == [
        "DX104",
        "DX307",
    ]
    without = LintSettings(selected=chosen.selected, ignored=frozenset({"unbounded-call"}))
    assert [each.code for each in lint_paths([SWALLOWING], settings=without).findings] == ["DX307"]


def test_there_is_a_page_for_each_rule_and_none_for_others() -> None:
    """An unknown code is refused with the list of the known ones."""
    assert len(rules()) >= 17
    with pytest.raises(DefinitionError, match="DX104 unbounded-call"):
        explain("DX999")


def test_folders_are_searched_and_hidden_ones_are_not(tmp_path: Path) -> None:
    """Files come in the order of their names; what is no source is left alone."""
    text = SWALLOWING.read_text("utf-8")
    for name in ("b.py", "a/c.py", ".venv/d.py", "a/notes.txt", "__pycache__/e.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    report = lint_paths([tmp_path, tmp_path / "b.py"])
    assert report.files == (str(tmp_path / "a/c.py"), str(tmp_path / "b.py"))
    assert report.flows == ("Observing", "Observing")
    assert len(report.findings) == 2 * len(marked(SWALLOWING))


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    """A path that is misspelt gives no silent success."""
    found = lint_paths([tmp_path / "nothing.py"]).findings
    assert [each.code for each in found] == ["DX900"]


def notebook(*cells: str) -> str:
    """Give a notebook's text."""
    made = [
        {"cell_type": "code", "id": f"c{number}", "metadata": {}, "source": cell, "outputs": []}
        for number, cell in enumerate(cells)
    ]
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}
    return json.dumps(document)


def test_c09_a_notebook_is_judged_cell_by_cell(tmp_path: Path) -> None:
    """A timed cell too; a broken cell is reported; a comment before all is for its cell alone."""
    text = SWALLOWING.read_text("utf-8")
    head, body = text.split("\n\nclass AwaitExposure")
    step, flow = body.split("\n\nclass Observing")
    cells = (
        head,
        "%matplotlib inline\n!ls",
        "this is no Python",
        f"%%time\nclass AwaitExposure{step}",
        f"class Observing{flow}",
    )
    path = tmp_path / "flows.ipynb"
    path.write_text(notebook(*cells), "utf-8")
    found = lint_paths([path]).findings
    assert {each.place.cell for each in found if each.code == "DX900"} == {"c2"}
    assert {each.code for each in found if each.place.cell == "c3"} == {
        code.rstrip("?") for _, code in marked(SWALLOWING)
    }
    silenced = (*cells[:3], f"# dexnb: ignore\nclass AwaitExposure{step}", cells[4])
    path.write_text(notebook(*silenced), "utf-8")
    assert {each.code for each in lint_paths([path]).findings} == {"DX900"}


DEEPEST = "DX404" if sys.version_info >= (3, 13) else "DX900"
"""Python 3.13 parses what those before it refuse, so that the reader is the one to give up."""


@pytest.mark.parametrize(("size", "code"), [(600, "DX902"), (3000, DEEPEST)])
def test_what_is_nested_too_deeply_is_reported(size: int, code: str, tmp_path: Path) -> None:
    """Neither a traceback nor silence: one finding for it, and the rest is judged."""
    text = SWALLOWING.read_text("utf-8")
    head, tail = text.split("        try:\n            while True", 1)
    deep = f"        total = {' + '.join(['input'] * size)}\n"
    (tmp_path / "deep.py").write_text(f"{head}{deep}        try:\n            while True{tail}")
    (tmp_path / "plain.py").write_text(text)
    found = lint_paths([tmp_path]).findings
    assert [each.code for each in found if each.place.path.endswith("deep.py")] == [code]
    assert len(found) == 1 + len(marked(SWALLOWING))


@pytest.mark.timing
def test_many_files_are_linted_in_a_moment(tmp_path: Path) -> None:
    """300 files, of which each second one holds a Flow, in less than 5 s of processor time."""
    flows = [path.read_text("utf-8") for path in sorted(SHAPES.glob("*.py"))]
    for number in range(300):
        text = flows[number // 2 % len(flows)] if number % 2 else "VALUE = 1\n" * 100
        (tmp_path / f"file_{number:03}.py").write_text(text, "utf-8")
    began = time.process_time()
    report = lint_paths([tmp_path])
    assert time.process_time() - began < 5
    assert len(report.files) == 300
    assert len(report.flows) > 100


def test_a_text_is_reported_as_the_file_that_it_becomes(tmp_path: Path) -> None:
    """Findings, Flows and cells of other languages alike; what is a finding is no problem too."""
    hidden = "\nclass Other(Flow[str]):\n    pass\n"
    text = notebook(SWALLOWING.read_text("utf-8") + hidden, "%%bash\nls")
    path = tmp_path / "flows.ipynb"
    path.write_text(text, "utf-8")
    report = lint_text(text, path=str(path))
    assert report == lint_paths([path])
    assert [each.kind for each in report.problems] == ["skipped"]
