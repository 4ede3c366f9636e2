"""Code is quoted by one function, which hides what looks like a credential."""

from __future__ import annotations

from tests.house.tree import files, references, shown


def test_the_linter_writes_code_by_the_one_function() -> None:
    """`ast.unparse` gives whatever the code says, in full."""
    found = [
        shown(path, line)
        for path in files(".py", under="dexnb/lint/")
        for line, name in references(path.read_text("utf-8"))
        if name == "ast.unparse"
    ]
    assert found == []
