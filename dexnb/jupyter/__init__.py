"""The Lab in a notebook: where the engine meets the page. Works in plain scripts too."""

from __future__ import annotations

from dexnb.jupyter.lab import Lab

__all__ = ["Lab"]
