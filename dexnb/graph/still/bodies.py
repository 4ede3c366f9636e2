"""`ClassBody`: what a stand-in of a class was made of."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from dexnb.graph.opaque import Opaque
from dexnb.graph.still.attributes import STAND_IN
from dexnb.graph.still.names import Names


@dataclass(slots=True, eq=False)
class ClassBody:
    """What a class was made of.

    Args:
        node: Its definition.
        names: The names of its body.
        annotated: The annotations in its body.
        hidden: Its bases that are not known.
    """

    node: ast.ClassDef
    names: Names
    annotated: dict[str, ast.AnnAssign] = field(default_factory=dict)
    hidden: list[Opaque] = field(default_factory=list)


def hidden_bases(class_: type) -> list[str]:
    """Name the bases of a class, and of its bases, that are not known."""
    bodies = (vars(each).get(STAND_IN) for each in class_.__mro__)
    found = (each for body in bodies if isinstance(body, ClassBody) for each in body.hidden)
    return list(dict.fromkeys(each.origin for each in found))
