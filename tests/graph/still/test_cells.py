"""Notebooks as text: cells as IPython has them, with their lines, columns and ids."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from dexnb.graph import read_source
from dexnb.graph.still.cells import python_of
from dexnb.model.finding import Place
from tests.graph.still.texts import END, HEAD, write_notebook

FLOW = """class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(End())
"""
LINES = [
    ("%matplotlib inline", "pass"),
    ("    %time f(1)", "    pass"),
    ("!ls -l | grep 'it", "pass"),
    ("files = !ls", "files = __magic__"),
    ("a, b = %who_ls", "a, b = __magic__"),
    ("?print", "pass"),
    ("print?", "pass"),
    ("a.b??", "pass"),
    ("x = 1; y = 2;", "x = 1; y = 2;"),
    ("z = 7 %2", "z = 7 %2"),
    ("w = '%x' != '!y'", "w = '%x' != '!y'"),
]


@pytest.mark.parametrize(("line", "python"), LINES)
def test_a_line_that_is_no_python_becomes_one_that_does_nothing(line: str, python: str) -> None:
    """Beside one that cannot be parsed otherwise, so that each is looked at."""
    code, skipped = python_of(f"%who\nif True:\n    pass\n{line}\nlast = 1")
    assert code.split("\n") == ["pass", "if True:", "    pass", python, "last = 1"]
    assert skipped == ""


def test_signs_of_magics_inside_texts_and_brackets_are_python() -> None:
    """A continued expression or text may begin a line with a percent sign."""
    text = (
        'x = (7\n%2)\ny = """\n!text\n%more """\nz = 7 \\\n%2\n!ls \\\n  more\nlast = {\n"a":\n1}'
    )
    code, _ = python_of(text)
    assert code == text.replace("!ls \\\n  more", "pass\n")


@pytest.mark.parametrize("magic", ["%%time", "%%timeit -n 1", "%%capture out", "\n\n%%time"])
def test_a_timed_cell_keeps_its_body_and_its_lines(magic: str, tmp_path: Path) -> None:
    """What stands below the magic is read, and the lines are those of the cell."""
    file = write_notebook(tmp_path / "n.ipynb", HEAD + END, f"{magic}\n{FLOW}")
    reading = read_source(file)
    lines = magic.count("\n") + 2
    assert [flow.place for flow in reading.flows] == [
        Place(str(file), "c2", lines, 0, lines + 2, 41)
    ]
    assert reading.problems == ()


@pytest.mark.parametrize(
    "magic", ["bash", "html", "writefile x.py", "javascript", "sql", "unknown"]
)
def test_a_cell_of_another_language_is_skipped_and_said_so(magic: str, tmp_path: Path) -> None:
    """The cells around it are read."""
    file = write_notebook(tmp_path / "n.ipynb", HEAD + END, f"%%{magic}\nclass F(:", FLOW)
    reading = read_source(file)
    assert [flow.registered.flow_type for flow in reading.flows] == ["F"]
    assert [(each.kind, each.place.cell) for each in reading.problems] == [("skipped", "c2")]


def test_c09_a_cell_that_cannot_be_parsed_is_reported_and_the_rest_read(tmp_path: Path) -> None:
    """With the cell and the line."""
    file = write_notebook(tmp_path / "n.ipynb", HEAD + END, "x = 1\nclass F(:", FLOW, "y = (")
    reading = read_source(file)
    assert [flow.registered.flow_type for flow in reading.flows] == ["F"]
    found = [(each.kind, each.place.cell, each.place.line) for each in reading.problems]
    assert found == [("not-parsed", "c2", 2), ("not-parsed", "c4", 1)]


def test_names_of_other_cells_are_known_and_the_last_definition_wins(tmp_path: Path) -> None:
    """In the order of the cells, as when all are run."""
    step = """class S(Step[int]):
    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        await asyncio.sleep(PAUSE.total_seconds())
        return {what}
"""
    flow = FLOW.replace("End", "S")
    file = write_notebook(
        tmp_path / "n.ipynb",
        "#md A title",
        HEAD,
        "PAUSE = timedelta(seconds=2)",
        step.format(what="graceful_complete()"),
        flow,
        "",
        "# only a comment",
        "await asyncio.sleep(0)",
        step.format(what="go_to(S, input)"),
        "PAUSE = timedelta(seconds=5)",
        flow,
    )
    reading = read_source(file)
    assert reading.problems == ()
    assert [found.place.cell for found in reading.flows] == ["c11"]
    graph = reading.flows[0].graph
    assert [edge.id for edge in graph.edges] == ["transition:S:S"]
    assert [timing.value for timing in graph.nodes[0].timings] == [5.0]


def test_a_notebook_without_ids_names_its_cells_by_number(tmp_path: Path) -> None:
    """All cells count, from 1."""
    file = write_notebook(tmp_path / "n.ipynb", "#md A", HEAD + END, FLOW, ids=False)
    assert [flow.place.cell for flow in read_source(file).flows] == ["cell 3"]


def test_a_notebook_of_another_language_is_said_to_be_one(tmp_path: Path) -> None:
    """Nothing of it is read."""
    file = write_notebook(tmp_path / "n.ipynb", "x <- 1", kernelspec={"language": "R"})
    problems = read_source(file).problems
    assert [each.kind for each in problems] == ["not-parsed"]
    assert "notebook of R" in problems[0].message


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"nbformat": 3}', "[" * 100_000, '{"a": 1'])
def test_what_is_no_notebook_is_a_problem(text: str, tmp_path: Path) -> None:
    """However broken."""
    file = tmp_path / "n.ipynb"
    file.write_text(text)
    assert [each.kind for each in read_source(file).problems] == ["not-parsed"]


def test_columns_are_counted_in_characters(tmp_path: Path) -> None:
    """Syntax trees count bytes."""
    cell = "x = 'äöü'; " + FLOW.replace("\n    ", "\n    ")
    file = tmp_path / "n.ipynb"
    cells = [{"cell_type": "code", "source": HEAD + END}, {"cell_type": "code", "source": cell}]
    file.write_text(json.dumps({"nbformat": 4, "cells": cells}))
    reading = read_source(file)
    assert [each.kind for each in reading.problems] == ["not-parsed"]
    flow = read_source(
        f"{HEAD}{END}\nx = 'äöü'\nif 'ä':\n    y = 'ö' if 'ü' else open('ß')\n{FLOW}"
    )
    unit = flow.units[0]
    calls = [node for node in ast.walk(unit.tree) if isinstance(node, ast.Call)]
    call = next(node for node in calls if ast.unparse(node.func) == "open")
    assert unit.lines[call.lineno - 1][unit.place(call).column :] == "open('ß')"


MAIN = [
    ('__name__ == "__main__"', "cell"),
    ('__name__ != "__main__"', "file"),
    ('__name__ == "flow"', "file"),
    ('__name__ != "flow"', "cell"),
    ('__name__ in ("__main__", "x")', "cell"),
]


@pytest.mark.parametrize(("test", "true_in"), MAIN)
def test_a_cell_is_what_is_run_and_a_file_is_what_is_imported(
    test: str, true_in: str, tmp_path: Path
) -> None:
    """A condition says so by its sign and by what stands on its right side."""
    text = f"X = 1\nif {test}:\n    X = 2\n"
    (tmp_path / "flow.py").write_text(text)
    found = {
        "cell": read_source(write_notebook(tmp_path / "flow.ipynb", text)),
        "file": read_source(tmp_path / "flow.py"),
    }
    told = {where: reading.module.get("X") for where, reading in found.items()}
    assert told == {where: 2 if where == true_in else 1 for where in found}
