"""Plain sqlite3 with WAL and FULL, a row in each transaction."""

from __future__ import annotations

import sqlite3
from typing import Any

from tests.bench.programs.meter import Meter, answer, arguments


def measured(store: str, commits: int) -> dict[str, Any]:
    """Give the commits a second."""
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE flow (id INTEGER PRIMARY KEY, text TEXT)")
    with Meter() as meter:
        for number in range(commits):
            connection.execute("INSERT INTO flow (text) VALUES (?)", (f"flow {number}",))
    connection.close()
    return {
        **meter.figures(commits),
        "settings": {
            "journal_mode": "wal",
            "synchronous": "FULL",
            "sqlite": sqlite3.sqlite_version,
        },
    }


def main() -> None:
    """Answer."""
    asked = arguments()
    answer(**measured(asked["store"], asked["commits"]))


if __name__ == "__main__":
    main()
