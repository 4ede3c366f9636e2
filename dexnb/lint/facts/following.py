"""From a call to the helper that it calls, methods of the user's own clients included."""

from __future__ import annotations

import ast
import sysconfig
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

from dexnb.graph.frames import DEEPEST, Frame, read_frame
from dexnb.graph.scope import UNKNOWN, attribute_of
from dexnb.graph.source import is_users, plain_function
from dexnb.lint.facts.origin import last_of, origin_of

_INSTALLED = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
MOST_KEPT = 4096
"""Helpers that are kept: many questions lead by the same call."""

_THREADS = {"to_thread": 0, "run_sync": 0, "run_in_executor": 1}


def threaded(call: ast.Call, frame: Frame) -> ast.Call | None:
    """Give the call that a thread is to make: of `asyncio.to_thread(f, x)` that is `f(x)`."""
    at = _THREADS.get(last_of(dotted_name(call.func)), -1)
    if at < 0 or len(call.args) <= at:
        return None
    origin = origin_of(call.func, frame)
    if last_of(origin) == "run_sync" and "to_thread" not in origin:
        return None
    function: ast.expr = call.args[at]
    arguments = call.args[at + 1 :]
    if isinstance(function, ast.Call) and last_of(origin_of(function.func, frame)) == "partial":
        arguments = [*function.args[1:], *arguments]
        function = function.args[0]
    if isinstance(function, ast.Lambda) and isinstance(function.body, ast.Call):
        return function.body
    return ast.copy_location(ast.Call(function, arguments, call.keywords), call)


def dotted_name(expression: ast.expr) -> str:
    """Write the last name of a callee, whatever is before the dot."""
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


@lru_cache(MOST_KEPT)
def follow(call: ast.Call, frame: Frame) -> Frame | None:
    """Give the frame of a called helper, or None where it cannot or need not be read."""
    helper = frame.follow(call)
    if helper is not None and _is_installed(helper.scope.function):
        return None
    if not isinstance(call.func, ast.Attribute) or frame.depth >= DEEPEST:
        return helper
    base = frame.scope.look(call.func.value)
    plain = base is UNKNOWN or isinstance(base, type | ModuleType) or base is frame.scope.owner
    if plain or helper is None:
        return helper
    return _method(call, base, call.func.attr, frame) or helper


def _method(call: ast.Call, base: Any, name: str, frame: Frame) -> Frame | None:
    """Read a method of another object of the user's, as one that is bound to that object."""
    function = attribute_of(base, name)
    if not isinstance(function, FunctionType) or _is_installed(function):
        return None
    made = read_frame(function, base, frame.depth + 1, fixed=True)
    if made is None:
        return None
    names = [each.arg for each in (*made.tree.args.posonlyargs, *made.tree.args.args)][1:]
    for parameter, argument in zip(names, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        made.arguments[parameter] = (argument, frame)
    for keyword in call.keywords:
        if keyword.arg is not None:
            made.arguments[keyword.arg] = (keyword.value, frame)
    return made


def is_hidden(call: ast.Call, frame: Frame) -> bool:
    """Tell a call of the user's own code that is not read: too deep, or without a source."""
    callee, _ = frame.callee(call.func)
    function = plain_function(callee)
    return function is not None and is_users(function) and not _is_installed(function)


def _is_installed(function: FunctionType) -> bool:
    """Tell a function of an installed package: foreign code, whether its source is there or not."""
    return function.__code__.co_filename.startswith(_INSTALLED)
