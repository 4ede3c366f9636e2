"""The rules themselves: each exception carries its reason, each dependency its bounds."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from tests.house.tree import ROOT

TEXT = (ROOT / "pyproject.toml").read_text("utf-8")
CONFIG: dict[str, Any] = tomllib.loads(TEXT)
PROJECT = CONFIG["project"]


def plain(name: str) -> str:
    """Give a distribution's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def without_reason(codes: list[str]) -> list[str]:
    """Give the codes whose line in pyproject.toml says nothing."""
    return [code for code in codes if not re.search(rf'^\s*"{code}",\s*# \S', TEXT, re.MULTILINE)]


def test_every_rule_switched_off_has_its_reason() -> None:
    """Ruff selects all rules; each line that takes one away says why."""
    lint = CONFIG["tool"]["ruff"]["lint"]
    assert lint["select"] == ["ALL"]
    assert without_reason(lint["ignore"]) == []
    assert without_reason([c for codes in lint["per-file-ignores"].values() for c in codes]) == []


def test_every_dependency_has_both_bounds() -> None:
    """A lower bound says what is needed, an upper one what has been seen."""
    optional = PROJECT["optional-dependencies"].values()
    asked = PROJECT["dependencies"] + [line for lines in optional for line in lines]
    assert [line for line in asked if not re.fullmatch(r"[\w.\[\]-]+>=[\w.]+,<[\w.]+", line)] == []


def test_what_make_installs_is_pinned() -> None:
    """Each dependency of the package and of its checks has its version in constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pinned = {plain(line.partition("==")[0]) for line in lines if not line.startswith("#")}
    extras = PROJECT["optional-dependencies"]
    asked = PROJECT["dependencies"] + extras["test"] + extras["lab"]
    names = {plain(re.split(r"[\[><]", line)[0]) for line in asked}
    assert sorted(names - pinned) == []


def test_no_import_is_excused() -> None:
    """The contracts on imports hold for every module; none has a list of exceptions."""
    contracts = CONFIG["tool"]["importlinter"]["contracts"]
    assert contracts
    assert [c["name"] for c in contracts if any(key.startswith("ignore") for key in c)] == []
