"""The command line (in the making)."""

from __future__ import annotations


def main() -> int:
    """Run a command."""
    return 0
