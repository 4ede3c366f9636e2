"""The SQLite store: one file that every engine on this machine may share."""

from __future__ import annotations

import sqlite3

from dexnb.providers.sqlite.provider import SqliteProvider

__all__ = ["SQLITE_VERSION", "SqliteProvider"]

SQLITE_VERSION = sqlite3.sqlite_version
"""Of the library that this Python uses."""
