"""The PostgreSQL store: one schema that engines on many machines may share."""

from __future__ import annotations

from dexnb.providers.postgres.provider import PostgresProvider

__all__ = ["PostgresProvider"]
