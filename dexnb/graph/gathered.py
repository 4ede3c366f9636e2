"""What a function puts into a local collection bit by bit."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from dexnb.graph.frames import Frame

_GROWS = ("append", "extend", "insert", "add")


@dataclass(frozen=True, slots=True, eq=False)
class Put:
    """An expression that is put into a collection; with `element` what it contains is."""

    expression: ast.expr
    element: bool = False


def gathered(name: str, frame: Frame) -> list[Put] | None:
    """Give what is put into a local collection; None where others may put in what they like."""
    found: list[Put] = []
    for call in frame.calls():
        match call.func:
            case ast.Attribute(value=ast.Name(id=base), attr=method) if (
                base == name and method in _GROWS
            ):
                found += [Put(added, element=method == "extend") for added in call.args[-1:]]
            case _ if name in _handed(call) and not _only_reads(call, frame):
                return None
    return found


def _handed(call: ast.Call) -> set[str]:
    """Name the variables that a call is given."""
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    plain = (each.value if isinstance(each, ast.Starred) else each for each in given)
    return {each.id for each in plain if isinstance(each, ast.Name)}


def _only_reads(call: ast.Call, frame: Frame) -> bool:
    """Tell a call that leaves a collection as it is: of a built-in, or of a maker of dexnb's."""
    module = str(getattr(frame.scope.look(call.func), "__module__", ""))
    return module == "builtins" or module.startswith("dexnb.flow.")
