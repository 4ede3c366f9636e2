"""`%load_ext dexnb`: puts `dex` into the notebook's namespace and answers `%dexnb`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dexnb
from dexnb.jupyter.magic import USAGE, Magic


def load(ipython: Any) -> None:
    """Give the notebook the name `dex`, unless it has one, and the magic `%dexnb`."""
    ipython.user_ns.setdefault("dex", dexnb)

    def cells() -> Iterator[tuple[int, str]]:
        raw = ipython.history_manager.input_hist_raw
        yield from ((number, text) for number, text in enumerate(raw) if text.strip())

    magic = Magic(cells)

    def answer(line: str) -> Any:
        return magic(line)

    answer.__doc__ = USAGE
    ipython.register_magic_function(answer, magic_kind="line", magic_name="dexnb")
