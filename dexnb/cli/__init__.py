"""The command line: `dexnb run` and what else works without a notebook."""

from __future__ import annotations

from dexnb.cli.command import main

__all__ = ["main"]
