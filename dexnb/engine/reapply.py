"""What outsiders wrote behind the point of a time travel, written once more. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dexnb.engine.ledger import Ledger
from dexnb.model.event import Event
from dexnb.model.history import apply, fold
from dexnb.model.run_state import RunState

EXTERNAL = frozenset({"channel_published", "rpc_completed"})
"""Kinds of events by which something from outside is written."""


def reapply(ledger: Ledger, events: Sequence[Event], cut: int) -> None:
    """Write once more what outsiders wrote behind the cut, in its order.

    Messages get new ids, because what Steps published does not come again; a removal follows its
    message to its new id.

    Args:
        ledger: The first turn of the new run, whose state is that of the cut.
        events: The old run's history.
        cut: How many of them the new run has too.
    """
    old = fold(events[:cut])
    # Up to the cut both runs have the same messages.
    ids = {str(number): str(number) for number in range(1, old.published + 1)}
    for event in events[cut:]:
        if event.kind not in EXTERNAL:
            apply(old, event)
            continue
        payload, writes = dict(event.payload), event.payload.get("writes", {})
        took = _pending_of(old, writes.get("removed", ()))
        before, new_before = old.published, ledger.state.published
        apply(old, event)
        for number in range(1, old.published - before + 1):
            ids[str(before + number)] = str(new_before + number)
        if "removed" in writes:
            payload["writes"] = {name: part for name, part in writes.items() if name != "removed"}
            if removed := [[name, ids[each]] for name, each in took if each in ids]:
                payload["writes"]["removed"] = removed
        ledger.emit(event.kind, **payload)  # type: ignore[arg-type]  # it is one of EXTERNAL


def _pending_of(state: RunState, removed: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """Give the removals that found their message; the others were too late."""
    return [
        (name, each)
        for name, each in removed
        if any(each == identity for identity, _ in state.channels.get(name, ()))
    ]
