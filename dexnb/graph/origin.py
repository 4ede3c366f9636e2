"""Where the thing behind an expression comes from, as a dotted name: `requests.get`.

Live and read from text alike. What a call gives is written with brackets: a method of a session
that is made here is `requests.Session().get`, and so is one of an object of that class.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from dexnb.graph.frames import Frame, once
from dexnb.graph.opaque import Opaque
from dexnb.graph.scope import UNKNOWN, held_attribute
from dexnb.graph.source import Tree, parsed, written

DEEPEST: Final = 10
"""How many steps from name to name an origin is followed."""

ENTERS: Final = frozenset(
    {
        "contextlib.AsyncExitStack().enter_async_context",
        "contextlib.AsyncExitStack().enter_context",
        "contextlib.ExitStack().enter_context",
        "contextlib.aclosing",
        "contextlib.closing",
        "contextlib.nullcontext",
    }
)
"""Calls that give what they are given, to be closed later."""

MOST_FILES: Final = 256
"""Files whose imports are kept."""

ORIGINS: Final = "__dexnb_origins__"
"""Where the stand-in of a module keeps the dotted names of what it imports, by local name."""

_of_files: dict[str, tuple[list[str] | None, dict[str, str]]] = {}


def origin_of(thing: Any, frame: Frame) -> str:
    """Give the dotted name of an expression of a frame, or of a value; empty where not known.

    The name is the one by which the source imports it, where the source tells, and else the
    shortest under which its package gives it.
    """
    return _Search().of(thing, frame)


class _Search:
    """One question, in which each name of a frame is looked up once at each depth."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, int, int], str] = {}
        self._under_way: set[tuple[str, int]] = set()

    def of(self, thing: Any, frame: Frame, depth: int = 0) -> str:
        """Give the dotted name of an expression, or of a value."""
        if not isinstance(thing, ast.expr):
            return _of_value(thing)
        if depth > DEEPEST:
            return ""
        match thing:
            case ast.Name(id=name):
                return self._of_name(name, frame, depth)
            case ast.Await(value=inner) | ast.NamedExpr(value=inner):
                return self.of(inner, frame, depth + 1)
            case ast.Attribute(value=base, attr=attribute):
                return self._of_attribute(base, attribute, frame, depth)
            case ast.Call(func=function, args=given):
                called = self.of(function, frame, depth + 1)
                if given and called in ENTERS:
                    return self.of(given[0], frame, depth + 1)
                return f"{called}()" if called else ""
            case ast.IfExp(body=one, orelse=other):
                return _agreed(self.of(each, frame, depth + 1) for each in (one, other))
            case _:
                return _of_value(frame.scope.held(thing))

    def _of_attribute(self, base: ast.expr, name: str, frame: Frame, depth: int) -> str:
        owner = frame.scope.held(base)
        if owner is UNKNOWN or isinstance(owner, Opaque):
            before = self.of(base, frame, depth + 1)
            return f"{before}.{name}" if before else ""
        value = held_attribute(owner, name)
        if isinstance(owner, ModuleType):
            before = self.of(base, frame, depth + 1) or owner.__name__
            return _shortest(f"{before}.{name}", value)
        if value is UNKNOWN or isinstance(value, FunctionType | MethodType | BuiltinMethodType):
            before = _of_value(owner)
            if before and owner is not frame.scope.owner:
                return f"{before}.{name}"
        return _of_value(value)

    def _of_name(self, name: str, frame: Frame, depth: int) -> str:
        key = (name, id(frame))
        if key in self._under_way:
            # What a name is made of itself says nothing of where it comes from.
            return ""
        if (*key, depth) not in self._names:
            self._under_way.add(key)
            self._names[(*key, depth)] = self._looked_up(name, frame, depth)
            self._under_way.discard(key)
        return self._names[(*key, depth)]

    def _looked_up(self, name: str, frame: Frame, depth: int) -> str:
        here: Frame | None = frame
        while here is not None:
            found = self._local(name, here, depth)
            if found is not None:
                return found
            here = here.outer
        value = frame.scope.held(ast.Name(name))
        if isinstance(value, Opaque):
            return value.origin
        imported = _imports(frame.scope.function).get(name, "")
        return imported if imported and _stands_for(imported, value) else _of_value(value)

    def _local(self, name: str, frame: Frame, depth: int) -> str | None:
        """Give the origin of a local name; None for a name that is none."""
        if name in frame.scope.locals:
            entered = once(frame.tree, "_dexnb_entered", _entered).get(name, "")
            if isinstance(entered, ast.expr):
                entered = self.of(entered, frame, depth + 1)
            if entered:
                return entered
        if name in frame.paths.assigned:
            return _agreed(
                "" if each.element else self.of(each.expression, frame, depth + 1)
                for each in frame.paths.assigned[name]
            )
        if name in frame.arguments:
            expression, caller = frame.arguments[name][:2]
            return self.of(expression, caller, depth + 1)
        if name not in frame.scope.locals or frame.scope.held(ast.Name(name)) is not UNKNOWN:
            return None
        return self._annotated(name, frame, depth)

    def _annotated(self, name: str, frame: Frame, depth: int) -> str:
        arguments = frame.tree.args
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if parameter.arg == name and parameter.annotation is not None:
                made = self.of(parameter.annotation, frame, depth + 1)
                return f"{made}()" if made else ""
        return ""


