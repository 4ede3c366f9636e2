"""What the tests of `dexnb lint` begin with: a file to mend, a notebook, the command itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dexnb.cli import main
from tests.cli.processes import ROOT

BAD = ROOT / "tests/data/lint/dropped-output/bad.py"
_HOPELESS = "            heartbeat(number)  # expect: DX313\n        return go_to(CountInAGenerator"
MENDABLE = BAD.read_text().replace(
    _HOPELESS, "            print(number)\n        return go_to(CountInAGenerator"
)
"""The same without the one finding that no edit mends: a plain Step that would have to yield."""
UNSURE = ROOT / "tests/data/lint/silent-loop/cannot_tell.py"


def lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Lint, and give the exit code and what was printed."""
    code = main(["lint", *arguments])
    return code, capsys.readouterr().out


def notebook(path: Path, *cells: str, as_text: bool = False) -> Path:
    """Write a notebook with code cells."""
    written: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "source": text if as_text else text.splitlines(keepends=True),
        }
        for number, text in enumerate(cells)
    ]
    document = {"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(f"{json.dumps(document, indent=1, ensure_ascii=False)}\n", "utf-8")
    return path
