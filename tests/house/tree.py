"""The files of the repository, and what a Python file refers to."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dexnb"
LIST_FILES = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")


def files(*suffixes: str, under: str = "") -> list[Path]:
    """Give the files that git holds or would take, by suffix and folder."""
    listed = subprocess.run(LIST_FILES, cwd=ROOT, check=True, capture_output=True, text=True)
    paths = (ROOT / name for name in listed.stdout.split("\0") if name.startswith(under))
    return sorted(p for p in paths if p.is_file() and (not suffixes or p.suffix in suffixes))


def shown(path: Path, line: int) -> str:
    """Give a place as an editor opens it."""
    return f"{path.relative_to(ROOT)}:{line}"


def references(source: str) -> Iterator[tuple[int, str]]:
    """Give line and full dotted name of all that a module imports, or reaches through imports."""
    tree = ast.parse(source)
    bound: dict[str, str] = {}
    for line, local, full in _imports(tree):
        bound[local] = full
        yield line, full
    for node in ast.walk(tree):
        head, _, rest = _dotted(node).partition(".")
        if rest and head in bound:
            yield _line(node), f"{bound[head]}.{rest}"


def _imports(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                top = name.name.partition(".")[0]
                yield node.lineno, name.asname or top, name.name if name.asname else top
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                yield node.lineno, name.asname or name.name, f"{node.module}.{name.name}"


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        left = _dotted(node.value)
        return f"{left}.{node.attr}" if left else ""
    return ""


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))
