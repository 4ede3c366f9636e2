"""Every Flow of this repository has the same graph, alive and read from its text."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dexnb.errors import FlowDefinitionError
from dexnb.flow.registry import read_flow
from dexnb.graph import read_graph
from dexnb.graph.still import SourceReader, SourceReading
from dexnb.graph.still.notebook import read_cells
from dexnb.model.flow_graph import FlowGraph
from tests.graph import forms, more_forms

ROOT = Path(__file__).parents[3]
READER = SourceReader()
LEAST = 40
"""Flows that are compared at least, so that the search for them cannot come to nothing."""

OTHERWISE = {
    ("tests/simulation/flows.py", "ScriptedFlow"): "its Steps are set by a function beside it",
    ("tests/typing/api.py", "Polling"): "its folder is no package, so that its module has no name",
}
"""Flows that must not be compared, and why; those whose constructor needs arguments are known."""


def _files() -> Iterator[str]:
    for top in ("dexnb/examples", "tests"):
        for file in sorted((ROOT / top).rglob("*.py")):
            # What the linter is tried on imports systems that nobody has.
            if "(Flow" in file.read_text() and "data/lint" not in file.as_posix():
                yield file.relative_to(ROOT).as_posix()


def test_every_flow_of_a_file_has_the_graph_that_it_has_alive() -> None:
    """Examples, and all Flows of the tests that can be made without arguments."""
    compared = 0
    for path in _files():
        reading = READER.read(ROOT / path)
        for found in reading.flows:
            class_ = type(found.registered.flow).__qualname__
            if "." in class_ or (path, class_) in OTHERWISE:
                continue
            module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
            live = _live(module, class_)
            if live is not None:
                assert (path, found.graph) == (path, live)
                compared += 1
    assert compared >= LEAST


def _live(module: ModuleType, name: str) -> FlowGraph | None:
    """Give the graph of a Flow that can be made and registered here."""
    class_ = getattr(module, name)
    if any(each.default is each.empty for each in _parameters(class_)):
        return None
    try:
        return read_graph(class_())
    except FlowDefinitionError:
        # Its problems are those of another test.
        return None


def _parameters(class_: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(class_).parameters.values())


@pytest.mark.parametrize("module", [forms, more_forms])
def test_every_form_of_a_decision_has_the_graph_that_it_has_alive(module: ModuleType) -> None:
    """Each of them as the only Step of a Flow, beside those that it may lead to."""
    reading = READER.read(str(Path(module.__file__ or "").relative_to(ROOT)))
    given = _one_of(reading)
    steps = [step for step, _ in forms.FORMS if step.__module__ == module.__name__]
    assert len(steps) >= 14
    for step in steps:
        live = read_graph(forms.OneOf(step))
        written = read_graph(given(_class(reading, step.__qualname__)))
        assert _bare(written) == _bare(live)


def _class(reading: SourceReading, name: str) -> Any:
    found = [each for each in reading.module.classes if each.__qualname__ == name]
    assert found, name
    return found[-1]


def _one_of(reading: SourceReading) -> Any:
    """Give what makes the stand-in of the Flow that `forms` has for its Steps."""
    text = (
        READER.read("tests/graph/forms.py") if reading.path.endswith("more_forms.py") else reading
    )
    class_ = _class(text, "OneOf")
    return lambda step: READER.instance(class_, step)


def _bare(graph: FlowGraph) -> FlowGraph:
    return replace(graph, path="", diagnostics=tuple(each for each in graph.diagnostics))


@pytest.mark.parametrize("name", sorted(file.name for file in (ROOT / "notebooks").glob("*.ipynb")))
def test_every_flow_of_a_notebook_has_the_graph_that_it_has_alive(
    name: str, tmp_path: Path
) -> None:
    """What its cells define is run, and nothing of what they show."""
    path = ROOT / "notebooks" / name
    reading = READER.read(path)
    module = _run(path, tmp_path)
    assert reading.flows
    for found in reading.flows:
        class_ = type(found.registered.flow).__qualname__
        given = [None for each in _parameters(module[class_]) if each.default is each.empty]
        flow = read_flow(module[class_](*given), minimum_heartbeat=0)
        live = replace(read_graph(flow), path=name)
        assert _without_paths(found.graph) == _without_paths(live)


def _without_paths(graph: FlowGraph) -> FlowGraph:
    return replace(graph, nodes=tuple(replace(node, path="") for node in graph.nodes))


def _run(path: Path, folder: Path) -> dict[str, Any]:
    """Run the definitions of a notebook, each cell as a file so that its source is there."""
    module = ModuleType("__main__")
    for number, cell in enumerate(read_cells(path.read_text())):
        file = folder / f"cell{number}.py"
        file.write_text(cell.code)
        tree = ast.parse(cell.code)
        classes = any(isinstance(node, ast.ClassDef) for node in tree.body)
        tree.body = [node for node in tree.body if _defines(node, constants=classes)]
        exec(compile(tree, str(file), "exec"), vars(module))  # noqa: S102 - our own notebooks
    return vars(module)


def _defines(node: ast.stmt, *, constants: bool) -> bool:
    if constants and isinstance(node, ast.Assign | ast.AnnAssign):
        return not any(isinstance(each, ast.Await) for each in ast.walk(node))
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom)
    return isinstance(node, kinds)