def _agreed(answers: Iterator[str]) -> str:
    """Give what all answers are; empty, and no more are asked for, where two differ."""
    first = next(answers, "")
    return first if all(each == first for each in answers) else ""


def _entered(tree: Tree) -> dict[str, str | ast.expr]:
    """Give what imports inside and `with ... as` let names stand for."""
    found: dict[str, str | ast.expr] = {}
    for node in ast.walk(tree):
        match node:
            case ast.withitem(context_expr=made, optional_vars=ast.Name(id=target)):
                found.setdefault(target, made)
            case ast.Import() | ast.ImportFrom():
                found = {**imported_names(node), **found}
    return found


def _of_value(value: Any) -> str:
    if value is UNKNOWN or value is None:
        return ""
    if isinstance(value, Opaque):
        return value.origin
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, MethodType):
        return _method(value.__self__, value.__name__)
    if isinstance(value, BuiltinMethodType) and not isinstance(value.__self__, ModuleType):
        return _method(value.__self__, value.__name__)
    name = getattr(value, "__qualname__", None)
    if not isinstance(name, str):
        return f"{_of_value(type(value))}()"
    module = getattr(value, "__module__", None) or "builtins"
    return _shortest(f"{module}.{name}", value)


def _method(owner: Any, name: str) -> str:
    return f"{_of_value(owner)}.{name}"


def _shortest(name: str, value: Any) -> str:
    """Give the shortest name under which a package gives this value: `asyncio.sleep`."""
    parts = name.split(".")
    for end in range(1, len(parts)):
        module = sys.modules.get(".".join(parts[:end]))
        if module is not None and vars(module).get(parts[-1], UNKNOWN) is value:
            return ".".join([*parts[:end], parts[-1]])
    return name


def _stands_for(name: str, value: Any) -> bool:
    """Tell whether an imported name still is what the import gave it."""
    module, _, last = name.rpartition(".")
    if isinstance(value, ModuleType):
        return sys.modules.get(name) is value
    home = sys.modules.get(module)
    return home is not None and vars(home).get(last, UNKNOWN) is value


def _imports(function: FunctionType) -> dict[str, str]:
    """Give what the text around a function imports, by local name."""
    if written(function) is not None:
        kept = function.__globals__.get(ORIGINS)
        return kept if isinstance(kept, dict) else {}
    file = function.__code__.co_filename
    lines = linecache.getlines(file)
    before, found = _of_files.get(file, (None, {}))
    if before is not lines:
        # A text that has changed is another list.
        found = _read_imports("".join(lines))
        if len(_of_files) >= MOST_FILES:
            _of_files.clear()
        _of_files[file] = (lines, found)
    return found


def _read_imports(text: str) -> dict[str, str]:
    try:
        tree = parsed(text)
    except SyntaxError:
        return {}
    found: dict[str, str] = {}
    waiting: list[Any] = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= imported_names(node)
        elif isinstance(node, ast.If | ast.Try):
            waiting += [*node.body, *node.orelse]
    return found


def imported_names(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Give what an import binds, with dotted names; nothing of one relative to its package."""
    if isinstance(node, ast.Import):
        return {each.asname: each.name for each in node.names if each.asname} | {
            top: top for each in node.names if not each.asname for top in [each.name.split(".")[0]]
        }
    if node.level or node.module is None:
        return {}
    return {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
