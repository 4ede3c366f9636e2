"""The file that a job server goes on from."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from dexnb.errors import DefinitionError, DocumentError
from dexnb.jobs import JobBook, JobTooLarge, JobUnavailable
from dexnb.jobs.state_file import StateFile

resource = pytest.importorskip("resource", reason="limits of a process exist on POSIX alone")

HEADER = b'{"dexnb_jobs":1}\n'
RECORD = {"kind": "created", "job_id": "j", "at": 1.5, "script": {}}
LINE = json.dumps(RECORD, separators=(",", ":")).encode() + b"\n"


def opened(path: Path, most_bytes: int = 10_000) -> StateFile:
    """Open a state file with room for some records."""
    return StateFile(path, most_bytes)


def records(path: Path) -> list[dict[str, Any]]:
    """Open, read and close."""
    file = opened(path)
    try:
        return list(file.records())
    finally:
        file.close()


def test_what_was_appended_is_there_after_opening_again(state: Path) -> None:
    """In order, and the file is plain JSON Lines."""
    file = opened(state)
    file.append(RECORD)
    file.append({"job_id": "\x00\n\U0001f4a5"})
    asyncio.run(file.durable())
    file.close()
    assert records(state) == [RECORD, {"job_id": "\x00\n\U0001f4a5"}]
    assert state.read_bytes().startswith(HEADER + LINE)
    assert state.read_bytes().count(b"\n") == 3


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_only_its_owner_may_read_it(state: Path, umask: int) -> None:
    """Whatever the umask is, and also when somebody had opened it up."""
    before = os.umask(umask)
    try:
        opened(state).close()
        assert stat.S_IMODE(state.stat().st_mode) == 0o600
        state.chmod(0o666)
        opened(state).close()
        assert stat.S_IMODE(state.stat().st_mode) == 0o600
    finally:
        os.umask(before)


@pytest.mark.parametrize("cut", range(1, len(LINE)))
def test_a_line_that_a_crash_cut_short_is_dropped(state: Path, cut: int) -> None:
    """At whatever byte; the lines before stay, and the next record follows them."""
    state.write_bytes(HEADER + LINE + LINE[:cut])
    file = opened(state)
    assert list(file.records()) == [RECORD]
    file.append(RECORD)
    file.close()
    assert state.read_bytes() == HEADER + LINE + LINE


@pytest.mark.parametrize("cut", range(len(HEADER) + 1))
def test_a_crash_while_the_file_was_made_leaves_a_new_file(state: Path, cut: int) -> None:
    """An empty file is one too."""
    state.write_bytes(HEADER[:cut])
    assert records(state) == []
    assert state.read_bytes() == HEADER


@pytest.mark.parametrize("content", [b"\n", b"SQLite format 3\x00", b'{"dexnb_jobs":2}\n', LINE])
def test_a_file_of_something_else_is_left_as_it_is(state: Path, content: bytes) -> None:
    """It is refused by name and not written to."""
    state.write_bytes(content)
    with pytest.raises(DocumentError, match=r"jobs.jsonl is not the state of a job server"):
        opened(state)
    assert state.read_bytes() == content


@pytest.mark.parametrize("line", [b"x", b"[]", b"\xff", b"[" * 100_000, b"1" * 10_000, b""])
def test_a_broken_line_in_the_middle_is_named(state: Path, line: bytes) -> None:
    """Nothing is dropped in silence."""
    state.write_bytes(HEADER + LINE + line + b"\n" + LINE)
    file = opened(state)
    try:
        with pytest.raises(DocumentError, match=r"jobs.jsonl line 3 is not a record"):
            list(file.records())
    finally:
        file.close()


def test_a_file_in_use_is_refused(state: Path) -> None:
    """Two servers would overwrite each other; once the first is closed, the second may."""
    file = opened(state)
    with pytest.raises(DefinitionError, match="in use by another job server"):
        opened(state)
    file.close()
    file.close()
    opened(state).close()


def test_paths_that_cannot_be_a_state_file_are_refused(tmp_path: Path) -> None:
    """A missing directory, a directory, a link to elsewhere, a pipe, a NUL."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (tmp_path / "no" / "file", tmp_path, link, pipe, Path("a\x00b")):
        with pytest.raises(DefinitionError, match="state file is "):
            opened(path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_file_refuses_and_stays_whole(state: Path) -> None:
    """The record that does not fit leaves no trace, a smaller one still fits."""
    file = opened(state, most_bytes=len(HEADER) + len(LINE) + 5)
    file.append(RECORD)
    with pytest.raises(JobTooLarge, match="state file is full"):
        file.append(RECORD)
    file.append({})
    file.close()
    assert records(state) == [RECORD, {}]


def test_a_disk_that_refuses_leaves_the_file_and_the_book_as_they_were(state: Path) -> None:
    """A write that stops in the middle of a line is taken back."""
    file = opened(state)
    book = JobBook(keep=file.append)
    book.create("first", 1)
    size = state.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
    try:
        with pytest.raises(JobUnavailable, match="cannot be written"):
            book.create("second", 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert state.stat().st_size == size
    assert len(book) == 1
    book.create("second", 3)
    file.close()
    assert [record["job_id"] for record in records(state)] == ["first", "second"]


def test_callers_that_wait_together_are_all_safe(state: Path) -> None:
    """A hundred appends, each awaited, also while a flush is under way."""

    async def main() -> None:
        file = opened(state)

        async def keep(number: int) -> None:
            await asyncio.sleep(0)
            file.append({"n": number})
            await file.durable()

        await asyncio.gather(*(keep(number) for number in range(100)))
        file.close()

    asyncio.run(main())
    assert {record["n"] for record in records(state)} == set(range(100))
