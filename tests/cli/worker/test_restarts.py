"""When a process that has died is started again."""

from __future__ import annotations

from dexnb.cli.worker.restarts import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    MOST_QUICK,
    QUICK_SECONDS,
    Restarts,
)


def test_pauses_double_until_it_is_given_up() -> None:
    """Deaths at once in a row."""
    restarts = Restarts()
    pauses = [restarts.after(0.5) for _ in range(MOST_QUICK)]
    assert pauses == [*(FIRST_PAUSE * 2**n for n in range(MOST_QUICK - 1)), None]


def test_a_process_that_has_worked_for_a_while_begins_anew() -> None:
    """However often it dies, it is worth another start, after the shortest pause."""
    restarts = Restarts()
    for _ in range(3 * MOST_QUICK):
        assert restarts.after(0.5) is not None
        assert restarts.after(0.5) is not None
        assert restarts.after(QUICK_SECONDS) == FIRST_PAUSE
    assert LONGEST_PAUSE >= FIRST_PAUSE * 2 ** (MOST_QUICK - 2)
