"""Coroutines that are made and never run: `asyncio.sleep(5)` without `await` does nothing."""

from __future__ import annotations

import ast

from dexnb.graph.frames import Frame
from dexnb.lint.facts.bindings import bindings_of
from dexnb.lint.facts.nodes import nodes_of
from dexnb.lint.facts.origin import top_of
from dexnb.lint.facts.spots import CallKind, Spot

_ON_LOOP = frozenset({"asyncio", "anyio", "trio"})


def is_lost(spot: Spot, kind: CallKind, origin: str, *, awaited: bool, dropped: bool) -> bool:
    """Tell a pause or a beat of a coroutine that nothing awaits.

    Args:
        spot: The call.
        kind: What it would be.
        origin: The dotted name of what is called.
        awaited: Whether it is awaited where it stands, or handed to what awaits it.
        dropped: Whether nothing takes its result.
    """
    is_coroutine = isinstance(spot.frame.tree, ast.AsyncFunctionDef)
    makes = kind is CallKind.BEAT or (kind is CallKind.PAUSE and top_of(origin) in _ON_LOOP)
    if not is_coroutine or not makes or awaited:
        return False
    # A beat whose result nothing takes is told of by a rule of its own.
    return (dropped and kind is CallKind.PAUSE) or _is_put_away(spot.node, spot.frame)


def _is_put_away(node: ast.AST, frame: Frame) -> bool:
    """Tell whether it is given to a name that nothing reads."""
    names = {
        name
        for name, bound in bindings_of(frame).by_name.items()
        if any(each.value is node for each in bound)
    }
    read = {
        each.id
        for each in nodes_of(frame.tree)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }
    return bool(names) and all("." not in name for name in names) and not names & read
