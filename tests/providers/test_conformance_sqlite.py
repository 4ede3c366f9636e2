"""The SQLite provider under the conformance suite, on the real and on the virtual clock."""

from __future__ import annotations

import sqlite3
from itertools import count
from pathlib import Path

import pytest

from dexnb.clock import Clock
from dexnb.providers import Provider
from dexnb.providers.sqlite import SqliteProvider
from dexnb.testing.conformance import *  # noqa: F403  this is how the suite is used

_numbers = count()


class SqliteFactory(ProviderFactory):  # noqa: F405  from the suite
    """Makes SQLite providers on files of their own; breaks an event in the file."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        """Keep the files in a folder."""
        self.folder = folder
        self.clock = clock
        # Real seconds are waited for: as few as a busy machine allows.
        self.lock_timeout = 0.5 if clock.kind == "real" else 1.0

    async def create(self) -> Provider:
        """Open a provider on a file of its own."""
        provider = SqliteProvider(self.folder / f"{next(_numbers)}.db")
        await provider.open(self.clock, "engine-1")
        return provider

    async def second(self, provider: Provider, owner: str, clock: Clock | None = None) -> Provider:
        """Open one more on the same file."""
        assert isinstance(provider, SqliteProvider)
        another = SqliteProvider(provider.path)
        await another.open(clock or self.clock, owner)
        return another

    async def corrupt_event(self, provider: Provider, run_id: str, seq: int) -> None:
        """Cut the stored text."""
        assert isinstance(provider, SqliteProvider)
        connection = sqlite3.connect(provider.path)
        try:
            connection.execute(
                "UPDATE events SET text = substr(text, 1, 10) WHERE seq = ? "
                "AND run_no = (SELECT no FROM runs WHERE run_id = ?)",
                (seq, run_id),
            )
            connection.commit()
        finally:
            connection.close()


@pytest.fixture(params=[Clock.real(), Clock.virtual()], ids=["real", "virtual"])
def provider_factory(request: pytest.FixtureRequest, tmp_path: Path) -> SqliteFactory:
    """Give the factory that the suite asks for."""
    return SqliteFactory(tmp_path, request.param)
