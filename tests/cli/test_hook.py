"""The hook that other repositories use with pre-commit."""

from __future__ import annotations

import shlex
import subprocess
import sys

from tests.cli.processes import ROOT, Begin

MANIFEST = ROOT / ".pre-commit-hooks.yaml"
BAD = ROOT / "tests/data/lint/dropped-output/bad.py"


def entry() -> list[str]:
    """Give the command that the hook runs before the names of changed files."""
    lines = MANIFEST.read_text().splitlines()
    return next(shlex.split(line.partition(":")[2]) for line in lines if "entry:" in line)


def test_pre_commit_accepts_the_manifest() -> None:
    """By pre-commit's own check."""
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)]
    assert subprocess.run(command, check=False).returncode == 0


def test_the_hook_fails_on_a_finding_and_names_it(begin: Begin) -> None:
    """Its entry is run as pre-commit runs it: with the names of files behind it."""
    program, *arguments = entry()
    assert program == "dexnb"
    process = begin(*arguments, str(BAD))
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "DX313 dropped-output" in out
