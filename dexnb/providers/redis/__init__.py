"""The Redis and Valkey store: runs that several machines share, in memory that a log makes durable.

The only part that knows the redis package: `pip install 'dexnb[redis]'`.
"""

from __future__ import annotations

from dexnb.providers.redis.provider import RedisProvider

__all__ = ["RedisProvider"]
