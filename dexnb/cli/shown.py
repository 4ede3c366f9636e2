"""How a run is shown while it goes on: live, in lines, or as its log."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from dexnb.cli.lines import PlainLines, waiting
from dexnb.cli.watched import Watched
from dexnb.model.event import Event
from dexnb.model.json_text import to_text


class Shown(Protocol):
    """Shows a run, frame by frame, inside its `with` block."""

    def __enter__(self) -> Self:
        """Begin to show."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the newest picture on the screen."""
        ...

    def update(self, run: Watched, new: Sequence[Event], now: float) -> None:
        """Show what is new, and how the run stands at `now` (store time)."""
        ...


class _Printed:
    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass


class Lines(_Printed):
    """Prints a line for each notable event, at once."""

    def __init__(self) -> None:
        """Start with nothing told."""
        self._lines = PlainLines()
        self._waiting = ""

    def update(self, run: Watched, new: Sequence[Event], now: float) -> None:
        """Print what is new."""
        for event in new:
            line = self._lines.line(event, run.started_at)
            if line is not None:
                print(line, flush=True)
        if run.waiting_for_code != self._waiting:
            self._waiting = run.waiting_for_code
            if self._waiting:
                print(waiting(run, now), flush=True)


class Log(_Printed):
    """Prints each event as `dexnb.model.event.save_log` writes it, at once."""

    def update(self, run: Watched, new: Sequence[Event], now: float) -> None:
        """Print what is new."""
        for event in new:
            print(to_text(event.to_json()), flush=True)


class LiveView:
    """Draws the run in place, as often as it is told to.

    Args:
        hint: A short last line while the run goes on. The terminal shows `^C` behind it; behind
            a full line that would begin a new one and shift the picture.
    """

    def __init__(self, hint: str) -> None:
        """Use the terminal of standard output."""
        from rich.console import Console
        from rich.live import Live

        self._console = Console()
        self._live = Live(console=self._console, auto_refresh=False)
        self._hint = hint

    def __enter__(self) -> Self:
        """Hide the cursor and begin."""
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the newest picture and show the cursor."""
        self._live.__exit__(kind, error, trace)

    def update(self, run: Watched, new: Sequence[Event], now: float) -> None:
        """Draw the run as it stands."""
        from dexnb.cli.screen import picture

        hint = "" if run.closed else self._hint
        self._live.update(picture(run, now, self._console, hint), refresh=True)


def choose(*, plain: bool, json: bool, hint: str) -> Shown:
    """Choose by options, and by what standard output can do."""
    if json:
        return Log()
    draws = sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    # The picture has letters that other encodings lack.
    if plain or not draws or not sys.stdout.encoding.lower().startswith("utf"):
        return Lines()
    return LiveView(hint)
