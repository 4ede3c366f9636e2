"""Calls that start an event loop of their own."""

from __future__ import annotations

from dexnb.lint.facts.origin import last_of, top_of

_STARTS = frozenset(
    {
        ("asyncio", "run"),
        ("asyncio", "Runner"),
        ("asyncio", "new_event_loop"),
        ("anyio", "run"),
        ("trio", "run"),
        ("uvloop", "run"),
        ("uvloop", "new_event_loop"),
        ("nest_asyncio", "apply"),
        ("asgiref", "async_to_sync"),
        ("asgiref", "AsyncToSync"),
    }
)
_METHODS = frozenset({"run_until_complete", "run_forever"})


def starts_loop(origin: str, method: str = "") -> bool:
    """Tell a call that runs an event loop, or makes one.

    Args:
        origin: The dotted name of what is called.
        method: The name after the last dot, where the origin is not known.
    """
    if (top_of(origin), last_of(origin)) in _STARTS:
        return True
    return (last_of(origin) or method) in _METHODS
