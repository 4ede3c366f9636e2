"""Every function that a method comes to, once for each way of calling it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from dexnb.graph.calls import plain_call
from dexnb.graph.frames import Frame, read_frame
from dexnb.graph.paths import walk_paths
from dexnb.graph.source import Tree, is_users, plain_function

MOST = 300
"""Visits after which the rest is left out: no code may stall the reader."""

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def visits(frame: Frame) -> list[Frame]:
    """Give a method's frame and those of all that it calls, or hands on to be called.

    A helper is given again for each call with other arguments, because those may be what it uses.
    """
    keys: set[Any] = set()
    visited: list[Frame] = []
    waiting = [frame]
    while waiting and len(visited) < MOST:
        current = waiting.pop(0)
        key = _key(current)
        if key not in keys:
            keys.add(key)
            visited.append(current)
            waiting.extend(_called(current))
        if not waiting:
            waiting.extend(_uncalled(visited))
    return visited


def own_nodes(frame: Frame) -> Iterator[ast.AST]:
    """Give what stands in a function itself, its lambdas too, but not in functions inside it."""
    waiting: list[ast.AST] = list(reversed(frame.tree.body))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, _DEFINED):
            yield node
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _key(frame: Frame) -> Any:
    given = (each for each in frame.arguments.items() if not isinstance(each[1][0], ast.Constant))
    return frame.tree, tuple((name, id(expression)) for name, (expression, _) in given)


def _called(frame: Frame) -> Iterator[Frame]:
    # As if it were the method itself, so that helpers are followed however deep they are.
    top = replace(frame, depth=0)
    for node in own_nodes(frame):
        if not isinstance(node, ast.Call):
            continue
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        call = plain_call(node, frame)
        if frame.scope.look(node.func) is partial and node.args:
            # Whoever calls it, the arguments are its own.
            call = ast.copy_location(ast.Call(node.args[0], node.args[1:], node.keywords), node)
            del given[0]
        helper = top.follow(call)
        if helper is not None:
            yield helper
        for each in given:
            yield from _handed_on(each, frame)


def _handed_on(given: ast.expr, frame: Frame) -> Iterator[Frame]:
    """Give the frame of a function that is an argument, such as one for a thread."""
    if not isinstance(given, ast.Name | ast.Attribute):
        return
    callee, owner = frame.callee(given)
    function = plain_function(callee)
    if function is None or not is_users(function):
        return
    helper = read_frame(function, owner)
    if helper is not None:
        yield helper


def _uncalled(visited: list[Frame]) -> Iterator[Frame]:
    """Give the functions inside others that nothing was seen to call."""
    trees: set[Tree] = {frame.tree for frame in visited}
    for frame in visited:
        for tree in frame.paths.functions.values():
            if tree not in trees:
                yield Frame(tree, frame.scope, walk_paths(tree), outer=frame)
