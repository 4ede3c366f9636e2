"""Data is never code: nothing is pickled, and no text is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.house.tree import files, references, shown

PICKLERS = frozenset({"pickle", "_pickle", "marshal", "shelve", "cloudpickle", "dill", "joblib"})
RUNNERS = frozenset({"eval", "exec"})


def dangers(source: str) -> Iterator[tuple[int, str]]:
    """Give line and name of each import of a pickler and each call that runs text."""
    for line, name in references(source):
        if name.partition(".")[0] in PICKLERS or name in {f"builtins.{r}" for r in RUNNERS}:
            yield line, name
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and node.id in RUNNERS:
            yield node.lineno, node.id


def test_the_package_pickles_nothing_and_runs_no_text() -> None:
    """No module imports a pickler or calls eval or exec."""
    found = [
        f"{shown(path, line)} {name}"
        for path in files(".py", under="dexnb/")
        for line, name in dangers(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import os, shelve as s",
        "def f():\n    from marshal import loads",
        "import joblib.memory",
        "eval(text)",
        "run = exec",
        "import builtins\nbuiltins.eval(text)",
    ],
)
def test_a_danger_is_found(source: str) -> None:
    """Neither an alias, an inner import nor a mere reference hides it."""
    assert list(dangers(source))


@pytest.mark.parametrize("source", ["import json", "step.execute(x)", "pool.exec(x)"])
def test_harmless_names_pass(source: str) -> None:
    """A method that happens to be called so is somebody else's."""
    assert list(dangers(source)) == []
