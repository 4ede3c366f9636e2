"""README and CONTRIBUTING name only what is there."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dexnb
from tests.house.tree import ROOT

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    """Give the text of a page."""
    return (ROOT / name).read_text("utf-8")


def names_of_dexnb(source: str) -> set[str]:
    """Give each name that a block of code takes from `dex`."""
    return {
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "dex"
    }


def test_the_flow_in_the_readme_uses_public_names_only() -> None:
    """Its code parses, and each name it takes is there; the Flow's are promised to authors."""
    flow, *others = BLOCK.findall(page("README.md"))
    used = names_of_dexnb(flow)
    assert {"Flow", "Step", "StepDecision"} <= used
    assert sorted(used - set(dexnb.__all__)) == []
    for block in others:
        assert sorted(name for name in names_of_dexnb(block) if not hasattr(dexnb, name)) == []


MY_SYSTEM = """
import dexnb as dex

JOBS = dex.jobs.InProcessJobs(dex.jobs.JobScript.lasting(600.0))

async def ask(job_id):
    job = await JOBS.create(job_id)
    return job.state.name
"""


def test_the_flow_in_the_readme_runs_in_virtual_time(tmp_path: Path) -> None:
    """As a reader would put it together: the Flow, the last block, and jobs of ten minutes."""
    flow, *_, virtual = BLOCK.findall(page("README.md"))
    (tmp_path / "my_system.py").write_text(MY_SYSTEM)
    (tmp_path / "mine.py").write_text(flow + virtual)
    done = subprocess.run(
        [sys.executable, "-W", "error", tmp_path / "mine.py"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert (done.stdout, done.stderr) == ("job-7 is QUEUED\njob-7 is RUNNING\nSUCCEEDED\n", "")


@pytest.mark.parametrize("name", PAGES)
def test_every_make_target_named_exists(name: str) -> None:
    """A reader who types what a page shows is not told that there is no rule."""
    targets = set(re.findall(r"^([a-z]+):", page("Makefile"), re.MULTILINE))
    assert {"demo", "test"} <= targets
    assert sorted(set(re.findall(r"\bmake ([a-z]+)\b(?=`|  )", page(name))) - targets) == []


@pytest.mark.parametrize("name", PAGES)
def test_every_link_and_path_named_exists(name: str) -> None:
    """Links within the tree lead somewhere, and so do paths in a table."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", page(name))
    paths = re.findall(r"`((?:dexnb|tests|\.ci)/[\w./]*\w)`", page(name))
    assert [path for path in links + paths if not (ROOT / path).exists()] == []


def test_every_mark_is_explained() -> None:
    """The table of marks in CONTRIBUTING is the list that pytest accepts."""
    config = tomllib.loads(page("pyproject.toml"))["tool"]["pytest"]["ini_options"]
    accepted = {re.split(r"\W", line)[0] for line in config["markers"]}
    explained = set(re.findall(r"^\| `(\w+)[^`]*` \|", page("CONTRIBUTING.md"), re.MULTILINE))
    assert explained == accepted
