"""What the linter's settings may be."""

from __future__ import annotations

LONGEST = 86400
"""Seconds: a margin or a least heartbeat_timeout of more than a day is a slip of the pen."""
