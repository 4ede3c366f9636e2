"""Small files and small functions. A raise of a limit is its own change, with a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

import pytest

from tests.house.tree import files, shown

LINES_OF_A_FILE = 400
LINES_OF_A_FUNCTION = 40


def long_functions(source: str) -> Iterator[tuple[int, str]]:
    """Give line and name, with its length, of each function over the limit."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > LINES_OF_A_FUNCTION:
                yield node.lineno, f"{node.name}, {length} lines"


def test_files_stay_under_the_limit() -> None:
    """No source file of the package, the tests or the page is over the limit."""
    sources = chain(
        files(".py", ".sql", under="dexnb/"),
        files(".py", under="tests/"),
        files(".ts", ".tsx", ".css", under="widgets/src/"),
    )
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in sources}
    assert lengths, "no source file found"
    assert [shown(p, n) for p, n in lengths.items() if n > LINES_OF_A_FILE] == []


def test_functions_of_the_package_stay_under_the_limit() -> None:
    """No function of the package is over the limit, its docstring counted."""
    found = [
        f"{shown(path, line)} {name}"
        for path in files(".py", under="dexnb/")
        for line, name in long_functions(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_function_one_line_over_the_limit_is_found(kind: str) -> None:
    """The measure counts from `def` to the last line, and the limit itself is legal."""
    body = "    pass\n" * (LINES_OF_A_FUNCTION - 1)
    assert list(long_functions(f"{kind} fits():\n{body}")) == []
    assert list(long_functions(f"{kind} grew():\n{body}    pass\n")) == [(1, "grew, 41 lines")]
