"""Looking names up where a function would find them, without running anything.

Properties and other descriptors are not called; what only running code could tell is `UNKNOWN`.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from types import CellType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any, Final

from dexnb.graph.opaque import Later, Opaque


class _Unknown:
    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN: Final[Any] = _Unknown()


class Scope:
    """The names that a function sees.

    Args:
        function: Whose globals and closure are looked through.
        owner: The instance behind the first parameter of a method, or None.
        fixed: Whether a run cannot give this function values of its own.
    """

    def __init__(self, function: FunctionType, owner: Any = None, *, fixed: bool = False) -> None:
        """Prepare the look-ups."""
        self.fixed = fixed
        code = function.__code__
        self.function = function
        self.owner = owner
        self.locals = frozenset((*code.co_varnames, *code.co_cellvars))
        self._self = code.co_varnames[0] if owner is not None and code.co_argcount else ""
        self._closure = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))

    def name(self, name: str) -> Any:
        """Give what a name stands for; a local variable's value is not known here."""
        return known(self._held(name))

    def _held(self, name: str) -> Any:
        if name == self._self:
            return self.owner
        if name in self.locals:
            return UNKNOWN
        if name in self._closure:
            return cell_value(self._closure[name])
        if name in self.function.__globals__:
            return _there(self.function.__globals__, name)
        return getattr(builtins, name, UNKNOWN)

    def look(self, expression: ast.expr) -> Any:
        """Give the object that an expression of names, attributes and constant keys stands for."""
        return known(self.held(expression))

    def held(self, expression: ast.expr) -> Any:
        """Do as `look` does, and give the `Opaque` of what source text only names."""
        match expression:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._held(name)
            case ast.Attribute(value=base, attr=attribute):
                return held_attribute(self.held(base), attribute)
            case ast.Subscript(value=base, slice=key):
                return _item_of(self.held(base), self.held(key))
            case ast.Call(func=function, args=[base, key, *_]) if self.look(function) is getattr:
                name = self.look(key)
                return held_attribute(self.held(base), name) if isinstance(name, str) else UNKNOWN
            case _:
                return UNKNOWN

    def constant_name(self, expression: ast.expr) -> str:
        """Give the name under which a run may override a constant, or an empty text.

        That is a global's or an outer function's variable, and an attribute of the Step itself.
        """
        if self.fixed:
            return ""
        match expression:
            case ast.Name(id=name) if name not in self.locals and not hasattr(builtins, name):
                return name
            case ast.Attribute(value=ast.Name(id=base), attr=attribute) if base == self._self:
                return attribute if base else ""
            case _:
                return ""


def cell_value(cell: CellType) -> Any:
    """Give what an outer function's variable holds; it may hold nothing yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNKNOWN


def known(value: Any) -> Any:
    """Give a value, `UNKNOWN` for one that source text only names."""
    return UNKNOWN if isinstance(value, Opaque) else value


def _there(names: dict[str, Any], name: str) -> Any:
    value = names[name]
    if isinstance(value, Later):
        value = names[name] = value.found()
    return value


def attribute_of(base: Any, name: str) -> Any:
    """Give an attribute without running a descriptor."""
    return known(held_attribute(base, name))


def held_attribute(base: Any, name: str) -> Any:
    """Do as `attribute_of` does, and give the `Opaque` of what source text only names."""
    if base is UNKNOWN:
        return UNKNOWN
    if isinstance(base, Opaque):
        return base.attribute(name)
    if isinstance(base, ModuleType):
        # A module may load its parts when they are first asked for.
        if name in vars(base):
            return _there(vars(base), name)
        return getattr(base, name, UNKNOWN)
    try:
        found = inspect.getattr_static(base, name)
    except AttributeError:
        return UNKNOWN
    if isinstance(found, staticmethod | classmethod):
        return found.__func__
    if isinstance(found, MemberDescriptorType) and not isinstance(base, type):
        return getattr(base, name, UNKNOWN)
    return UNKNOWN if _computes(found) else found


def _computes(found: Any) -> bool:
    """Tell a property and its kind: what they give, only running code could tell."""
    return hasattr(type(found), "__get__") and not isinstance(found, FunctionType)


def _item_of(base: Any, key: Any) -> Any:
    if isinstance(base, Opaque):
        return Opaque()
    if key is UNKNOWN or isinstance(key, Opaque) or type(base) not in (dict, list, tuple):
        return UNKNOWN
    try:
        return base[key]
    except (LookupError, TypeError):
        return UNKNOWN
