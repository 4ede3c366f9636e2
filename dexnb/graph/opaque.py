"""`Opaque`: what source text speaks of and nobody may run, known by its dotted name alone."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary


class Opaque:
    """Something of the text's whose value only running it could tell.

    Args:
        origin: Its dotted name, `requests.get`, or `httpx.AsyncClient()` for what a call gives;
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
        return Opaque(f"{self.origin}()" if self.origin else "")


class Later:
    """Something that a file beside a text has, and that is looked up when it is first asked for."""

    __slots__ = ("_find", "looking")

    def __init__(self, find: Callable[[], Any]) -> None:
        """Know how to look it up."""
        self._find = find
        self.looking = False

    def found(self) -> Any:
        """Look it up; `Opaque` where it is not there, or stands for itself."""
        if self.looking:
            return Opaque()
        self.looking = True
        try:
            return self._find()
        finally:
            self.looking = False


class OpaqueType(ABCMeta):
    """The class of classes that are not wholly known; a value of theirs may be anything.

    The check of what can be stored takes a class of a class of its own for one of which it cannot
    tell, as it must here.
    """


_classes: WeakValueDictionary[str, OpaqueType] = WeakValueDictionary()


def opaque_class(origin: str) -> Any:
    """Give a class that stands for one of this dotted name.

    It is the same for the same name as long as anything has it.
    """
    found = _classes.get(origin)
    if found is not None:
        return found
    name = origin.rpartition(".")[2].removesuffix("()") or "Unknown"
    # What is known of the classes of a module is kept for good, but for those of __main__.
    space = {"__module__": "__main__", "__qualname__": name, "origin": origin}
    return _classes.setdefault(origin, OpaqueType(name, (), space))
