"""What every program shares: its arguments, its meter, and the one line that it answers with.

Programs run in the environments of the peers, so this knows the standard library alone.
"""

from __future__ import annotations

import ctypes
import json
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from types import TracebackType
from typing import Any, Self


def arguments() -> dict[str, Any]:
    """Give what the bench has asked for."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    return asked


def answer(**figures: Any) -> None:
    """Give the figures back: the last line that a program prints."""
    print(json.dumps(figures), flush=True)


def fsyncs() -> int | None:
    """Give how often this process has asked the disk to keep something; None without the shim."""
    try:
        return int(ctypes.CDLL(None).bench_fsyncs())
    except AttributeError:
        return None


def resident() -> int:
    """Give the bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value that this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def journal_mode(store: str) -> str:
    """Give the journal mode that a file of SQLite is in."""
    connection = sqlite3.connect(store)
    try:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])
    finally:
        connection.close()


class Meter:
    """Measures a block: `with Meter() as meter: ...`, then `meter.figures(operations)`."""

    def __enter__(self) -> Self:
        """Begin."""
        self._fsyncs = fsyncs()
        self._cpu = self._cpu_now()
        self._began = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End."""
        self.seconds = time.perf_counter() - self._began
        self.cpu_seconds = self._cpu_now() - self._cpu
        after = fsyncs()
        self.fsyncs = None if after is None or self._fsyncs is None else after - self._fsyncs

    def figures(self, operations: float) -> dict[str, float]:
        """Give rate, CPU and, where it was counted, fsyncs of one operation."""
        figures = {
            "rate": operations / self.seconds,
            "cpu_us": self.cpu_seconds / operations * 1e6,
            "cores": self.cpu_seconds / self.seconds,
        }
        if self.fsyncs is not None:
            figures["fsyncs"] = self.fsyncs / operations
        return figures

    @staticmethod
    def _cpu_now() -> float:
        used = getrusage(RUSAGE_SELF)
        return used.ru_utime + used.ru_stime
