"""What happens once at open, in the connection's thread: pragmas, tables, and whose time it is."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from dexnb.errors import ClockMismatch, ProviderError
from dexnb.providers.sqlite.rows import answer, micros, parameter, restored, stored
from dexnb.providers.sqlite.statements import schema, statements
from dexnb.providers.store_clock import Anchor

APPLICATION_ID = 0x64657862
"""Written into the file's header: `dexb` in ASCII."""

MIGRATIONS = (schema,)
"""What makes version 1, 2, ... of the tables from the version before."""

LONGEST_INHERITED_LEASE = 30.0
"""Seconds after the first open of a boot, at which the last lease of the boot before has ended."""

# The -wal file is cut back to 4 MB after each checkpoint, which comes every 1000 pages of 4 KB.
_PRAGMAS = (
    "PRAGMA synchronous=NORMAL",
    "PRAGMA wal_autocheckpoint=1000",
    "PRAGMA journal_size_limit=4194304",
    "PRAGMA cache_size=-16000",
    "PRAGMA temp_store=MEMORY",
)


def use_wal(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse files of other programs, then set how this connection works.

    Raises:
        ProviderError: The file is not ours, or lies where no WAL can be.
    """
    application = _pragma(connection, "application_id")
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application != APPLICATION_ID and (application or tables):
        message = f"{path} is the SQLite database of another program; give another path"
        raise ProviderError("open", message, retryable=False)
    mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        message = f"{path} cannot use a write-ahead log (mode {mode}); put it on a local disk"
        raise ProviderError("open", message, retryable=False)
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def make_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the tables to the newest version, in one transaction.

    Raises:
        ProviderError: They are of a version that is not known here.
    """
    connection.execute("BEGIN IMMEDIATE")
    version = _pragma(connection, "user_version")
    if version > len(MIGRATIONS):
        message = (
            f"{path} has tables of version {version}, this dexnb knows version {len(MIGRATIONS)}; "
            "install a newer dexnb, or give another path"
        )
        raise ProviderError("open", message, retryable=False)
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        for statement in _split(script()):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version={number}")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute("COMMIT")


def settle_clock(
    connection: sqlite3.Connection, path: Path, identity: str, boot: str, fresh: Anchor
) -> Anchor:
    """Give the anchor of store time: the one of this boot's first opener.

    Args:
        connection: The connection.
        path: The file, for errors.
        identity: The clock's; the first one ever given stays.
        boot: For how long the clocks behind an anchor go on: the boot of the machine, or the loop.
        fresh: The anchor to use where this boot has none.

    Raises:
        ClockMismatch: The store was written on another clock.
        ProviderError: What it says about time cannot be read.
    """
    connection.execute("BEGIN IMMEDIATE")
    meta = read_meta(connection)
    known = meta.get("clock", identity)
    if known != identity:
        raise ClockMismatch(str(path), known, identity)
    if meta.get("boot") == boot:
        anchor = Anchor(*_times(path, meta.get("anchor", ""), 3))
    else:
        # Whatever the wall clock was set to meanwhile, time does not go back behind what was seen.
        wall = max(fresh.wall, *_times(path, meta.get("newest", "0"), 1))
        anchor = Anchor(wall, fresh.monotonic, fresh.boottime)
        shown = f"{anchor.wall!r} {anchor.monotonic!r} {anchor.boottime!r}"
        write_meta(connection, clock=identity, boot=boot, anchor=shown, newest=repr(wall))
        latest = micros(wall + LONGEST_INHERITED_LEASE)
        connection.execute(statements()["end_long_leases_of_work"], {"latest": latest})
        connection.execute(statements()["end_long_leases_of_runs"], {"latest": latest})
    connection.execute("COMMIT")
    return anchor


def _times(path: Path, text: str, count: int) -> list[float]:
    try:
        times = [float(part) for part in text.split()]
    except ValueError:
        times = []
    if len(times) != count:
        message = (
            f"{path} has {text!r} where its time should be; "
            "put back a copy, or move it away to start a new one"
        )
        raise ProviderError("open", message, retryable=False)
    return times


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """Give what the store knows about itself."""
    meta = answer(connection.execute(statements()["read_meta"]).fetchall()[0][0])
    return {key: restored(value) for key, value in meta.items()}


def write_meta(connection: sqlite3.Connection, **values: str) -> None:
    """Change what the store knows about itself."""
    rows = [[key, stored(value)] for key, value in values.items()]
    connection.execute(statements()["write_meta"], {"rows": parameter(rows)})


def _pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _split(script: str) -> list[str]:
    found, statement = [], ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            found.append(statement)
            statement = ""
    return found
