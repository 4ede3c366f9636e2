"""Where the thing behind an expression comes from, as a dotted name: `requests.get`.

Live and read from text alike. What a call gives is written with brackets: a method of a session
that is made here is `requests.Session().get`, and so is one of an object of that class.
"""

from __future__ import annotations

import ast
import linecache
import sys
from functools import lru_cache
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from dexnb.graph.frames import Frame
from dexnb.graph.opaque import Opaque
from dexnb.graph.scope import UNKNOWN, held_attribute
from dexnb.graph.source import made_alone, written

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

ORIGINS: Final = "__dexnb_origins__"
"""Where the stand-in of a module keeps the dotted names of what it imports, by local name."""


def origin_of(thing: Any, frame: Frame, depth: int = 0) -> str:
    """Give the dotted name of an expression of a frame, or of a value; empty where not known.

    The name is the one by which the source imports it, where the source tells, and else the
    shortest under which its package gives it.
    """
    if not isinstance(thing, ast.expr):
        return _of_value(thing)
    if depth > DEEPEST:
        return ""
    match thing:
        case ast.Name(id=name):
            return _of_name(name, frame, depth)
        case ast.Await(value=inner) | ast.NamedExpr(value=inner):
            return origin_of(inner, frame, depth + 1)
        case ast.Attribute(value=base, attr=attribute):
            return _of_attribute(base, attribute, frame, depth)
        case ast.Call(func=function, args=given):
            called = origin_of(function, frame, depth + 1)
            if given and called in ENTERS:
                return origin_of(given[0], frame, depth + 1)
            return f"{called}()" if called else ""
        case ast.IfExp(body=one, orelse=other):
            found = {origin_of(each, frame, depth + 1) for each in (one, other)}
            return found.pop() if len(found) == 1 else ""
        case _:
            return _of_value(frame.scope.held(thing))


def _of_attribute(base: ast.expr, name: str, frame: Frame, depth: int) -> str:
    owner = frame.scope.held(base)
    if owner is UNKNOWN or isinstance(owner, Opaque):
        before = origin_of(base, frame, depth + 1)
        return f"{before}.{name}" if before else ""
    value = held_attribute(owner, name)
    if isinstance(owner, ModuleType):
        before = origin_of(base, frame, depth + 1) or owner.__name__
        return _shortest(f"{before}.{name}", value)
    if isinstance(value, FunctionType | MethodType | BuiltinMethodType) or value is UNKNOWN:
        before = _of_value(owner)
        return f"{before}.{name}" if before and owner is not frame.scope.owner else _of_value(value)
    return _of_value(value)


def _of_name(name: str, frame: Frame, depth: int) -> str:
    here: Frame | None = frame
    while here is not None:
        found = _local(name, here, depth)
        if found is not None:
            return found
        here = here.outer
    value = frame.scope.held(ast.Name(name))
    if isinstance(value, Opaque):
        return value.origin
    imported = _imports(frame.scope.function).get(name, "")
    return imported if imported and _stands_for(imported, value) else _of_value(value)


def _local(name: str, frame: Frame, depth: int) -> str | None:
    """Give the origin of a local name; None for a name that is none."""
    if name in frame.scope.locals:
        entered = _entered(name, frame, depth)
        if entered:
            return entered
    if name in frame.paths.assigned:
        given = frame.paths.assigned[name]
        found = {
            "" if each.element else origin_of(each.expression, frame, depth + 1) for each in given
        }
        return found.pop() if len(found) == 1 else ""
    if name in frame.arguments:
        expression, caller = frame.arguments[name][:2]
        return origin_of(expression, caller, depth + 1)
    if name not in frame.scope.locals or frame.scope.held(ast.Name(name)) is not UNKNOWN:
        return None
    return _annotated(name, frame, depth)


def _entered(name: str, frame: Frame, depth: int) -> str:
    """Give what an import inside or a `with ... as` lets a name stand for."""
    for node in ast.walk(frame.tree):
        match node:
            case ast.withitem(context_expr=made, optional_vars=ast.Name(id=target)):
                if target == name:
                    return origin_of(made, frame, depth + 1)
            case ast.Import() | ast.ImportFrom():
                found = imported_names(node).get(name)
                if found:
                    return found
    return ""


def _annotated(name: str, frame: Frame, depth: int) -> str:
    arguments = frame.tree.args
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if parameter.arg == name and parameter.annotation is not None:
            made = origin_of(parameter.annotation, frame, depth + 1)
            return f"{made}()" if made else ""
    return ""


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
    return _read_imports(function.__code__.co_filename)


@lru_cache(256)
def _read_imports(file: str) -> dict[str, str]:
    try:
        tree = made_alone(lambda: ast.parse("".join(linecache.getlines(file))))
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
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
