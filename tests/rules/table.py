"""The table of all rules, made from the marks of the tests: `python -m tests.rules.table`.

Tests are read, not run, so that the table is the same wherever it is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.rules.deviations import DEVIATIONS
from tests.rules.rules import RULES

TESTS = Path(__file__).parents[1]
TABLE = Path(__file__).with_name("TABLE.md")

HEAD = """\
# Rules of the runtime

Made by `python -m tests.rules.table` from the tests' `rule` marks; do not edit.
A deviation says what is done instead of the rule; its tests are tests of that.

"""

Marked = dict[str, list[str]]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def marked_tests(folder: Path = TESTS) -> Marked:
    """Give the node ids of the tests that prove each rule."""
    found: Marked = {}
    for path in sorted(folder.rglob("test_*.py")):
        source = path.read_text("utf-8")
        if "mark.rule(" not in source:
            continue
        place = f"tests/{path.relative_to(folder).as_posix()}"
        for node_id, rule in _marks(ast.parse(source), place):
            found.setdefault(rule, []).append(node_id)
    return found


def _marks(tree: ast.Module, place: str) -> Iterator[tuple[str, str]]:
    for holder, prefix in _holders(tree):
        for function in holder.body:
            if not isinstance(function, Function):
                continue
            for decorator in function.decorator_list:
                for rule in _rules_of(decorator, f"{place}:{function.lineno}"):
                    if not function.name.startswith("test_"):
                        message = f"{place}: {function.name} has a rule and is no test"
                        raise ValueError(message)
                    yield f"{place}::{prefix}{function.name}", rule


def _holders(tree: ast.Module) -> Iterator[tuple[ast.Module | ast.ClassDef, str]]:
    yield tree, ""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node, f"{node.name}::"


def _rules_of(decorator: ast.expr, where: str) -> Iterator[str]:
    if not isinstance(decorator, ast.Call) or ast.unparse(decorator.func) != "pytest.mark.rule":
        return
    for argument in decorator.args:
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            message = f"{where}: rule() takes ids of rules as plain strings"
            raise ValueError(message)  # noqa: TRY004 - of the source, not of a type
        yield argument.value


def table_text(marked: Marked) -> str:
    """Give the table: each rule with its tests, each deviation with its reason."""
    lines = [HEAD + counts(marked), "", "| rule | what it says | deviation | tests |", "|-|-|-|-|"]
    for rule, sentence in RULES.items():
        tests = "<br>".join(f"`{node}`" for node in marked.get(rule, ()))
        cells = (f"`{rule}`", sentence, DEVIATIONS.get(rule, ""), tests)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def counts(marked: Marked) -> str:
    """Say how many rules, tests and deviations there are."""
    tests = {node for nodes in marked.values() for node in nodes}
    return f"{len(RULES)} rules, {len(tests)} tests, {len(DEVIATIONS)} deviations."


def main() -> None:
    """Write the table."""
    marked = marked_tests()
    TABLE.write_text(table_text(marked), "utf-8")
    print(counts(marked))


if __name__ == "__main__":
    main()
