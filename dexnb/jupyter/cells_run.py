"""`CellsRun`: the text of each cell that ran in this kernel, with its number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class CellsRun:
    """Listens for cells from where it is made; the history tells of those before, where it is kept.

    A host may run cells without a history, as nbval does. They are numbered one by one then, which
    is what the history would have done.

    Args:
        ipython: The shell.
    """

    def __init__(self, ipython: Any) -> None:
        """Begin to listen, in the middle of a cell."""
        self._history = ipython.history_manager
        raw = self._history.input_hist_raw
        self._texts = {number: text for number, text in enumerate(raw) if text.strip()}
        self._last = max(len(raw) - 1, 1)
        if text := _under_way(ipython):
            self._texts[self._last] = text
        ipython.events.register("pre_run_cell", self._begin)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Give each cell's number and text, in the order of running."""
        return iter(sorted(self._texts.items()))

    def _begin(self, info: Any) -> None:
        if not info.silent and info.raw_cell.strip():
            # The place that it is about to get in the history, which numbers cells from 1.
            self._last = max(self._last + 1, len(self._history.input_hist_raw))
            self._texts[self._last] = info.raw_cell


def _under_way(ipython: Any) -> str:
    """Give the cell that is running: its kernel knows what it was sent; a plain shell does not."""
    parent = ipython.get_parent() if hasattr(ipython, "get_parent") else {}
    return str(parent.get("content", {}).get("code", ""))
