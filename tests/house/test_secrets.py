"""Code that is shown to people goes through one door, behind which credentials are hidden."""

from __future__ import annotations

import pytest

from tests.house.tree import files, references

WRITER = "ast.unparse"
DOOR = "graph/redact.py"
OTHERS = {"lint/facts/checkpoints.py", "lint/facts/pollers.py"}
"""Modules that still write code by themselves."""


def writes(source: str) -> bool:
    """Tell whether a module writes code as text by itself."""
    return any(name in (WRITER, "ast.*") for _, name in references(source))


def test_no_module_writes_code_by_itself() -> None:
    """`code_text` hides what looks like a credential and bounds what is left."""
    found = {
        path.as_posix().rpartition("/dexnb/")[2]
        for path in files(".py", under="dexnb/")
        if writes(path.read_text("utf-8"))
    }
    assert found - {DOOR} == OTHERS


@pytest.mark.parametrize(
    "source",
    [
        "import ast\nast.unparse(node)",
        "import ast as a\nmap(a.unparse, nodes)",
        "from ast import unparse as text",
        "from ast import *",
    ],
)
def test_a_module_that_does_is_found(source: str) -> None:
    """Under any name."""
    assert writes(source)
