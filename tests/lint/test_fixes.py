"""Fixes: what they write parses, and makes the finding go away."""

from __future__ import annotations

import shutil
from pathlib import Path

from dexnb.lint import apply_fixes, lint_paths
from dexnb.lint.fixes import edited
from dexnb.model.finding import Edit, Finding, Fix, Place
from tests.lint.marks import DATA


class Shelf:
    """Texts in memory."""

    def __init__(self, **texts: str) -> None:
        """Hold them by path."""
        self.texts = texts

    def read(self, path: str, cell: str) -> str:
        """Give one."""
        return self.texts[path]

    def write(self, path: str, cell: str, text: str) -> None:
        """Take one."""
        self.texts[path] = text


def finding(*edits: Edit) -> Finding:
    """Make a finding that these edits fix."""
    return Finding("DX313", "dropped-output", "error", "it is dropped", fix=Fix("do", edits))


def edit(path: str, line: int, begin: int, end: int, text: str) -> Edit:
    """Replace a stretch of one line."""
    return Edit(Place(path, "", line, begin, line, end), text)


def fixed(source: Path, folder: Path) -> tuple[list[Finding], list[Finding], str]:
    """Fix a copy of a file; give what was said before and after, and the new text."""
    path = folder / source.name
    shutil.copy(source, path)
    before = list(lint_paths([path]).findings)
    shelf = Shelf(**{str(path): path.read_text("utf-8")})
    apply_fixes(before, shelf.read, shelf.write)
    path.write_text(shelf.texts[str(path)], "utf-8")
    return before, list(lint_paths([path]).findings), path.read_text("utf-8")


def test_dropped_outputs_are_yielded_and_awaited(tmp_path: Path) -> None:
    """All but that of a plain Step, which is no generator, go away and nothing else changes."""
    before, after, text = fixed(DATA / "dropped-output/bad.py", tmp_path)
    assert len(before) == 5
    assert [each.place.line for each in after] == [before[0].place.line]
    assert text.count("yield heartbeat(number)") == 3
    for line in (
        "            yield LINES.write(context, number)  # expect: DX313",
        "            yield from self._report(context, number)  # expect: DX313",
        "            await context.heartbeat(number)  # expect: DX313",
    ):
        assert line in text.splitlines()


def test_a_blocking_sleep_becomes_one_of_the_loop(tmp_path: Path) -> None:
    """In the coroutine itself; in a plain helper it stays, for nothing can be awaited there."""
    before, after, text = fixed(DATA / "blocking-call/bad.py", tmp_path)
    assert 'await asyncio.sleep(seconds_of(loom["pause"]))' in text
    assert "    time.sleep(0.5)" in text
    assert len(after) == len(before) - 1


def test_of_two_fixes_that_overlap_the_first_is_applied() -> None:
    """The other one waits for the next run."""
    shelf = Shelf(a="one = 1\ntwo = 2\n")
    first, second = finding(edit("a", 1, 0, 3, "uno")), finding(edit("a", 1, 1, 5, "x"))
    third = finding(edit("a", 2, 0, 3, "due"))
    assert apply_fixes([first, second, third], shelf.read, shelf.write) == [first, third]
    assert shelf.texts == {"a": "uno = 1\ndue = 2\n"}


def test_what_does_not_parse_is_not_written() -> None:
    """Neither in its own text nor in the others that the same fix changes."""
    shelf = Shelf(a="one = 1\n", b="two = 2\n")
    broken = finding(edit("a", 1, 0, 3, "uno"), edit("b", 1, 3, 3, "("))
    outside = finding(edit("a", 9, 0, 1, ""))
    assert apply_fixes([broken, outside], shelf.read, shelf.write) == []
    assert shelf.texts == {"a": "one = 1\n", "b": "two = 2\n"}


def test_columns_count_characters() -> None:
    """A line with letters of more bytes is cut where people see it."""
    text = 'ñandú = "日本"; x = 1\n'
    at = text.index("x")
    assert edited(text, [edit("", 1, at, at + 1, "y")]) == 'ñandú = "日本"; y = 1\n'
