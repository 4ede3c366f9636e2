"""Counts the heartbeats that the store has kept, where the engine hands them over."""

from __future__ import annotations

from collections.abc import Sequence

from dexnb.providers import Beat
from dexnb.providers.sqlite import SqliteProvider


class StoredBeats:
    """Counts from when it is made, for all stores of this process."""

    def __init__(self) -> None:
        """Stand between the engine and the SQLite provider."""
        self.count = 0
        record = SqliteProvider.record_beats

        async def counted(provider: SqliteProvider, beats: Sequence[Beat]) -> frozenset[str]:
            lost = await record(provider, beats)
            self.count += len(beats) - len(lost)
            return lost

        SqliteProvider.record_beats = counted  # type: ignore[assignment, method-assign]
