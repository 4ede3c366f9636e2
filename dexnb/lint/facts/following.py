"""From a call to the helper that it calls, methods of the user's own clients included."""

from __future__ import annotations

import ast
import inspect
import sysconfig
from types import FunctionType, ModuleType
from typing import Any

from dexnb.graph.frames import DEEPEST, Frame, read_frame
from dexnb.graph.scope import UNKNOWN, attribute_of
from dexnb.graph.source import is_users, plain_function
from dexnb.lint.facts.classes import OWNER, class_of
from dexnb.lint.facts.nodes import nodes_of
from dexnb.lint.facts.origin import last_of, origin_of

_INSTALLED = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
_THREADS = {"to_thread": 0, "run_sync": 0, "run_in_executor": 1}


def threaded(call: ast.Call, frame: Frame) -> ast.Call | None:
    """Give the call that a thread is to make: of `asyncio.to_thread(f, x)` that is `f(x)`.

    It is the same one each time, so that what is found out about it is found.
    """
    key = ("thread", call)
    if key not in frame.kept:
        frame.kept[key] = _threaded(call, frame)
    made: ast.Call | None = frame.kept[key]
    return made


def _threaded(call: ast.Call, frame: Frame) -> ast.Call | None:
    at = _THREADS.get(last_of(dotted_name(call.func)), -1)
    if at < 0 or len(call.args) <= at:
        return None
    origin = origin_of(call.func, frame)
    if last_of(origin) == "run_sync" and "to_thread" not in origin:
        return None
    function: ast.expr = call.args[at]
    arguments = call.args[at + 1 :]
    keywords = call.keywords
    if isinstance(function, ast.Call) and last_of(origin_of(function.func, frame)) == "partial":
        if not function.args:
            return None
        arguments = [*function.args[1:], *arguments]
        keywords = [*function.keywords, *keywords]
        function = function.args[0]
    if isinstance(function, ast.Lambda) and isinstance(function.body, ast.Call):
        return function.body
    return ast.copy_location(ast.Call(function, arguments, keywords), call)


def dotted_name(expression: ast.expr) -> str:
    """Write the last name of a callee, whatever is before the dot."""
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def follow(call: ast.Call, frame: Frame) -> Frame | None:
    """Give the frame of a called helper, or None where it cannot or need not be read."""
    key = ("helper", call)
    if key not in frame.kept:
        frame.kept[key] = _follow(call, frame)
    helper: Frame | None = frame.kept[key]
    return helper


def _follow(call: ast.Call, frame: Frame) -> Frame | None:
    if isinstance(call, Reading):
        return _method(call, "", frame) if frame.depth < DEEPEST else None
    helper = frame.follow(call)
    if helper is not None and _is_installed(helper.scope.function):
        return None
    if not isinstance(call.func, ast.Attribute) or frame.depth >= DEEPEST:
        return helper
    base = frame.scope.look(call.func.value)
    if base is UNKNOWN:
        return helper or _method(call, call.func.attr, frame)
    if helper is None or isinstance(base, type | ModuleType) or base is frame.scope.owner:
        return helper
    return _method(call, call.func.attr, frame) or helper


def _method(call: ast.Call, name: str, frame: Frame) -> Frame | None:
    """Read a method of another object of the user's, as one that is bound to that object."""
    function, owner = _method_of(call, name, frame)
    if function is None:
        return None
    made = read_frame(function, owner, frame.depth + 1, fixed=True)
    if made is None:
        return None
    names = [each.arg for each in (*made.tree.args.posonlyargs, *made.tree.args.args)][1:]
    if owner is None and isinstance(call.func, ast.Attribute):
        made.arguments[OWNER] = (call.func.value, frame)
    for parameter, argument in zip(names, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        made.arguments[parameter] = (argument, frame)
    for keyword in call.keywords:
        if keyword.arg is not None:
            made.arguments[keyword.arg] = (keyword.value, frame)
    return made


def generates(expression: ast.expr, frame: Frame) -> bool:
    """Tell the call of a generator of the user's."""
    helper = follow(expression, frame) if isinstance(expression, ast.Call) else None
    yields = ast.Yield | ast.YieldFrom
    return helper is not None and any(isinstance(each, yields) for each in nodes_of(helper.tree))


class Reading(ast.Call):
    """The reading of a property of the user's, taken for the call that it is."""


def read_as_call(node: ast.Attribute, frame: Frame) -> Reading | None:
    """Give the reading of a property as a call, the same each time; None for other attributes."""
    key = ("property", node)
    if key not in frame.kept:
        frame.kept[key] = None
        if isinstance(node.ctx, ast.Load) and _property(node, frame) is not None:
            frame.kept[key] = ast.copy_location(Reading(node, [], []), node)
    made: Reading | None = frame.kept[key]
    return made


def _property(node: ast.Attribute, frame: Frame) -> tuple[FunctionType, Any] | None:
    """Give the function of a property, and the object where it is known and not its class alone."""
    base = frame.scope.look(node.value)
    owner = None if base is UNKNOWN else base
    class_ = class_of(node.value, frame) if base is UNKNOWN else type(base)
    if class_ is None or isinstance(base, type | ModuleType):
        return None
    found = inspect.getattr_static(class_, node.attr, None)
    getter = found.fget if isinstance(found, property) else None
    if not isinstance(getter, FunctionType) or not is_users(getter) or _is_installed(getter):
        return None
    return getter, owner


def is_hidden(call: ast.Call, frame: Frame) -> bool:
    """Tell a call of the user's own code that is not read: too deep, or without a source."""
    callee, _ = frame.callee(call.func)
    function = plain_function(callee)
    if function is None and isinstance(call.func, ast.Attribute):
        function, _ = _method_of(call, call.func.attr, frame)
    return function is not None and is_users(function) and not _is_installed(function)


def _method_of(call: ast.Call, name: str, frame: Frame) -> tuple[FunctionType | None, Any]:
    """Give the method of an object, and the object where it is known and not its class alone."""
    if not isinstance(call.func, ast.Attribute):
        return None, None
    if isinstance(call, Reading):
        return _property(call.func, frame) or (None, None)
    base = frame.scope.look(call.func.value)
    owner = None if base is UNKNOWN else base
    if base is UNKNOWN:
        base = class_of(call.func.value, frame)
    function = None if base is None else attribute_of(base, name)
    if not isinstance(function, FunctionType) or not is_users(function) or _is_installed(function):
        return None, None
    return function, owner


def _is_installed(function: FunctionType) -> bool:
    """Tell a function of an installed package: foreign code, whether its source is there or not."""
    return function.__code__.co_filename.startswith(_INSTALLED)
