"""Classes of a text: real classes with methods that cannot run; no hook of the text's is called."""

from __future__ import annotations

import ast
import dataclasses
import types
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypedDict

from dexnb.flow.flow import Flow
from dexnb.flow.step import Step
from dexnb.graph.opaque import Opaque, OpaqueType
from dexnb.graph.redact import code_text
from dexnb.graph.source import written
from dexnb.graph.still.attributes import STAND_IN, derives, is_stand_in
from dexnb.graph.still.bodies import ClassBody
from dexnb.graph.still.definitions import HOOKS, hook
from dexnb.graph.still.names import Names

if TYPE_CHECKING:
    from dexnb.graph.still.machine import Machine

_KEPT = frozenset(
    {
        *("__init__", "__call__", "__enter__", "__exit__"),
        *("__aenter__", "__aexit__", "__aiter__", "__anext__"),
    }
)
"""Methods that Python calls only where the text calls, enters or loops; no others may be there."""

_NEUTRAL = frozenset({"abstractmethod", "cache", "final", "lru_cache", "override"})
"""Decorators that leave what a method gives as it is."""

_NEVER = (type, Protocol, Generic)


class Classes:
    """Makes classes."""

    def __init__(self, machine: Machine) -> None:
        """Be a part of this."""
        self.machine = machine
        self._open: dict[int, ClassBody] = {}

    def annotated(self, name: str, node: ast.AnnAssign, names: Names) -> None:
        """Take note of an annotation in a class's body."""
        body = self._open.get(id(names))
        if body is not None:
            body.annotated[name] = node

    def make(self, node: ast.ClassDef, names: Names) -> Any:
        """Give what a class's name stands for; decorators of the text's change nothing."""
        qualname = f"{names.qualname}.{node.name}".lstrip(".")
        inner = Names({}, "class", names.module, names.unit, names, qualname)
        body = ClassBody(node, inner)
        bases = self._bases(node, names, body)
        self._open[id(inner)] = body
        try:
            self.machine.statements.run(node.body, inner)
        finally:
            del self._open[id(inner)]
        made = self._made(node, bases, body)
        if isinstance(made, type):
            names.module.classes.append(made)
            inner.cell("__class__").cell_contents = made
            for value in inner.values.values():
                function = getattr(value, "__func__", value)
                if isinstance(function, FunctionType):
                    vars(function).setdefault(STAND_IN, made)
        for decorator in reversed(node.decorator_list):
            made = self._decorated(made, decorator, names, body)
        return made

    def _bases(self, node: ast.ClassDef, names: Names, body: ClassBody) -> list[Any]:
        found: list[Any] = []
        for part in node.bases:
            value = self.machine.value(part, names)
            known = value in (NamedTuple, TypedDict) or isinstance(
                getattr(value, "__origin__", value), type
            )
            if known and value not in (*_NEVER, object):
                found.append(value)
            elif isinstance(value, Opaque) or not known:
                hidden = value if isinstance(value, Opaque) else Opaque()
                body.hidden.append(Opaque(hidden.origin or code_text(part)))
        if any(keyword.arg == "metaclass" for keyword in node.keywords):
            body.hidden.append(Opaque("metaclass"))
        return found

    def _made(self, node: ast.ClassDef, bases: list[Any], body: ClassBody) -> Any:
        values = body.names.values
        if NamedTuple in bases or TypedDict in bases:
            return self.machine.records.fields(node, bases, body)
        if any(derives(base, Enum) for base in bases):
            return self.machine.records.enum(node, bases, body)
        bases = [*bases, *_supposed(bases, body)]
        space = {name: value for name, value in values.items() if _may_stay(name)}
        space |= {
            "__module__": body.names.module.name,
            "__qualname__": body.names.qualname,
            "__annotations__": {},
            STAND_IN: body,
        }
        try:
            plain = types.resolve_bases(bases)
            if list(plain) != bases:
                space["__orig_bases__"] = tuple(bases)
            self._hooks(space, plain)
            meta = OpaqueType if body.hidden else type
            for base in plain:
                if issubclass(type(base), meta):
                    meta = type(base)
            made: Any = meta(node.name, tuple(plain), space)
            _take_for_there(made)
            return made
        except (TypeError, ValueError, AttributeError) as error:
            message = f"class {node.name} cannot be made ({error}): correct its bases"
            self.machine.note("definition", message, body.names, node)
            return Opaque(node.name)

    def _hooks(self, space: dict[str, Any], bases: Any) -> None:
        """Let the methods that a registration asks be answered without running them."""
        if not any(derives(base, Step, Flow) for base in bases):
            return
        for name in HOOKS & space.keys():
            if isinstance(space[name], FunctionType):
                self._check_bare(space[name], space[STAND_IN])
                space[name] = hook(self.machine, name, space[name])
            else:
                message = f"{name} is no plain method: what it gives is not known"
                self.machine.note(
                    "cannot-tell", message, space[STAND_IN].names, space[STAND_IN].node
                )
                del space[name]

    def _check_bare(self, function: FunctionType, body: ClassBody) -> None:
        """Say that a decorator of the text's may give another answer than the method itself."""
        method = written(function)
        for decorator in method.tree.decorator_list if method is not None else ():
            made = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = made.attr if isinstance(made, ast.Attribute) else code_text(made)
            if name not in _NEUTRAL:
                message = f"{function.__name__} is read without its decorator {name}"
                self.machine.note("cannot-tell", message, body.names, decorator, function.__name__)

    def _decorated(self, made: Any, decorator: ast.expr, names: Names, body: ClassBody) -> Any:
        call = decorator.func if isinstance(decorator, ast.Call) else decorator
        if self.machine.value(call, names) is dataclasses.dataclass and is_stand_in(made):
            return self.machine.records.dataclass(made, decorator, body)
        if isinstance(decorator, ast.Call):
            for part in (*decorator.args, *(keyword.value for keyword in decorator.keywords)):
                self.machine.value(part, names)
        return made

    def annotate(self, made: type) -> None:
        """Give a class and its methods their annotations, once all names are there."""
        body = vars(made).get(STAND_IN)
        if not isinstance(body, ClassBody):
            return
        if not derives(made, Enum):
            found = vars(made).get("__annotations__")
            if type(found) is dict:
                for name, node in body.annotated.items():
                    found[name] = self.machine.annotations.type(node.annotation, body.names)
        if derives(made, Step, Flow):
            for value in vars(made).values():
                self.machine.functions.annotate(value)


def _take_for_there(made: Any) -> None:
    """Let methods that the text has, and a stand-in must not have, not count as missing."""
    missing: frozenset[str] = getattr(made, "__abstractmethods__", frozenset())
    for each in made.__mro__:
        body = vars(each).get(STAND_IN)
        if missing and isinstance(body, ClassBody):
            own = {name for name in body.names.values if not _may_stay(name)}
            missing = frozenset(missing - own)
            made.__abstractmethods__ = missing


def _may_stay(name: str) -> bool:
    return name in _KEPT or not (name.startswith("__") and name.endswith("__"))


def _supposed(bases: list[Any], body: ClassBody) -> list[type]:
    """Give what a class with unknown bases must be, by the methods that it has."""
    known = [getattr(base, "__origin__", base) for base in bases]
    if not body.hidden or any(derives(base, Step, Flow) for base in known):
        return []
    if isinstance(body.names.values.get("get_steps"), FunctionType):
        return [Flow]
    execute = body.names.values.get("execute")
    if isinstance(execute, FunctionType) and execute.__code__.co_argcount == _EXECUTE_TAKES:
        return [Step]
    return []


_EXECUTE_TAKES = 3
