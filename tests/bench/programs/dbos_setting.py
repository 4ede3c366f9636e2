"""dbos as its documentation has it, on SQLite with WAL and FULL.

Its configuration takes an engine of SQLAlchemy (`system_database_engine`); SQLAlchemy's `connect`
event sets the two pragmas on each connection, and its `module` is a SQLite that dbos can start on.
"""

from __future__ import annotations

from typing import Any

import pysqlite3  # type: ignore[import-not-found]  # in the environment of dbos alone
import sqlalchemy  # type: ignore[import-not-found]  # in the environment of dbos alone
from dbos import DBOS  # type: ignore[import-not-found]  # in the environment of dbos alone

PRAGMAS = ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA busy_timeout=30000")
LEVELS = ("OFF", "NORMAL", "FULL", "EXTRA")


def configure(store: str) -> sqlalchemy.Engine:
    """Configure dbos on this file; launching is the caller's."""
    url = f"sqlite:///{store}"
    engine = sqlalchemy.create_engine(url, module=pysqlite3)

    @sqlalchemy.event.listens_for(engine, "connect")  # type: ignore[untyped-decorator]
    def set_pragmas(connection: Any, record: object) -> None:
        for pragma in PRAGMAS:
            connection.execute(pragma)

    DBOS(
        config={
            "name": "bench",
            "system_database_url": url,
            "system_database_engine": engine,
            "log_level": "ERROR",
        }
    )
    return engine


def settings(engine: sqlalchemy.Engine) -> dict[str, str]:
    """Give what a connection of dbos says of itself."""
    with engine.connect() as connection:
        ask = connection.exec_driver_sql
        return {
            "journal_mode": str(ask("PRAGMA journal_mode").scalar()),
            "synchronous": LEVELS[int(ask("PRAGMA synchronous").scalar())],
            "sqlite": pysqlite3.sqlite_version,
        }
