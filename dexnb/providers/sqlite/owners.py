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

    A dead one of the same name leaves its leases behind: they are free at once.
    """
    before = [owner.number for owner in read_owners(connection) if owner.name == name]
    connection.execute("BEGIN IMMEDIATE")
    _free(connection, before)
    added = {"owner": stored(name), "boot_id": boot_id, "pid": os.getpid()}
    number = connection.execute(statements()["add_owner"], added).fetchall()[0][0]
    connection.execute("COMMIT")
    return int(number)


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
    """Free at once what dead owners of this boot hold; tell whether there were any.

    Owners of another boot are forgotten, but their leases run out: the file may have come from a
    machine where they live on.
    """
    dead: dict[int, OwnerFile] = {}
    for owner in owners:
        file = OwnerFile.claim(path, owner.name)
        if file is not None:
            dead[owner.number] = file
    of_this_boot = [owner.number for owner in owners if owner.boot_id == boot_id]
    try:
        connection.execute("BEGIN IMMEDIATE")
        _free(connection, [number for number in of_this_boot if number in dead])
        connection.execute(statements()["remove_owners"], {"rows": parameter(dead)})
        connection.execute("COMMIT")
    finally:
        for file in dead.values():
            file.release()
    return bool(dead)


def _free(connection: sqlite3.Connection, numbers: list[int]) -> None:
    if not numbers:
        return
    given = {"rows": parameter(numbers)}
    for statement in (
        "free_work_of_owners",
        "free_messages_of_owners",
        "free_runs_of_owners",
        "remove_owners",
    ):
        connection.execute(statements()[statement], given)
