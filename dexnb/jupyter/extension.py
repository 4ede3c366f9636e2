"""`%load_ext dexnb`: nothing needs it; it puts `dex` into the notebook's namespace."""

from __future__ import annotations

from typing import Any

import dexnb


def load(ipython: Any) -> None:
    """Give the notebook the name `dex`, unless it has one."""
    ipython.user_ns.setdefault("dex", dexnb)
