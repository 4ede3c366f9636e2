"""`dexnb lint`: findings of files, folders and notebooks, as text, JSON, SARIF or for GitHub."""

from __future__ import annotations
