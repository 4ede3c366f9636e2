"""Lets places in the cells of this kernel be named as the notebook shows them: `In [3]`."""

from __future__ import annotations

import re
import sys
from typing import Any

from dexnb.graph.place import name_cells

_NUMBER = re.compile(r"In ?\[(\d+)\]")


def name_cells_of_kernel() -> None:
    """Do so where this process has cells; a plain script loads nothing."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    label: Any = getattr(getattr(shell, "compile", None), "format_code_name", None)
    if label is None:
        return

    def name(file: str) -> str:
        told = label(file)
        found = _NUMBER.search(" ".join(told)) if told else None
        return f"In [{found[1]}]" if found else ""

    name_cells(name)
