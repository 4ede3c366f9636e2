"""What happens once at open: tables, the server's time, and this engine's number."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import sql

from dexnb.clock import Readings, host_readings
from dexnb.errors import ProviderError
from dexnb.model.shown import shown
from dexnb.providers.postgres.encoding import MICRO, data, micros
from dexnb.providers.postgres.link import Connection, Link
from dexnb.providers.postgres.place import Place
from dexnb.providers.postgres.statements import script
from dexnb.providers.store_clock import Anchor, StoreClock, since_boot

OLDEST_SERVER = 14

MIGRATIONS: tuple[Callable[[], bytes], ...] = (lambda: script("schema.sql"),)
"""What makes version 1, 2, ... of the tables from the version before."""

_OTHER_SHAPE = ("42703", "42883", "42804", "42809")
"""SQLSTATEs of a table that lacks the column, or has another one of that name, and of no table."""

_FORGOTTEN = 7 * 86_400 * MICRO
"""Store time after which an engine that was killed leaves no trace any more."""

_LOOKS = 3


def check_loop() -> None:
    """Refuse an event loop that cannot watch sockets, as Windows has it by default.

    Raises:
        ProviderError: It is one.
    """
    loop = asyncio.get_running_loop()
    if type(loop).__name__ == "ProactorEventLoop":
        message = (
            "the PostgreSQL store needs a selector event loop, and this one is Windows' default, a "
            "ProactorEventLoop; run the engine with asyncio.Runner(loop_factory="
            "asyncio.SelectorEventLoop), or use an SQLite file"
        )
        raise ProviderError("open", message, retryable=False)


async def check_server(link: Link) -> None:
    """Refuse a server that is too old.

    Raises:
        ProviderError: It is.
    """
    version: int = await link.one("server_version")
    if version < OLDEST_SERVER * 10_000:
        message = f"PostgreSQL {version // 10_000} is too old; use {OLDEST_SERVER} or newer"
        raise ProviderError("open", message, retryable=False)


async def store_clock(link: Link, readings: Callable[[], Readings] = host_readings) -> StoreClock:
    """Tie store time to the server's clock, read in the middle of the shortest of a few questions.

    Locks run on the time that goes on while a machine is suspended, as the other machines' does.
    """
    looks: list[tuple[float, float, float]] = []
    for _ in range(_LOOKS):
        before = since_boot(readings())
        wall: float = await link.one("server_time")
        after = since_boot(readings())
        looks.append((after - before, wall, (before + after) / 2))
    _, wall, middle = min(looks)
    return StoreClock(Anchor(wall, middle, middle), lambda: since_boot(readings()), readings)


async def make_tables(link: Link, place: Place) -> None:
    """Bring the tables to the newest version, in one transaction, one engine at a time.

    Raises:
        ProviderError: They are another program's, or of a version that is not known here.
        psycopg.Error: The server refuses.
    """
    connection = await link.connect()
    try:
        await link.ask([("begin", {}), ("one_at_a_time", {"schema": place.schema})])
        await _migrate(link, connection, place)
        await link.ask([("commit", {})])
    except BaseException:
        # The transaction ends with the connection.
        link.sever()
        raise


async def _migrate(link: Link, connection: Connection, place: Place) -> None:
    # Only where it is missing: who may not create schemas may still use one that was made for him.
    if not await link.one("schema_exists", schema=place.schema):
        make = sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(place.schema))
        await link.within(connection.execute(make))
    (((versions, things),),) = await link.ask([("schema_content", {"schema": place.schema})])
    if versions is None:
        if things:
            message = f"{place.name} is a schema of another program; give another schema"
            raise ProviderError("open", message, retryable=False)
        await link.ask([("make_versions", {})])
    version = 0 if versions is None else await _version(link, place)
    if version > len(MIGRATIONS):
        message = (
            f"{place.name} has tables of version {version}, this dexnb knows version "
            f"{len(MIGRATIONS)}; install a newer dexnb, or give another schema"
        )
        raise ProviderError("open", message, retryable=False)
    for number, make_version in enumerate(MIGRATIONS[version:], version + 1):
        await link.within(connection.execute(make_version()))
        await link.ask([("add_version", {"version": number})])


async def _version(link: Link, place: Place) -> int:
    """Give the version of tables that are there.

    Raises:
        ProviderError: They were made by nobody here: tables and version come in one transaction.
    """
    found: Any
    try:
        found = await link.one("version")
    except psycopg.Error as error:
        if error.sqlstate not in _OTHER_SHAPE:
            raise
        message = (
            f"{place.name} is of no use: dexnb_versions is another program's; give another schema"
        )
        raise ProviderError("open", message, retryable=False) from error
    if not isinstance(found, int) or found < 1:
        said = "nothing" if found is None else shown(found)
        message = (
            f"{place.name} is damaged, or another program's: its table dexnb_versions gives {said} "
            "as the newest version; put back a copy, or give another schema"
        )
        raise ProviderError("open", message, retryable=False)
    return found


async def register(link: Link, owner: str, clock: StoreClock) -> int:
    """Give an engine a number that no other ever had."""
    now = micros(clock.now())
    await link.ask([("forget_engines", {"before": now - _FORGOTTEN})])
    number: int = await link.one("add_engine", owner=data(owner), now=now)
    return number
