"""Where a run's files are."""

from __future__ import annotations

from pathlib import Path

import pytest

from dexnb.cli.place import Place, place
from dexnb.clock import Clock


def chosen(database: str | None = None, jobs: str | None = None, *, serve: bool = True) -> Place:
    """Choose the files of a Flow in `wait.py`, on the real clock."""
    return place("wait", Clock.real(), database=database, serve_jobs=serve, jobs=jobs)


@pytest.mark.parametrize(
    ("database", "expected", "jobs"),
    [
        (None, ".dexnb/wait.db", ".dexnb/wait.jobs.jsonl"),
        ("a/b.db", "a/b.db", "a/b.jobs.jsonl"),
        ("sqlite:///a/b.db", "a/b.db", "a/b.jobs.jsonl"),
    ],
)
def test_jobs_are_kept_beside_the_database(database: str | None, expected: str, jobs: str) -> None:
    """So both survive a kill, or are thrown away, together."""
    found = chosen(database)
    assert (Path(found.database), found.jobs) == (Path(expected), Path(jobs))
    assert found.kept


def test_a_file_for_jobs_may_be_named() -> None:
    """Several Flows may poll the jobs of one file, one after the other."""
    assert chosen(jobs="j").jobs == Path("j")


@pytest.mark.parametrize("database", ["memory:", ":memory:"])
def test_what_is_not_kept_has_no_files(database: str) -> None:
    """Unless the jobs' own file is named."""
    found = chosen(database)
    assert (found.database, found.jobs, found.kept) == ("memory:", None, False)
    assert chosen(database, "j").jobs == Path("j")


def test_without_a_server_there_is_no_file_for_jobs() -> None:
    """Nothing is made that nobody asked for."""
    assert chosen(serve=False).jobs is None


def test_each_clock_has_a_default_database_of_its_own() -> None:
    """Times of two clocks never meet in one file."""
    for clock, name in (
        (Clock.virtual(), "wait-virtual.db"),
        (Clock.scaled(10), "wait-scaled-10.db"),
    ):
        found = place("wait", clock, database=None, serve_jobs=False, jobs=None)
        assert Path(found.database).name == name


@pytest.mark.parametrize(
    "address", ["redis://:secret@h:6379/0", "postgresql://me:secret@h/flows", "unix:///run/r.sock"]
)
def test_beside_a_server_jobs_are_kept_under_the_name_of_the_target(address: str) -> None:
    """Its address is no path; what is shown of it holds no password."""
    pytest.importorskip("redis")
    pytest.importorskip("psycopg")
    chosen = place("polling", Clock.real(), database=address, serve_jobs=True, jobs=None)
    assert chosen.jobs == Path(".dexnb/polling.jobs.jsonl")
    assert "secret" not in f"{chosen.database} {chosen!r}"
