"""What the rounds of a loop do beside asking: go through data, pages or messages, or nothing."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dexnb.graph.frames import Frame
from dexnb.lint.facts.bindings import bindings_of, dotted
from dexnb.lint.facts.kinds import is_context
from dexnb.lint.facts.nodes import within
from dexnb.lint.facts.origin import last_of, origin_of
from dexnb.lint.facts.questions import MAKES, TAKES_NEXT, method_of
from dexnb.lint.facts.sources import Sources, bound_inside, names_in
from dexnb.lint.facts.spots import SHOWS, Around, CallKind, CallSpot, LoopSpot

_COUNTS = frozenset({"range", "count", "repeat", "cycle"})


def is_data_loop(
    loop: LoopSpot,
    asks: Sequence[CallSpot],
    calls: Sequence[CallSpot],
    tests: Sequence[Around],
    frames: Sequence[Frame],
) -> bool:
    """Tell a loop that asks something else in each round: the next item, page or offset."""
    if any(_is_taken_from(spot, calls) for spot in asks):
        return True
    if all(_is_given_next(spot, loop, frames) for spot in asks):
        return True
    return all(_asks_the_next(spot, loop, tests, frames) for spot in asks)


def _is_given_next(ask: CallSpot, loop: LoopSpot, frames: Sequence[Frame]) -> bool:
    """Tell the ask of a generator that goes through data itself, or asks with its last answer."""
    ticks = within(loop.node.iter) if isinstance(loop.node, ast.For | ast.AsyncFor) else ()
    if not any(each.kind == "call" and each.node in ticks for each in ask.around):
        return False
    inner = [each for each in ask.within(loop.loop) if each.kind == "loop"]
    return not inner or any(_goes_on(ask, each, frames) for each in inner)


def _goes_on(ask: CallSpot, loop: Around, frames: Sequence[Frame]) -> bool:
    given = Sources(frames)
    for part in _parts(ask.call):
        given.add(part, ask.frame)
    if isinstance(loop.node, ast.For | ast.AsyncFor):
        return bool(given.names & set(names_in(loop.node.target)))
    return any(
        name in Sources(frames).add(each.value, loop.frame).names
        for name in given.names
        for each in bound_inside(name, loop.node, loop.frame)
        if not each.effect
    )


def _is_taken_from(ask: CallSpot, calls: Sequence[CallSpot]) -> bool:
    """Tell whether the loop takes items out of what it asks."""
    if not isinstance(ask.call.func, ast.Attribute):
        return False
    asked = dotted(ask.call.func.value)
    return any(
        isinstance(spot.call.func, ast.Attribute)
        and spot.call.func.attr in TAKES_NEXT
        and dotted(spot.call.func.value) == asked != ""
        for spot in calls
    )


def _asks_the_next(
    ask: CallSpot, loop: LoopSpot, tests: Sequence[Around], frames: Sequence[Frame]
) -> bool:
    given = Sources(frames)
    for part in (ask.call.func, *ask.call.args, *(each.value for each in ask.call.keywords)):
        given.add(part, ask.frame)
    node = loop.node
    if isinstance(node, ast.For) and not _counts(node, loop.frame):
        targets = set(names_in(node.target))
        if given.names & targets:
            return True
    if any(method_of(each) in TAKES_NEXT and each in within(node) for each in given.calls):
        return True
    for name in given.names:
        if name == "self":
            continue
        own = [each for each in bound_inside(name, node, loop.frame) if not each.effect]
        if any(name in Sources(frames).add(each.value, loop.frame).names for each in own):
            derived = Sources(frames)
            for each in own:
                derived.add(each.value, loop.frame)
            if ask.node not in derived.calls or _is_token(ask, tests, loop):
                return True
    return False


def _counts(node: ast.For, frame: Frame) -> bool:
    """Tell a loop over numbers, which says how often and not through what."""
    match node.iter:
        case ast.Call(func=function):
            return last_of(origin_of(function, frame) or dotted(function)) in _COUNTS
        case _:
            return False


def _is_token(ask: CallSpot, tests: Sequence[Around], loop: LoopSpot) -> bool:
    """Tell whether what the ask is given is what ends the loop when there is no more of it."""
    given = {text for part in _parts(ask.call) for text in names_in(part)}
    ends = {text for test in tests for text in names_in(test.node)}
    for text in tuple(given):
        for each in bound_inside(text, loop.node, loop.frame):
            given.update(names_in(each.value))
    for text in tuple(ends):
        for each in bindings_of(loop.frame).of(text):
            if isinstance(each.value, ast.Attribute | ast.Name | ast.Subscript):
                ends.update(names_in(each.value))
    return bool((given - {"self"}) & ends)


def _parts(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def only_asks(
    loop: LoopSpot, asks: Sequence[CallSpot], calls: Sequence[CallSpot], frames: Sequence[Frame]
) -> bool:
    """Tell a loop whose round asks, tests the answer and shows that it lives, and no more."""
    made = {spot.node for spot in asks}
    for spot in calls:
        maker = isinstance(spot.call.func, ast.Attribute) and spot.call.func.attr in MAKES
        if spot.kind is CallKind.FOREIGN and spot.node not in made and not maker:
            base = spot.call.func
            read = Sources(frames).add(base, spot.frame).calls
            if not (read & made) and not _is_inside(spot.node, made):
                return False
    shown = {spot.node for spot in calls if spot.kind in SHOWS}
    return not _collects(loop, made, shown, frames) and not _works(calls, made, frames)


def _is_inside(node: ast.AST, made: set[ast.AST]) -> bool:
    """Tell a call on the way to an ask: `db.cursor().execute(...)`."""
    return any(node in within(each) for each in made)


def _works(calls: Sequence[CallSpot], made: set[ast.AST], frames: Sequence[Frame]) -> bool:
    """Tell whether a helper without the context is given the answer: it works with it."""
    for spot in calls:
        given = _parts(spot.call)
        if spot.kind is not CallKind.FOLLOWED or not spot.dropped or not given:
            continue
        if any(is_context(each, spot.frame) for each in given):
            continue
        if any(Sources(frames).add(each, spot.frame).calls & made for each in given):
            return True
    return False


def _collects(
    loop: LoopSpot, made: set[ast.AST], shown: set[ast.AST], frames: Sequence[Frame]
) -> bool:
    """Tell whether a round keeps what it was told: adds it up, puts it away, yields it."""
    for node in within(loop.node):
        match node:
            case ast.AugAssign(value=value) | ast.Yield(value=ast.expr() as value):
                kept: ast.AST = value
            case ast.Assign(targets=[ast.Subscript()], value=value) | ast.For(iter=value):
                kept = value
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=args)) if (
                name in ("append", "extend", "add", "put", "put_nowait", "update") and args
            ):
                kept = args[0]
            case _:
                continue
        if kept not in shown and Sources(frames).add(kept, loop.frame).calls & made:
            return True
    return False
