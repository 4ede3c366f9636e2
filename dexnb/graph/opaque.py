"""`Opaque`: what source text speaks of and nobody may run, known by its dotted name alone."""

from __future__ import annotations

from abc import ABCMeta
from functools import lru_cache
from typing import Any


class Opaque:
    """Something of the text's whose value only running it could tell.

    Args:
        origin: Its dotted name, `requests.get` or `httpx.AsyncClient` for an instance of that;
            empty where not even that is known.
    """

    __slots__ = ("origin",)

    def __init__(self, origin: str = "") -> None:
        """Know its name."""
        self.origin = origin

    def __repr__(self) -> str:
        """Show the name."""
        return f"<{self.origin or 'unknown'}>"

    def attribute(self, name: str) -> Opaque:
        """Give what stands behind a dot."""
        return Opaque(f"{self.origin}.{name}" if self.origin else "")

    def called(self) -> Opaque:
        """Give what a call of it gives."""
        return Opaque(called(self.origin))


def called(origin: str) -> str:
    """Name what a call gives: for a class, which begins with a capital, an instance of it."""
    if not origin:
        return ""
    last = origin.rpartition(".")[2].lstrip("_")
    return origin if last[:1].isupper() else f"{origin}()"


class OpaqueType(ABCMeta):
    """The class of classes that are not wholly known; a value of theirs may be anything.

    The check of what can be stored takes a class of a class of its own for one of which it cannot
    tell, as it must here.
    """


@lru_cache(1000)
def opaque_class(origin: str) -> Any:
    """Give a class that stands for one of this dotted name; the same for the same name."""
    name = origin.rpartition(".")[2].removesuffix("()") or "Unknown"
    # All of them are of one module: what is known of a module's classes is kept for good.
    return OpaqueType(name, (), {"__module__": "__main__", "__qualname__": name, "origin": origin})
