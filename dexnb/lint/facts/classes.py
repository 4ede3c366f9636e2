"""The classes of the user's own objects: made in the function, handed to it, or held in a list."""

from __future__ import annotations

import ast

from dexnb.graph.frames import Frame
from dexnb.lint.facts.bindings import Binding, bindings_of, dotted

DEEPEST = 8
"""How many names and calls lie at most between an object and its class."""

OWNER = "<owner>"
"""What a frame keeps as an argument for the object that a method of another class is called of."""

_SAME = frozenset({"list", "tuple", "set", "sorted", "reversed", "iter", "copy", "values", "items"})


def class_of(expression: ast.expr, frame: Frame, depth: int = 0) -> type | None:
    """Give the class of an object; None where the code does not tell."""
    if depth > DEEPEST:
        return None
    match expression:
        case ast.Await(value=inner) | ast.NamedExpr(value=inner):
            return class_of(inner, frame, depth + 1)
        case ast.Call():
            return _of_call(expression, frame, depth)
        case ast.Name(id=name) if bindings_of(frame).of(name) or name in frame.arguments:
            return _of_name(name, frame, depth)
        case ast.Name(id=name) if OWNER in frame.arguments and name == _first(frame):
            given, caller = frame.arguments[OWNER]
            return class_of(given, caller, depth + 1)
        case ast.Attribute():
            return _of_bound(bindings_of(frame).of(dotted(expression)), frame, depth)
        case ast.Subscript(value=inner):
            return _of_element(inner, frame, depth + 1)
        case _:
            return None


def _of_name(name: str, frame: Frame, depth: int) -> type | None:
    found = _of_bound(bindings_of(frame).of(name), frame, depth)
    if found is None and name in frame.arguments:
        given, caller = frame.arguments[name]
        return class_of(given, caller, depth + 1)
    return found


def _of_bound(bound: list[Binding], frame: Frame, depth: int) -> type | None:
    made = [each for each in bound if not each.effect]
    if not made:
        return None
    if isinstance(made[0].statement, ast.For | ast.AsyncFor | ast.comprehension):
        return _of_element(made[0].value, frame, depth + 1)
    return class_of(made[0].value, frame, depth + 1)


def _of_call(call: ast.Call, frame: Frame, depth: int) -> type | None:
    class_ = frame.scope.look(call.func)
    if isinstance(class_, type):
        return class_
    helper = frame.follow(call)
    for node in ast.walk(helper.tree) if helper is not None else ():
        if isinstance(node, ast.Return) and node.value is not None and helper is not None:
            return class_of(node.value, helper, depth + 1)
    return None


def _of_element(expression: ast.expr, frame: Frame, depth: int) -> type | None:
    """Give the class of what a list, or another collection, holds."""
    if depth > DEEPEST:
        return None
    match expression:
        case ast.List(elts=[one, *_]) | ast.Tuple(elts=[one, *_]) | ast.Set(elts=[one, *_]):
            return class_of(one, frame, depth + 1)
        case ast.ListComp(elt=one) | ast.SetComp(elt=one) | ast.GeneratorExp(elt=one):
            return class_of(one, frame, depth + 1)
        case ast.DictComp(value=one) | ast.Dict(values=[one, *_]):
            return class_of(one, frame, depth + 1)
        case ast.Name(id=name):
            return _of_held(name, frame, depth)
        case ast.Call(func=ast.Name(id=name), args=[inner, *_]) if name in _SAME:
            return _of_element(inner, frame, depth + 1)
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _SAME:
            return _of_element(inner, frame, depth + 1)
        case _:
            return None


def _of_held(name: str, frame: Frame, depth: int) -> type | None:
    for each in bindings_of(frame).of(name):
        if not each.effect and (found := _of_element(each.value, frame, depth + 1)) is not None:
            return found
    if name in frame.arguments:
        given, caller = frame.arguments[name]
        return _of_element(given, caller, depth + 1)
    return None


def _first(frame: Frame) -> str:
    names = [*frame.tree.args.posonlyargs, *frame.tree.args.args]
    return names[0].arg if names else ""
