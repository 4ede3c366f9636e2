"""Which form a run is shown in."""

from __future__ import annotations

import io
import sys

import pytest

from dexnb.cli.shown import Lines, LiveView, Log, choose


class Terminal(io.TextIOWrapper):
    """Standard output that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def use_terminal(patch: pytest.MonkeyPatch, term: str, encoding: str = "utf-8") -> None:
    """Put a terminal in the place of standard output; inside a test, behind pytest's own."""
    patch.setattr(sys, "stdout", Terminal(io.BytesIO(), encoding=encoding))
    patch.setenv("TERM", term)


def test_a_terminal_is_drawn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless lines or the log are asked for."""
    use_terminal(monkeypatch, "xterm-256color")
    assert isinstance(choose(plain=False, json=False, hint=""), LiveView)
    assert isinstance(choose(plain=True, json=False, hint=""), Lines)
    assert isinstance(choose(plain=False, json=True, hint=""), Log)


def test_a_pipe_gets_lines() -> None:
    """As in CI."""
    assert isinstance(choose(plain=False, json=False, hint=""), Lines)


@pytest.mark.parametrize(("term", "encoding"), [("dumb", "utf-8"), ("xterm-256color", "latin-1")])
def test_a_terminal_that_cannot_draw_gets_lines(
    monkeypatch: pytest.MonkeyPatch, term: str, encoding: str
) -> None:
    """Because it says that it is dumb, or because it lacks the letters."""
    use_terminal(monkeypatch, term, encoding)
    assert isinstance(choose(plain=False, json=False, hint=""), Lines)
