"""Where a Step raises because something is not ready yet."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.origin import last_of, origin_of
from dexnb.lint.facts.spots import Around, Spot
from dexnb.lint.facts.states import Atom, atoms_of
from dexnb.lint.facts.words import (
    FAILURE,
    GOOD,
    OVER,
    PENDING,
    SUCCESS,
    is_not_ready,
    speaks_of_reply,
    split,
)

Says = Literal["yes", "no", "cannot tell"]

AFTER = frozenset({"retry_after", "RetryAfterError"})
"""What asks for another attempt on purpose."""


@dataclass(frozen=True, slots=True, eq=False)
class Raise:
    """A `raise` that an answer of foreign code leads to.

    Args:
        spot: It.
        error: The last name of what it raises.
        says: Whether it says that something is not ready yet.
    """

    spot: Spot
    error: str
    says: Says


def raises_of(method: MethodFacts) -> Iterator[Raise]:
    """Give each `raise` under a test of what foreign code has answered."""
    for spot in method.spots.exits:
        if not isinstance(spot.node, ast.Raise) or spot.node.exc is None:
            continue
        if any(each.kind == "handler" for each in spot.around):
            continue
        guards = [each for each in spot.around if each.kind == "guard"]
        asked = [each for each in guards if method.from_foreign(each.node, each.frame)]
        if asked:
            error = _error(spot)
            yield Raise(spot, error, _says(error, asked[-1]))


def _error(spot: Spot) -> str:
    made = spot.node.exc if isinstance(spot.node, ast.Raise) else None
    if isinstance(made, ast.Call):
        made = made.func
    if made is None:
        return ""
    plain = made.id if isinstance(made, ast.Name) else getattr(made, "attr", "")
    return last_of(origin_of(made, spot.frame)) or plain


def _says(error: str, guard: Around) -> Says:
    if is_not_ready(error):
        return "yes"
    if speaks_of_reply(guard.node):
        return "no"
    atoms = list(atoms_of(guard.node, guard.frame, passed=guard.passed))
    answers = {_of_atom(atom) for atom in atoms}
    if "yes" in answers and "no" not in answers:
        return "yes"
    return "no" if "no" in answers or split(error) & FAILURE else "cannot tell"


def _of_atom(atom: Atom) -> Says:
    words = frozenset().union(*(split(state) for state in atom.states), atom.words)
    if atom.states:
        if atom.among:
            return "yes" if words & PENDING and not words & FAILURE else "no"
        return "yes" if words & (SUCCESS | OVER) and not words & FAILURE else "no"
    if words & FAILURE:
        return "no"
    if words & (SUCCESS | OVER | GOOD):
        return "no" if atom.among else "yes"
    return "yes" if words & PENDING and atom.among else "cannot tell"
