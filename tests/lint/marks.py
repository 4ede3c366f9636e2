"""Files whose findings are marked on their lines: `# expect: DX104 DX302?`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from dexnb.model.finding import Finding
from tests.house.tree import ROOT

DATA = ROOT / "tests/data/lint"
SHAPES = ROOT / "tests/data/lint_shapes"

Marks = list[tuple[int, str]]


def marked(path: Path, target: str = "") -> Marks:
    """Give line and code of each mark; a code with `?` could not be told.

    What is said for a target alone is marked `# expect-dex: DX206`.
    """
    mark_of = re.compile(f"# expect{target and '-'}{target}: (.*)")
    lines = path.read_text("utf-8").splitlines()
    found = ((number, mark_of.search(line)) for number, line in enumerate(lines, 1))
    return sorted((number, code) for number, mark in found if mark for code in mark[1].split())


def shown(findings: Iterable[Finding]) -> Marks:
    """Give findings as they are marked."""
    return sorted(
        (each.place.line, each.code + ("?" if each.verdict == "cannot tell" else ""))
        for each in findings
    )
