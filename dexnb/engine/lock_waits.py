"""Which Steps of a run wait for locks, and who holds these. Pure."""

from __future__ import annotations

from dexnb.model.run_state import RunState

_SHOWN = 3


def lock_waits(state: RunState) -> str:
    """Say which Steps wait for which locks, and who holds them; empty if none does."""
    waits = [
        f"{key} waits for the lock of {name}, {_holder(state, key, name)}"
        for key, step in state.active.items()
        if step.phase == "queued"
        for name in step.locks
        if name in state.locks or _before(state, key, name)
    ]
    more = len(waits) - _SHOWN
    return "; ".join([*waits[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def _holder(state: RunState, key: str, name: str) -> str:
    holder = state.locks.get(name)
    if holder is None:
        # What an earlier one waits for is kept for it.
        return f"behind {_before(state, key, name)}"
    return f"held by {holder if holder in state.active else 'an RPC'}"


def _before(state: RunState, key: str, name: str) -> str:
    """Give the execution that is queued for a lock before this one, or an empty text."""
    for other, step in state.active.items():
        if other == key:
            return ""
        if step.phase == "queued" and name in step.locks:
            return other
    return ""
