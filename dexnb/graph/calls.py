"""A call as it would be written without aliases, `functools.partial` and stars."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from types import MethodType
from typing import Any

from dexnb.graph.frames import Frame
from dexnb.graph.scope import UNKNOWN

DEEPEST = 5
"""How many names and partials lie between a call and what it calls, at most."""


def plain_call(call: ast.Call, frame: Frame) -> ast.Call:
    """Give a call of the function itself, with its arguments one by one, where that can be told."""
    for _ in range(DEEPEST):
        further = _without_partial(call, frame) or _without_alias(call, frame)
        if further is None:
            break
        call = further
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    if starred or any(keyword.arg is None for keyword in call.keywords):
        arguments = [each for given in call.args for each in _one_by_one(given, frame)]
        keywords = [each for given in call.keywords for each in _by_name(given, frame)]
        return _copy(call, call.func, arguments, keywords)
    return call


def _copy(
    call: ast.Call, function: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]
) -> ast.Call:
    return ast.copy_location(ast.Call(function, arguments, keywords), call)


def _without_partial(call: ast.Call, frame: Frame) -> ast.Call | None:
    made = call.func
    if isinstance(made, ast.Name):
        made = _only_value(made, frame) or made
    if isinstance(made, ast.Call) and frame.scope.look(made.func) is partial and made.args:
        ours = {keyword.arg for keyword in call.keywords}
        kept = [keyword for keyword in made.keywords if keyword.arg not in ours]
        arguments = [*made.args[1:], *call.args]
        return _copy(call, made.args[0], arguments, [*kept, *call.keywords])
    live = frame.scope.look(call.func)
    if not isinstance(live, partial) or isinstance(live.func, MethodType):
        return None
    ours = {keyword.arg for keyword in call.keywords}
    kept = [
        ast.keyword(name, _constant(value, call))
        for name, value in live.keywords.items()
        if name not in ours
    ]
    arguments = [*(_constant(value, call) for value in live.args), *call.args]
    return _copy(call, _constant(live.func, call), arguments, [*kept, *call.keywords])


def _without_alias(call: ast.Call, frame: Frame) -> ast.Call | None:
    if not isinstance(call.func, ast.Name):
        return None
    name = call.func.id
    if name in frame.arguments and name not in frame.paths.assigned:
        given, caller = frame.arguments[name]
        live = caller.scope.look(given)
        if live is not UNKNOWN:
            return _copy(call, _constant(live, call), call.args, call.keywords)
    value = _only_value(call.func, frame)
    if isinstance(value, ast.Name | ast.Attribute):
        return _copy(call, value, call.args, call.keywords)
    return None


def _constant(value: Any, where: ast.expr) -> ast.expr:
    """Stand for a live object among expressions."""
    return ast.copy_location(ast.Constant(value), where)


def _only_value(name: ast.Name, frame: Frame) -> ast.expr | None:
    """Give what a local variable is given, if that is one thing."""
    found = frame.paths.assigned.get(name.id, [])
    plain = len(found) == 1 and not found[0].element and name.id not in frame.paths.changed
    return found[0].expression if plain else None


def _one_by_one(given: ast.expr, frame: Frame) -> Iterator[ast.expr]:
    if not isinstance(given, ast.Starred):
        yield given
        return
    value = given.value
    if isinstance(value, ast.Name):
        value = _only_value(value, frame) or value
    live = frame.scope.look(value)
    if isinstance(value, ast.Tuple | ast.List):
        for each in value.elts:
            yield from _one_by_one(each, frame)
    elif type(live) is tuple:
        yield from (_constant(each, given) for each in live)
    else:
        yield given


def _by_name(given: ast.keyword, frame: Frame) -> Iterator[ast.keyword]:
    value = given.value
    if given.arg is None and isinstance(value, ast.Name):
        value = _only_value(value, frame) or value
    if given.arg is None and isinstance(value, ast.Dict) and None not in value.keys:
        for key, each in zip(value.keys, value.values, strict=True):
            yield ast.keyword(str(frame.scope.look(key or each)), each)
    else:
        yield given
