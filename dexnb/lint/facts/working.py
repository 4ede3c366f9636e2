"""Loops that look like polls and work: they try again, take the next batch, pick a free name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from dexnb.graph.amounts import Amounts
from dexnb.graph.frames import Frame
from dexnb.graph.scope import UNKNOWN
from dexnb.lint.facts.bindings import bindings_of, dotted
from dexnb.lint.facts.nodes import nodes_of, within
from dexnb.lint.facts.origin import origin_of, top_of
from dexnb.lint.facts.sources import names_in
from dexnb.lint.facts.spots import Around, CallSpot, LoopSpot, Spot
from dexnb.lint.facts.words import is_not_ready, split, words

MOST_TRIES = 20
"""Tries up to which a loop that gives up is a retry; with more it waits for something."""

_CHANGES = words("alter create delete drop insert merge truncate update")
_REMOVES = words("delete prune purge remove")
_MAKES_UP = words("random secrets uuid")
_NEARNESS = words("eps epsilon gradient loss residual tol tolerance")
_USES = words("click press send_keys submit tap")


def changes_rows(spot: CallSpot) -> bool:
    """Tell a call that does a piece of work and says how much: `delete from ... limit 1000`."""
    function = spot.call.func
    name = function.attr if isinstance(function, ast.Attribute) else dotted(function)
    if name.partition("_")[0] in _REMOVES:
        return True
    return any(_text(each, spot.frame).partition(" ")[0] in _CHANGES for each in spot.call.args)


def _text(given: ast.expr, frame: Frame) -> str:
    """Give how a text begins, in small letters."""
    match given:
        case ast.Constant(value=str(text)):
            return " ".join(text.split()).lower()
        case ast.JoinedStr(values=[first, *_]):
            return _text(first, frame)
        case ast.Call(args=[first]):
            return _text(first, frame)
        case ast.Name(id=name):
            bound = bindings_of(frame).of(name)
            if bound:
                return "" if isinstance(bound[0].value, ast.Name) else _text(bound[0].value, frame)
            value = frame.scope.look(given)
            known = value is not UNKNOWN and isinstance(value, str)
            return " ".join(value.split()).lower() if known else ""
        case _:
            return ""


def picks_a_name(asks: Iterable[CallSpot], loop: LoopSpot) -> bool:
    """Tell a loop that asks for another thing in each round, one that it makes up itself."""
    return all(
        any(_is_made_up(part, spot.frame, loop.node) for part in spot.call.args) for spot in asks
    )


def _is_made_up(given: ast.expr, frame: Frame, loop: ast.AST) -> bool:
    own = within(loop)
    parts: list[ast.AST] = [given]
    for name in names_in(given):
        parts += [each.value for each in bindings_of(frame).of(name) if each.statement in own]
    return any(
        isinstance(node, ast.Call) and top_of(origin_of(node.func, frame)) in _MAKES_UP
        for part in parts
        for node in nodes_of(part)
    )


def converges(tests: Iterable[Around]) -> bool:
    """Tell a computation that goes on until it is near enough: `while loss > 0.01`."""
    return any(
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        and any(split(name) & _NEARNESS for name in names_in(node))
        for test in tests
        for node in within(test.node)
    )


def uses_what_it_finds(asks: Iterable[CallSpot], calls: Sequence[CallSpot]) -> bool:
    """Tell a loop that does something with what it looks for, as to click `next` on a page."""
    used = [
        ast.dump(made)
        for spot in calls
        if isinstance(spot.call.func, ast.Attribute) and spot.call.func.attr in _USES
        for node in within(spot.call.func.value)
        if isinstance(node, ast.Call) and node.args
        for made in node.args[-1:]
    ]
    return all(spot.call.args and ast.dump(spot.call.args[-1]) in used for spot in asks)


def gives_up(tried: Around, loop: LoopSpot, exits: Iterable[Spot]) -> bool:
    """Tell a `try` in a loop that is left by its error after a few rounds: a retry.

    Args:
        tried: The `try` around a call.
        loop: The loop.
        exits: Ways out of the loop.
    """
    if not isinstance(tried.node, ast.Try) or tried.frame is not loop.frame:
        return False
    if any(is_not_ready(name) for each in tried.node.handlers for name in _types(each)):
        return False
    handled = {part for each in tried.node.handlers for part in within(each)}
    counted = _counted(loop)
    return any(
        isinstance(exit_.node, ast.Raise)
        and exit_.node in handled
        and any(
            each.kind == "guard" and each.passed and _is_few(each, counted)
            for each in exit_.within(loop.loop)
        )
        for exit_ in exits
    )


def _types(handler: ast.ExceptHandler) -> list[str]:
    return [] if handler.type is None else list(names_in(handler.type))


def _counted(loop: LoopSpot) -> set[str]:
    added = (node for node in within(loop.node) if isinstance(node, ast.AugAssign))
    return {dotted(node.target) for node in added if isinstance(node.op, ast.Add | ast.Sub)}


def _is_few(test: Around, counted: set[str]) -> bool:
    """Tell a test of a count of tries; a limit that is not known is taken for a few."""
    match test.node:
        case ast.Compare(left=left, comparators=[right]):
            pass
        case _:
            return False
    for count, limit in ((left, right), (right, left)):
        if counted & set(names_in(count)):
            value = Amounts().of(limit, test.frame).value
            return value is None or value <= MOST_TRIES
    return False
