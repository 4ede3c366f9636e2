"""What reads a clock."""

from __future__ import annotations

import ast

from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.origin import last_of, top_of
from dexnb.lint.facts.spots import Around

_CLOCKS = frozenset(
    {
        ("time", "time"),
        ("time", "time_ns"),
        ("time", "monotonic"),
        ("time", "monotonic_ns"),
        ("time", "perf_counter"),
        ("time", "perf_counter_ns"),
        ("datetime", "now"),
        ("datetime", "utcnow"),
        ("datetime", "today"),
        ("asyncio", "time"),
        ("anyio", "current_time"),
    }
)


def reads_clock(method: MethodFacts, test: Around) -> bool:
    """Tell whether a test comes from a clock."""
    found = method.sources(test.node, test.frame).calls
    return any(
        spot.node in found and _is_clock(spot.origin, spot.call) for spot in method.spots.calls
    )


def _is_clock(origin: str, call: ast.Call) -> bool:
    if (top_of(origin), last_of(origin)) in _CLOCKS:
        return True
    match call.func:
        case ast.Attribute(value=ast.Name(id="loop"), attr="time"):
            return True
        case ast.Attribute(value=ast.Call(func=inner), attr="time"):
            return isinstance(inner, ast.Attribute) and inner.attr.endswith("_loop")
        case _:
            return False
