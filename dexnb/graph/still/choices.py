"""A function that is defined in two ways: one in its place that calls either."""

from __future__ import annotations

import ast
import inspect
from functools import partial
from types import CellType, CodeType, FunctionType

from dexnb.graph.source import STILL, Tree, made_alone, parsed, written
from dexnb.graph.still.functions import Body

_GENERATES = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


def either(test: ast.expr, one: object, two: object) -> FunctionType | None:
    """Give a function that calls one where a test holds, and else two; it cannot run either.

    None where they are no functions of a text, or not called alike.
    """
    if not isinstance(one, FunctionType) or not isinstance(two, FunctionType):
        return None
    first, second = written(one), written(two)
    if not isinstance(first, Body) or not isinstance(second, Body):
        return None
    tree, other = first.tree, second.tree
    generates = (one.__code__.co_flags | two.__code__.co_flags) & _GENERATES
    if generates or type(tree) is not type(other) or _taken(tree) != _taken(other):
        return None
    callees = [f"_{tree.name}_{number}" for number in (1, 2)]
    code = _code(tree, callees)
    cells = tuple(CellType({callees[0]: one, callees[1]: two}[name]) for name in code.co_freevars)
    made = FunctionType(code, one.__globals__, tree.name, one.__defaults__, cells)
    made.__kwdefaults__ = one.__kwdefaults__
    made.__qualname__ = one.__qualname__
    around = _around(tree, test, callees)
    vars(made)[STILL] = Body(around, first.path, first.cell, first.lines, first.names)
    return made


def _taken(tree: Tree) -> list[list[str]]:
    given = tree.args
    groups = (given.posonlyargs, given.args, given.kwonlyargs, [given.vararg], [given.kwarg])
    return [[each.arg for each in group if each is not None] for group in groups]


def _passed(tree: Tree) -> str:
    before, plain, named, rest, more = _taken(tree)
    parts = [*before, *plain, *(f"*{name}" for name in rest)]
    parts += [*(f"{name}={name}" for name in named), *(f"**{name}" for name in more)]
    return ", ".join(parts)


def _code(tree: Tree, callees: list[str]) -> CodeType:
    names = ", ".join(name for group in _taken(tree) for name in group)
    begins = "async def" if isinstance(tree, ast.AsyncFunctionDef) else "def"
    text = f"def around({', '.join(callees)}):\n {begins} {tree.name}({names}):\n  1 / 0\n"
    text += f"  {', '.join(callees)}\n"
    made = made_alone(partial(compile, text, "<text>", "exec", dont_inherit=True))
    outer = next(each for each in made.co_consts if isinstance(each, CodeType))
    return next(each for each in outer.co_consts if isinstance(each, CodeType))


def _around(tree: Tree, test: ast.expr, callees: list[str]) -> Tree:
    """Give the text of a function that calls either, at the place of the first."""
    waits = "await " if isinstance(tree, ast.AsyncFunctionDef) else ""
    texts = [f"{waits}{name}({_passed(tree)})" for name in callees]
    calls = [parsed(text, "eval").body for text in texts]
    for node in (part for call in calls for part in ast.walk(call)):
        if isinstance(node, ast.expr | ast.keyword):
            ast.copy_location(node, tree)
    one, two = (ast.copy_location(ast.Return(call), tree) for call in calls)
    choice = ast.copy_location(ast.If(test, [one], []), tree)
    made = type(tree)(
        name=tree.name, args=tree.args, body=[choice, two], decorator_list=[], returns=tree.returns
    )
    return ast.copy_location(made, tree)
