"""Instances of a text's classes: what their `__init__` plainly assigns, which is never run."""

from __future__ import annotations

import inspect
from dataclasses import is_dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dexnb.errors import DexnbError
from dexnb.graph.opaque import Opaque
from dexnb.graph.source import written

if TYPE_CHECKING:
    from dexnb.graph.still.machine import Machine


class Instances:
    """Makes instances."""

    def __init__(self, machine: Machine) -> None:
        """Be a part of this."""
        self.machine = machine

    def make(self, class_: type, args: list[Any], keywords: dict[str, Any]) -> Any:
        """Give an instance; `Opaque` of a class whose values are made otherwise.

        Raises:
            CannotBeMade: The class is abstract.
        """
        missing = sorted(getattr(class_, "__abstractmethods__", ()))
        if missing:
            raise CannotBeMade(
                f"{class_.__name__} cannot be made: it has no {', '.join(missing)}; write it"
            )
        try:
            made: Any = object.__new__(class_)
            values = vars(made)
        except TypeError:
            return Opaque()
        begin = inspect.getattr_static(class_, "__init__", None)
        if isinstance(begin, FunctionType) and written(begin) is not None:
            self.machine.calls.outcomes(begin, [made, *args], keywords)
        elif is_dataclass(class_):
            self._fill(class_, values, args, keywords)
        return made

    def unknown(self, class_: type) -> Any:
        """Give an instance made with arguments that nobody knows: defaults, or what is opaque."""
        return self.make(class_, [], {})

    @staticmethod
    def _fill(
        class_: Any, values: dict[str, Any], args: list[Any], keywords: dict[str, Any]
    ) -> None:
        fields = [each for each in class_.__dataclass_fields__.values() if each.init]
        plain = [each.name for each in fields if not each.kw_only]
        given = {**dict(zip(plain, args, strict=False)), **keywords}
        for each in class_.__dataclass_fields__.values():
            if each.name in given:
                values[each.name] = given[each.name]
            elif not hasattr(class_, each.name):
                values[each.name] = Opaque()


class CannotBeMade(DexnbError):
    """A class of the text is abstract."""
