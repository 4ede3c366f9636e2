"""Comments that silence rules: `# dexnb: ignore[DX104]`, by code or by name, or for all of them.

One stands on the line of a finding, or on the first line of its statement. On a line of its own
before the first statement it is for the whole file or cell. Behind the bracket, or behind another
`#`, may stand why. One that is written in another way silences nothing, and is reported.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from dexnb.graph.source import parsed

_MEANT = re.compile(r"\s*dexnb:\s*(?P<said>ignore.*)", re.IGNORECASE | re.DOTALL)
_SAID = re.compile(r"ignore(?:\[(?P<names>[^\[\]]*[^\[\],\s][^\[\]]*)\](?:\s.*)?)?", re.DOTALL)
ALL = "*"


@dataclass(slots=True)
class Ignores:
    """The comments of one file or cell.

    Args:
        lines: What is silenced on each line.
        everywhere: What is silenced in the whole text.
        first_lines: The first line of the statement that each line belongs to.
        named: The codes and names in the comments, each with its line and column.
        mistyped: What the comments say that silence nothing, each with its line and column.
    """

    lines: dict[int, frozenset[str]] = field(default_factory=dict)
    everywhere: frozenset[str] = frozenset()
    first_lines: dict[int, int] = field(default_factory=dict)
    named: list[tuple[int, int, str]] = field(default_factory=list)
    mistyped: list[tuple[int, int, str]] = field(default_factory=list)

    def silences(self, line: int, code: str, name: str) -> bool:
        """Tell whether a finding on a line is to be left out."""
        first = self.first_lines.get(line, line)
        said = self.everywhere | self.lines.get(line, frozenset())
        said |= self.lines.get(first, frozenset())
        return bool(said & {code, name, ALL})


@lru_cache(500)
def read_ignores(text: str) -> Ignores:
    """Read the comments of a text."""
    found = Ignores()
    if "dexnb:" not in text:
        return found
    first = _statements(text, found)
    for line, column, comment, alone in _comments(text):
        names, mistyped = _read(comment)
        found.named += [(line, column, name) for name in sorted(names - {ALL})]
        found.mistyped += [(line, column, said) for said in mistyped]
        if alone and line < first:
            found.everywhere |= names
        elif names:
            found.lines[line] = found.lines.get(line, frozenset()) | names
    return found


def _read(comment: str) -> tuple[frozenset[str], list[str]]:
    """Give what a comment silences, and what it says in a way that silences nothing."""
    names: frozenset[str] = frozenset()
    mistyped = []
    for part in comment.split("#"):
        meant = _MEANT.fullmatch(part.rstrip())
        if meant is None:
            continue
        said = _SAID.fullmatch(meant["said"])
        if said is None:
            mistyped.append(meant["said"])
        else:
            names |= _names(said)
    return names, mistyped


def _names(match: re.Match[str]) -> frozenset[str]:
    if match["names"] is None:
        return frozenset({ALL})
    return frozenset(name.strip() for name in match["names"].split(",") if name.strip())


def _comments(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Give each comment with its line, its column, and whether it stands alone."""
    lines = text.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                yield line, column, token.string, not lines[line - 1][:column].strip()
    except (tokenize.TokenError, SyntaxError):
        return


def _statements(text: str, found: Ignores) -> int:
    """Note which lines belong together; give the first line of code behind the docstring."""
    try:
        tree = parsed(text)
    except SyntaxError:
        return 1
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.ExceptHandler):
            _note(node, found)
    body = list(tree.body)
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        del body[0]
    return body[0].lineno if body else text.count("\n") + 3


def _note(node: ast.stmt | ast.ExceptHandler, found: Ignores) -> None:
    body: Sequence[ast.AST] = getattr(node, "body", [])
    last = getattr(body[0], "lineno", node.lineno + 1) - 1 if body else node.end_lineno
    for line in range(node.lineno, (last or node.lineno) + 1):
        found.first_lines[line] = node.lineno
