"""Plain sqlite3 with WAL and NORMAL: checkpoints by executemany, a hundred in a transaction."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from tests.bench.programs.meter import Meter, answer, arguments

ITEMS = 1000
BATCH = 100


def prepared(store: str) -> sqlite3.Connection:
    """Give a file with a row for each attempt."""
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(
        "CREATE TABLE work (id INTEGER PRIMARY KEY, token TEXT, lock_end INTEGER, "
        "checkpoint TEXT, payload TEXT)"
    )
    connection.executemany(
        "INSERT INTO work (id, token, lock_end, payload) VALUES (?, ?, ?, ?)",
        [(number, f"w{number}", 10**15, "x" * 200) for number in range(ITEMS)],
    )
    return connection


def measured(store: str, beats: int) -> dict[str, Any]:
    """Give the checkpoints a second; encoding them counts."""
    connection = prepared(store)
    update = "UPDATE work SET checkpoint = ? WHERE id = ? AND token = ? AND lock_end > ?"
    with Meter() as meter:
        for first in range(0, beats, BATCH):
            text = json.dumps({"state": "RUNNING", "round": first})
            numbers = [number % ITEMS for number in range(first, first + BATCH)]
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(update, [(text, n, f"w{n}", 5) for n in numbers])
            connection.execute("COMMIT")
    connection.close()
    return {
        **meter.figures(beats),
        "settings": {
            "journal_mode": "wal",
            "synchronous": "NORMAL",
            "sqlite": sqlite3.sqlite_version,
        },
    }


def main() -> None:
    """Answer."""
    asked = arguments()
    answer(**measured(asked["store"], asked["beats"]))


if __name__ == "__main__":
    main()
