"""What `dexnb.jobs` promises, and what it loads."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from dexnb import jobs

ROOT = Path(__file__).parents[2]


def loaded(statement: str) -> set[str]:
    """Give the HTTP libraries that a fresh interpreter has loaded after a statement."""
    code = (
        f"{statement}\nimport sys\nprint(*({{'httpx', 'starlette', 'uvicorn'}} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("import dexnb.jobs", set()),
        ("from dexnb.jobs import InProcessJobs, JobScript; InProcessJobs()", set()),
        ("from dexnb.jobs import HttpJobs", {"httpx"}),
        ("from dexnb.jobs import HttpJobServer", {"starlette", "uvicorn"}),
    ],
)
def test_http_loads_when_it_is_first_used(statement: str, expected: set[str]) -> None:
    """And client and server each load their own part alone."""
    assert loaded(statement) == expected


def test_every_public_name_is_there_and_says_what_it_is_for() -> None:
    """Sorted, lazily loaded ones included; a misspelt one is an AttributeError."""
    assert jobs.__all__ == sorted(jobs.__all__)
    for name in jobs.__all__:
        assert inspect.getdoc(vars(getattr(jobs, name)).get("__doc__")), name
    with pytest.raises(AttributeError, match="HttpJob"):
        _ = jobs.HttpJob
