"""What limits the time of a call: a timeout around it, one of its own, or one of its client."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from dexnb.graph.frames import Frame
from dexnb.graph.origin import ENTERS
from dexnb.lint.facts.bindings import bindings_of
from dexnb.lint.facts.endless import is_endless
from dexnb.lint.facts.origin import last_of, origin_of, top_of
from dexnb.lint.facts.spots import Around, CallSpot, Trail

Bounded = Literal["yes", "no", "cannot tell"]

DEEPEST = 4
"""How many names lie at most between a call and the making of its client."""

LIMITS = frozenset(
    {
        ("asyncio", "timeout"),
        ("asyncio", "timeout_at"),
        ("asyncio", "wait_for"),
        ("anyio", "fail_after"),
        ("anyio", "move_on_after"),
        ("async_timeout", "timeout"),
        ("trio", "fail_after"),
        ("trio", "move_on_after"),
    }
)
OWN_LIMITS = (
    "timeout",
    "request_timeout",
    "timeout_s",
    "timeout_seconds",
    "timeout_sec",
    "deadline",
)
_TO_CONNECT = frozenset({"connect_timeout", "connection_timeout", "login_timeout", "pool_timeout"})
_HAVE_ONE = frozenset({"httpx"})
"""Packages whose clients have a timeout unless they are told to have none."""


def is_bounded(call: CallSpot, trail: Trail | None = None) -> Bounded:
    """Tell whether the time of a call is limited.

    Args:
        call: It.
        trail: What around it counts; what is around a loop limits the loop and not the call.
    """
    if any(True for _ in limits_in(call.around if trail is None else trail)):
        return "yes"
    own = _of_arguments(call.call, call.frame)
    if own is not None:
        return own
    for made in makers_of(call):
        own = _of_arguments(made, call.frame, makes=True)
        if own is not None:
            return own
    return "yes" if top_of(call.origin) in _HAVE_ONE else "no"


def makers_of(call: CallSpot) -> Iterator[ast.Call]:
    """Give the calls that made what a method is called of: a request, its session, and so on."""
    made = _client(call.call.func, call.frame)
    for _ in range(DEEPEST):
        if made is None:
            break
        yield made
        made = _client(made.func, call.frame)


def limits_in(trail: Trail) -> Iterator[Around]:
    """Give what limits time among the things around a place."""
    for each in trail:
        if each.kind == "bound" and isinstance(each.node, ast.Call):
            if not is_endless(_argument(each.node, 1, "timeout"), each.frame):
                yield each
        elif (
            each.kind == "with"
            and isinstance(each.node, ast.With | ast.AsyncWith)
            and any(limits(item.context_expr, each.frame) for item in each.node.items)
        ):
            yield each


def limits(expression: ast.expr, frame: Frame) -> bool:
    """Tell the making of a timeout, `asyncio.timeout(5)`, also by way of a name."""
    if isinstance(expression, ast.Name):
        bound = bindings_of(frame).of(expression.id)
        return bool(bound) and limits(bound[0].value, frame)
    if not isinstance(expression, ast.Call):
        return False
    origin = origin_of(expression.func, frame)
    if (top_of(origin), last_of(origin)) not in LIMITS:
        return False
    return not is_endless(_argument(expression, 0, "delay"), frame)


def _argument(call: ast.Call, at: int, name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[at] if len(call.args) > at else None


def _of_arguments(call: ast.Call, frame: Frame, *, makes: bool = False) -> Bounded | None:
    for keyword in call.keywords:
        if is_limit(keyword.arg or "", makes=makes):
            return "no" if is_endless(keyword.value, frame) else "yes"
    return "cannot tell" if any(each.arg is None for each in call.keywords) else None


def is_limit(name: str, *, makes: bool) -> bool:
    """Tell the name of an argument that limits the time of a call.

    Args:
        name: It.
        makes: Whether it is given to what makes the client: the time to connect is then no limit.
    """
    if makes and name in _TO_CONNECT:
        return False
    return name in OWN_LIMITS or name.endswith("_timeout")


def _entered(made: ast.expr, frame: Frame) -> ast.expr:
    """Give what is made where it is handed on to be closed: `stack.enter_context(Session())`."""
    call = made.value if isinstance(made, ast.Await) else made
    if isinstance(call, ast.Call) and call.args and origin_of(call.func, frame) in ENTERS:
        return call.args[0]
    return made


def _client(function: ast.expr, frame: Frame, depth: int = 0) -> ast.Call | None:
    """Give the call that made the client whose method is called, where the code shows it."""
    if depth > DEEPEST:
        return None
    match function:
        case ast.Attribute(value=ast.Call() as made):
            return made
        case ast.Attribute(value=ast.Name(id=name)):
            bound = [each for each in bindings_of(frame).of(name) if not each.effect]
            entered = _entered(bound[0].value, frame) if bound else None
            if isinstance(entered, ast.Call):
                return entered
            if name in frame.arguments:
                given, caller = frame.arguments[name]
                if isinstance(given, ast.Call):
                    return given
                again = ast.Attribute(given, "call", ast.Load())
                return _client(again, caller, depth + 1)
            return None
        case ast.Attribute(value=inner):
            return _client(inner, frame, depth + 1)
        case _:
            return None
