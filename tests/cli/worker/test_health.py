"""Whether a worker lives and can work, by what its processes report."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dexnb.cli.worker.health import (
    FETCH_MARGIN,
    HUNG_SECONDS,
    STUCK_POLLS,
    Seen,
    liveness,
    readiness,
)
from dexnb.cli.worker.report import Silence
from dexnb.clock import Clock
from tests.cli.worker.reports import report, with_work


def test_good_processes_are_ready() -> None:
    """The document tells of each."""
    good, document = readiness([Seen(1, report(), 0.5), Seen(2, report(2), 0.7)])
    assert good
    assert (document["ready"], document["reasons"], document["stalled_loops"]) == (True, [], 0)
    assert document["store"] == {"reachable": True, "error": None}
    assert [process["pid"] for process in document["processes"]] == [101, 102]
    assert document["processes"][0]["dispatchers"]["work"]["last_fetch_age"] == 3.0


@pytest.mark.parametrize(
    ("given", "age", "reason"),
    [
        (None, 1.0, "it is not running yet, or has died and is started again"),
        (report(), 9.0, "it has not reported for 9 s"),
        (report(draining=True), 0.5, "it drains, because it was told to stop"),
        (report(store_error="OSError: gone"), 0.5, "the store cannot be reached (OSError: gone)"),
        (
            report(write_error="ProviderError: its disk is full"),
            0.5,
            "nothing can be written to the store (ProviderError: its disk is full)",
        ),
        (with_work(running=False), 0.5, "the work dispatcher does not run"),
        (with_work(last_result="error"), 0.5, "the last fetch of the work dispatcher failed"),
        (with_work(last_fetch_age=46.0), 0.5, "the work dispatcher has fetched nothing for 46 s"),
    ],
)
def test_a_process_that_cannot_work_says_why(
    given: dict[str, Any] | None, age: float, reason: str
) -> None:
    """One is enough for the worker not to be ready."""
    good, document = readiness([Seen(1, report(), 0.5), Seen(2, given, age)])
    assert not good
    assert document["reasons"] == [f"process 2: {reason}"]


def test_an_idle_or_a_full_dispatcher_is_ready() -> None:
    """A long poll may take its time, and one without free slots fetches nothing."""
    works_again = with_work(last_fetch_age=9.0, last_result="error")
    for given in (
        works_again,
        with_work(last_fetch_age=40.0),
        with_work(last_fetch_age=999.0, free_slots=0),
    ):
        assert readiness([Seen(1, given, 0.5)])[0]


def test_a_process_that_does_not_answer_for_long_does_not_live() -> None:
    """One that has died is started again by the parent, which is life."""
    assert liveness([Seen(1, report(), 1.0), Seen(2, None, 999.0)])[0]
    good, document = liveness([Seen(1, report(), 1.0), Seen(2, report(2), HUNG_SECONDS + 1)])
    assert (good, document["hung"]) == (False, [2])


def test_a_process_that_has_ended_while_the_others_drain_has_stopped_as_told() -> None:
    """Nobody who looks at a rolling restart shall take it for one that has died."""
    _, document = readiness([Seen(1, None, 1.0), Seen(2, report(2, draining=True), 0.5)])
    assert document["reasons"] == [
        "process 1: it has stopped, as told",
        "process 2: it drains, because it was told to stop",
    ]


def test_a_dispatcher_that_is_stuck_does_not_live() -> None:
    """It could have fetched for several long polls, and has not: only a new process helps."""
    limit = STUCK_POLLS * 30.0 + FETCH_MARGIN
    assert liveness([Seen(1, with_work(silent=limit - 1), 0.5)])[0]
    good, document = liveness([Seen(1, report(), 1.0), Seen(2, with_work(silent=limit + 1), 0.5)])
    assert (good, document["hung"]) == (False, [2])
    assert liveness([Seen(1, with_work(silent=HUNG_SECONDS - 1, long_poll=0.0), 0.5)])[0]


def test_silence_counts_from_the_last_fetch_that_could_end() -> None:
    """Not while the store is away, all slots are taken, or the dispatcher was stopped."""

    async def body() -> None:
        loop, silence = asyncio.get_running_loop(), Silence()
        began = loop.time()
        for ended, able, expected in (
            (1.0, True, 0.0),
            (1.0, True, 10.0),
            (2.0, True, 0.0),
            (2.0, False, 0.0),
            (2.0, True, 10.0),
        ):
            assert silence.seconds(ended, able=able) == pytest.approx(expected)
            await asyncio.sleep(10.0)
        assert loop.time() - began == pytest.approx(50.0)

    Clock.virtual().run(body())
