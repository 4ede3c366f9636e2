"""The SQLite store: one file that every engine on this machine may share."""

from __future__ import annotations

from dexnb.providers.sqlite.provider import SqliteProvider

__all__ = ["SqliteProvider"]
