"""Where the thing behind an expression comes from, and the parts of such a name."""

from __future__ import annotations

import ast

from dexnb.graph.frames import Frame
from dexnb.graph.origin import DEEPEST
from dexnb.graph.origin import origin_of as read_origin
from dexnb.lint.facts.bindings import bindings_of


def origin_of(expression: ast.expr, frame: Frame, depth: int = 0) -> str:
    """Give the dotted name of what an expression stands for, or an empty text.

    Of a variable that is given several things the first tells most: what follows is often a
    refresh of the same.
    """
    key = ("origin", expression, depth)
    if key not in frame.kept:
        frame.kept[key] = _read(expression, frame, depth)
    found: str = frame.kept[key]
    return found


def _read(expression: ast.expr, frame: Frame, depth: int) -> str:
    found = read_origin(expression, frame)
    if found or depth > DEEPEST:
        return found
    match expression:
        case ast.Await(value=inner):
            return origin_of(inner, frame, depth + 1)
        case ast.Attribute(value=base, attr=attribute):
            before = origin_of(base, frame, depth + 1)
            return f"{before}.{attribute}" if before else ""
        case ast.Call(func=function):
            made = origin_of(function, frame, depth + 1)
            return f"{made}()" if made else ""
        case ast.Name(id=name):
            bound = [each for each in bindings_of(frame).of(name) if not each.effect]
            return origin_of(bound[0].value, frame, depth + 1) if bound else ""
        case _:
            return ""


def top_of(origin: str) -> str:
    """Give the package of a dotted name; Dex's own is dexnb's."""
    top = origin.partition(".")[0].partition("(")[0]
    return "dexnb" if top == "dex" else top


def last_of(origin: str) -> str:
    """Give the last name of a dotted name, without call brackets."""
    return origin.rpartition(".")[2].replace("()", "")
