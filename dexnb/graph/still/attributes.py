"""Attributes of what a text speaks of, without running a descriptor of the text's."""

from __future__ import annotations

import inspect
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from dexnb.graph.opaque import Later, Opaque, OpaqueType
from dexnb.graph.origin import ORIGINS
from dexnb.graph.source import written
from dexnb.graph.still.names import Names
from dexnb.graph.still.trusted import module_attribute, plain_method
from dexnb.graph.still.values import TIMES

if TYPE_CHECKING:
    from dexnb.graph.still.machine import Machine

STAND_IN = "__dexnb_stand_in__"
"""The attribute of a class that was made of text."""


class Super:
    """What `super()` gives: the classes behind one, and the instance."""

    def __init__(self, class_: type, owner: Any) -> None:
        """Look behind this class."""
        self.class_ = class_
        self.owner = owner

    def find(self, name: str) -> Any:
        """Give what the next class has, or None."""
        kind = self.owner if isinstance(self.owner, type) else type(self.owner)
        order = kind.__mro__
        behind = order[order.index(self.class_) + 1 :] if self.class_ in order else ()
        return next((vars(each)[name] for each in behind if name in vars(each)), None)


def is_stand_in(class_: Any) -> bool:
    """Tell a class that was made of text."""
    return isinstance(class_, type) and STAND_IN in vars(class_)


def derives(class_: Any, *bases: type) -> bool:
    """Tell a class that has one of some bases.

    Python's own question goes through every class of a base's that there is, on each new one.
    """
    return isinstance(class_, type) and any(base in class_.__mro__ for base in bases)


def attribute(machine: Machine, held: Any, name: str, names: Names) -> Any:
    """Give an attribute; `Opaque` for what cannot be told."""
    if isinstance(held, Opaque):
        return held.attribute(name)
    if isinstance(held, OpaqueType) and "origin" in vars(held):
        return Opaque(f"{vars(held)['origin']}.{name}")
    if isinstance(held, ModuleType):
        return _of_module(held, name)
    if isinstance(held, Super):
        return _bound(machine, held.find(name), held.owner, names)
    if isinstance(held, type):
        return _of_class(held, name)
    if isinstance(held, Enum):
        return _of_member(held, name)
    if is_stand_in(type(held)):
        return _of_instance(machine, held, name, names)
    if type(held).__module__.startswith("dexnb.") or isinstance(held, TIMES):
        return getattr(held, name, Opaque())
    return plain_method(held, name) or Opaque()


def _of_module(module: ModuleType, name: str) -> Any:
    if ORIGINS not in vars(module):
        return module_attribute(module, name)
    value = vars(module).get(name, Opaque()) if name != ORIGINS else Opaque()
    if isinstance(value, Later):
        value = vars(module)[name] = value.found()
    return value


def _of_class(class_: type, name: str) -> Any:
    if name == "__name__":
        return class_.__name__
    if not any(map(is_stand_in, class_.__mro__)):
        # Of dexnb or of the standard library: nothing of the text's is asked.
        return getattr(class_, name, Opaque())
    found = inspect.getattr_static(class_, name, Opaque())
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, classmethod):
        return MethodType(found.__func__, class_)
    return Opaque() if _computes(found) else found


def _of_member(member: Enum, name: str) -> Any:
    if name in ("name", "value", "_name_", "_value_"):
        return getattr(member, name)
    found = inspect.getattr_static(type(member), name, Opaque())
    return MethodType(found, member) if isinstance(found, FunctionType) else Opaque()


def _of_instance(machine: Machine, held: Any, name: str, names: Names) -> Any:
    own = vars(held)
    if name == "__class__":
        return type(held)
    if name in own:
        return own[name]
    found = inspect.getattr_static(type(held), name, None)
    return _bound(machine, found, held, names)


def _bound(machine: Machine, found: Any, owner: Any, names: Names) -> Any:
    if isinstance(found, FunctionType):
        return MethodType(found, owner)
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, classmethod):
        return MethodType(found.__func__, owner if isinstance(owner, type) else type(owner))
    if isinstance(found, property) and isinstance(found.fget, FunctionType):
        return (
            machine.calls.call(found.fget, [owner], {}, names) if written(found.fget) else Opaque()
        )
    return Opaque() if found is None or _computes(found) else found


def _computes(found: Any) -> bool:
    return hasattr(type(found), "__get__") and not isinstance(found, FunctionType)
