"""What a few modules may do, and all others ask of them."""

from __future__ import annotations

import pytest

from tests.house.tree import files, references

DOORS = {
    # `code_text` hides what looks like a credential, and bounds what is left.
    "ast.unparse": {"graph/redact.py"},
    # `parsed` makes trees one after the other, and says of each text why it has none.
    "ast.parse": {"graph/source.py", "graph/still/unit.py"},
}


def does(source: str, what: str) -> bool:
    """Tell whether a module does it by itself."""
    return any(name in (what, "ast.*") for _, name in references(source))


@pytest.mark.parametrize("what", DOORS)
def test_what_has_a_door_is_done_behind_it(what: str) -> None:
    """No other module of the package does it."""
    found = {
        path.as_posix().rpartition("/dexnb/")[2]
        for path in files(".py", under="dexnb/")
        if does(path.read_text("utf-8"), what)
    }
    assert found == DOORS[what]


@pytest.mark.parametrize(
    "source",
    [
        "import ast\nast.unparse(node)",
        "import ast as a\nmap(a.unparse, nodes)",
        "from ast import unparse as text",
        "from ast import *",
    ],
)
def test_a_module_that_does_it_is_found(source: str) -> None:
    """Under any name."""
    assert does(source, "ast.unparse")
