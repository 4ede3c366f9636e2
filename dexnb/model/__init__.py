"""Documents that cross a border, and pure arithmetic over them; no I/O."""

from __future__ import annotations
