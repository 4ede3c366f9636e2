"""`%load_ext dexnb`: puts `dex` into the notebook's namespace and answers `%dexnb`."""

from __future__ import annotations

from typing import Any

import dexnb
from dexnb.jupyter.cells_run import CellsRun
from dexnb.jupyter.magic import USAGE, Magic


def load(ipython: Any) -> None:
    """Give the notebook the name `dex`, unless it has one, and the magic `%dexnb`."""
    ipython.user_ns.setdefault("dex", dexnb)

    magic = Magic(CellsRun(ipython))

    def answer(line: str) -> Any:
        return magic(line)

    answer.__doc__ = USAGE
    ipython.register_magic_function(answer, magic_kind="line", magic_name="dexnb")
