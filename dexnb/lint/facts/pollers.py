"""Libraries that wait or retry by themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.graph.frames import Frame
from dexnb.lint.facts.following import dotted_name
from dexnb.lint.facts.origin import last_of, origin_of, top_of
from dexnb.lint.facts.spots import CallKind, CallSpot
from dexnb.lint.facts.words import split, words

_PACKAGES = {
    "backoff": frozenset({"on_exception", "on_predicate", "runtime"}),
    "busypie": frozenset({"wait", "until", "wait_at_most"}),
    "polling": frozenset({"poll"}),
    "polling2": frozenset({"poll", "poll_decorator"}),
    "retry": frozenset({"retry", "retry_call"}),
    "retrying": frozenset({"retry", "Retrying"}),
    "stamina": frozenset({"retry", "retry_context"}),
    "tenacity": frozenset({"AsyncRetrying", "Retrying", "retry"}),
    "waiting": frozenset({"wait"}),
}
_WAITER = "get_waiter"
_ENDS = words("""
    build complete completion deployment done execution exists finish finished job operation ready
    result run running state status task termination
""")
_OPERATION = "begin_"


def poller_of(call: CallSpot) -> str:
    """Name the library whose wait a call is; empty for another call."""
    origin = call.origin
    names = _PACKAGES.get(top_of(origin), frozenset())
    if last_of(origin) in names:
        return top_of(origin)
    if call.kind is not CallKind.FOREIGN:
        return ""
    name = last_of(origin) or dotted_name(call.call.func)
    if name == "wait" and (f"{_WAITER}(" in origin or _has_waiter(call.call.func)):
        return "a waiter"
    if name in ("result", "wait") and f".{_OPERATION}" in f"{origin}.":
        return "a long running operation"
    if name.startswith(("wait_until_", "wait_for_")) and split(name) & _ENDS:
        return "a waiter"
    return ""


def _has_waiter(callee: ast.expr) -> bool:
    calls = (node for node in ast.walk(callee) if isinstance(node, ast.Call))
    return any(dotted_name(each.func) == _WAITER for each in calls)


def pollers_around(frame: Frame) -> Iterator[tuple[ast.expr, str]]:
    """Give the decorators of a function that repeat it, with the names of their libraries."""
    for decorator in frame.tree.decorator_list:
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        origin = origin_of(made, frame)
        if last_of(origin) in _PACKAGES.get(top_of(origin), frozenset()):
            yield decorator, top_of(origin)
