"""Notice what other processes do to the file, at the cost of microseconds while they do nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from dexnb.providers.sqlite.failures import is_busy
from dexnb.providers.sqlite.lane import Lane
from dexnb.providers.sqlite.owner_file import OwnerFile
from dexnb.providers.sqlite.owners import Owner, read_owners, take_over
from dexnb.providers.sqlite.place import Identity
from dexnb.providers.sqlite.transaction import patiently


class Watcher:
    """A second connection that asks nothing but whether the file has changed.

    It sees this engine's own commits, too. Only when there were any, the first connection is asked
    whether others had a part in it.

    Args:
        path: The file.
        lane: The first connection.
        owner: This engine's number.
        boot_id: This machine's boot.
    """

    def __init__(self, path: Path, lane: Lane, owner: int, boot_id: str) -> None:
        """Open the second connection, on this thread."""
        self._path = path
        self._lane = lane
        self._owner = owner
        self._boot_id = boot_id
        self._identity = Identity(path)
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=0.0)
        self._seen = -1
        self._seen_by_lane = -1
        self.others: Sequence[Owner] = ()

    async def start(self) -> None:
        """Take what is there now as known, and over from owners that are dead."""
        self._seen = self._version()
        await self._survey()
        if self.others and await self._take_over():
            await self._survey()

    async def look(self) -> bool:
        """Tell whether another process has committed, or left something to take over.

        Raises:
            sqlite3.Error: The file cannot be read; the next look sees what this one missed.
        """
        taken = any(map(self._has_left, self.others)) and await self._take_over()
        version = self._version()
        if version == self._seen:
            return taken
        changed = await self._survey()
        self._seen = version
        return changed or taken

    def is_gone(self) -> bool:
        """Tell whether the file was removed, or another one put into its place."""
        return self._identity.is_gone()

    def close(self) -> None:
        """Close the second connection."""
        self._connection.close()

    def _version(self) -> int:
        try:
            return _data_version(self._connection)
        except sqlite3.Error as error:
            if is_busy(error):
                return self._seen
            raise

    async def _survey(self) -> bool:
        """Look who else is here; tell whether others have committed."""
        version, owners = await self._lane.call(
            lambda connection: (_data_version(connection), read_owners(connection))
        )
        self.others = [owner for owner in owners if owner.number != self._owner]
        changed = version != self._seen_by_lane
        self._seen_by_lane = version
        return changed

    def _has_left(self, owner: Owner) -> bool:
        try:
            file = OwnerFile.claim(self._path, owner.name)
        except FileNotFoundError:
            return True
        except OSError:  # The folder cannot be looked at just now.
            return False
        if file is not None:
            file.close_copy()
        return file is not None

    async def _take_over(self) -> bool:
        others = self.others

        def work(connection: sqlite3.Connection) -> bool:
            found: list[bool] = []
            patiently(
                connection,
                lambda: found.append(take_over(connection, self._path, others, self._boot_id)),
            )
            return found[0]

        return await self._lane.call(work)


def _data_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA data_version").fetchall()[0][0])
