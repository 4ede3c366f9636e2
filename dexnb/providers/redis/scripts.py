"""The Lua scripts, from the files beside this one: each stands behind the prelude."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

PRELUDE = "prelude"


@cache
def scripts() -> dict[str, str]:
    """Give the source of every script by its name."""
    folder = files("dexnb.providers.redis")
    sources = {
        file.name.removesuffix(".lua"): file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".lua")
    }
    prelude = sources.pop(PRELUDE)
    return {name: prelude + source for name, source in sources.items()}


@cache
def digest(name: str) -> str:
    """Give the name under which a server keeps a script."""
    return hashlib.sha1(scripts()[name].encode(), usedforsecurity=False).hexdigest()
