"""The engines that have this store open, and taking over from those that are dead."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dexnb.providers.sqlite.owner_file import OwnerFile
from dexnb.providers.sqlite.rows import answer, parameter, restored, stored
from dexnb.providers.sqlite.statements import statements


@dataclass(frozen=True, slots=True)
class Owner:
    """An engine that opened the store and has not closed it."""

    number: int
    name: str
    boot_id: str


def register(connection: sqlite3.Connection, name: str, boot_id: str) -> int:
    """Give an owner, whose file is locked, a number that no other ever had.

    A dead one of the same name leaves its leases behind, like any other that is dead.
    """
    connection.execute("BEGIN IMMEDIATE")
    before = [owner for owner in read_owners(connection) if owner.name == name]
    _free(connection, before, boot_id)
    _forget(connection, before)
    added = {"owner": stored(name), "boot_id": boot_id, "pid": os.getpid()}
    number = connection.execute(statements()["add_owner"], added).lastrowid
    connection.execute("COMMIT")
    return int(number or 0)


def unregister(connection: sqlite3.Connection, number: int) -> None:
    """Forget an owner that closes; what it still holds runs out."""
    connection.execute(statements()["remove_owners"], {"rows": parameter([number])})


def read_owners(connection: sqlite3.Connection) -> list[Owner]:
    """Give all owners."""
    text = connection.execute(statements()["owners"]).fetchall()[0][0]
    return [Owner(number, restored(name), boot) for number, name, boot in answer(text)]


def take_over(
    connection: sqlite3.Connection, path: Path, owners: Iterable[Owner], boot_id: str
) -> bool:
    """Free at once what dead ones of these owners hold; tell whether there were any.

    Dead is whose file can be locked. One whose file is missing may live: somebody cleaned up, or
    copied the store without it. It is forgotten, and what it holds runs out.
    """
    dead: list[Owner] = []
    missing: list[Owner] = []
    files: list[OwnerFile] = []
    try:
        for owner in owners:
            try:
                file = OwnerFile.claim(path, owner.name)
            except FileNotFoundError:
                missing.append(owner)
                continue
            if file is not None:
                dead.append(owner)
                files.append(file)
        connection.execute("BEGIN IMMEDIATE")
        _free(connection, dead, boot_id)
        _forget(connection, [*dead, *missing])
        connection.execute("COMMIT")
    finally:
        for file in files:
            file.release()
    return bool(dead)


def _free(connection: sqlite3.Connection, dead: list[Owner], boot_id: str) -> None:
    """Free what dead owners of this boot hold.

    The leases of another boot run out: the file may have come from a machine where they live on.
    """
    given = {"rows": parameter(owner.number for owner in dead if owner.boot_id == boot_id)}
    for name in ("free_work_of_owners", "free_messages_of_owners", "free_runs_of_owners"):
        connection.execute(statements()[name], given)


def _forget(connection: sqlite3.Connection, owners: list[Owner]) -> None:
    given = {"rows": parameter(owner.number for owner in owners)}
    connection.execute(statements()["remove_owners"], given)
