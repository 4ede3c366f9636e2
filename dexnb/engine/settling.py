"""What a turn does at its end: waits that are over, locks that are free. Pure."""

from __future__ import annotations

from dexnb.engine.ledger import Ledger
from dexnb.engine.readiness import results_of


def settle(ledger: Ledger) -> None:
    """Let every Step go on that can, the oldest first."""
    if ledger.state.closed:
        return
    end_waits(ledger)
    take_locks(ledger)


def end_waits(ledger: Ledger) -> None:
    """End each wait whose conditions hold; a message goes to the first that takes it."""
    for key, step in list(ledger.state.waiting):
        results = results_of(step, ledger.state.channels)
        if results is not None:
            ledger.emit("wait_ended", key, results=results)
            if step.phase == "running":
                ledger.run(key)


def take_locks(ledger: Ledger) -> None:
    """Give each queued method all its locks together, in the order in which they came.

    What an earlier one waits for is kept for it, so that nobody is overtaken for ever.
    """
    kept: set[str] = set()
    for key, step in list(ledger.state.active.items()):
        if step.phase != "queued":
            continue
        if any(name in kept or name in ledger.state.locks for name in step.locks):
            kept.update(step.locks)
        else:
            ledger.emit("locks_taken", key, locks=step.locks)
            ledger.run(key)
