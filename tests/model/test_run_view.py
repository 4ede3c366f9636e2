"""What a run's log adds up to; the shared logs in `tests/data` hold its whole form."""

from __future__ import annotations

from typing import Any

import pytest

from dexnb.model.event import merge
from dexnb.model.run_view import (
    MOST_ATTEMPTS,
    MOST_ENDED,
    MOST_ROWS,
    View,
    apply,
    new_view,
    view_of,
)
from tests.model.logs import Log, polling


def step_of(log: Log) -> View:
    """Give the one execution of AwaitJob."""
    found: View = view_of(log.events)["steps"]["AwaitJob-1"]
    return found


def attempt_of(log: Log) -> View:
    """Give its newest attempt."""
    found: View = step_of(log)["attempts"][-1]
    return found


def again(count: int) -> Log:
    """Give a log in which a Step goes to itself, beside one that stays open."""
    log = Log().scheduled(100)
    for number in range(1, count + 1):
        step = f"Again-{number}"
        log.scheduled(100 + number, step).begun(100 + number, 1, step)
        log.completed(100.5 + number, step).message(101 + number, '"m"')
    return log


def test_a_poll_loop_tells_its_round_its_signs_of_life_and_its_checkpoint() -> None:
    """Calls and sleeps are counted apart; messages and heartbeats are signs of life."""
    attempt = attempt_of(polling().call(106))
    assert (attempt["phase"], attempt["phase_since"]) == ("call", 106)
    assert (attempt["rounds"], attempt["sleeps"]) == (4, 3)
    assert (attempt["phase_line"], attempt["phase_what"]) == (87, "HttpJobs.status")
    assert (attempt["last_sign"], attempt["checkpoint"]) == (104.1, '"RUNNING"')


def test_a_message_keeps_the_checkpoint_and_counts_as_a_sign_of_life() -> None:
    """Only heartbeats move it."""
    attempt = attempt_of(Log().scheduled(100).begun(100).beat(101, "7").message(105, '"news"'))
    assert (attempt["last_sign"], attempt["checkpoint"]) == (105, "7")


def test_the_next_attempt_begins_anew() -> None:
    """Counts start at zero; checkpoint and first delivery are those of before."""
    log = polling().failed(106).begun(107, 2, checkpoint='"RUNNING"')
    first, second = step_of(log)["attempts"]
    assert (first["outcome"], first["failure"]["detail"]) == ("failed", "boom")
    assert (second["rounds"], second["sleeps"], second["failure"]) == (0, 0, None)
    assert (second["started_at"], second["first_attempt_at"]) == (107, 100)
    assert (second["checkpoint"], second["checkpoint_at"]) == ('"RUNNING"', None)


def test_a_retry_is_awaited_until_the_next_attempt_begins() -> None:
    """Store time, so that a page can count down."""
    log = polling().failed(106)
    log.add("retry_scheduled", 106, "AwaitJob-1", 1, attempt=2, delay=1.5)
    assert step_of(log)["retry_at"] == 107.5
    assert step_of(log.begun(108, 2))["retry_at"] is None


@pytest.mark.parametrize("ended", [False, True])
def test_a_retry_that_never_comes_is_not_awaited(ended: bool) -> None:
    """An attempt that lost its lease may fail, and plan on, behind the next one's back."""
    log = polling().begun(130, 2)
    if ended:
        log = polling().completed(130)
    log.failed(131).add("retry_scheduled", 131, "AwaitJob-1", 1, attempt=2, delay=1.0)
    assert step_of(log)["retry_at"] is None


def test_what_a_replaced_attempt_still_tells_leaves_the_next_one_alone() -> None:
    """An attempt that lost its lease may go on for a while."""
    log = polling().begun(130, 2, checkpoint='"RUNNING"').beat(131, '"NEW"', 2)
    log.sleep(132).add("attempt_ended", 132, "AwaitJob-1", 1, reason="lost")
    attempt = attempt_of(log)
    assert (attempt["attempt"], attempt["phase"], attempt["checkpoint"]) == (2, "", '"NEW"')


def test_an_end_is_told_by_history_even_when_telemetry_comes_late() -> None:
    """Another process's telemetry arrives up to a second behind its history."""
    log = polling().completed(106).closed(106)
    telemetry = [event for event in log.events if not event.durable]
    view = view_of([*(event for event in log.events if event.durable), *telemetry])
    step = view["steps"]["AwaitJob-1"]
    assert (view["status"], view["closed_at"]) == ("COMPLETED", 106)
    assert (step["outcome"], step["ended_at"]) == ("graceful_complete", 106)
    assert step["attempts"][-1]["rounds"] == 3


def test_the_view_of_an_endless_run_is_bounded_and_counts_on() -> None:
    """Thousands of executions and messages do not fill the memory; open ones all stay."""
    view = view_of(again(2000).events)
    assert list(view["steps"]) == ["AwaitJob-1", *view["ended"]]
    assert view["ended"] == [f"Again-{number}" for number in range(2001 - MOST_ENDED, 2001)]
    assert view["executions"] == {"AwaitJob": 1, "Again": 2000}
    assert (len(view["messages"]), view["message_count"]) == (MOST_ROWS, 2000)


def test_what_an_execution_that_is_kept_no_more_still_tells_goes_nowhere() -> None:
    """It would stand there as one that never ends."""
    log = again(MOST_ENDED + 5)
    history = [event for event in log.events if event.durable]
    view = view_of(history)
    kept = list(view["steps"])
    for event in merge([], (event for event in log.events if not event.durable)):
        apply(view, event)
    assert list(view["steps"]) == kept


@pytest.mark.parametrize("key", ["Poll-2", "Poll-0", "Poll-01", "Poll-x", "Poll", "-1", "Poll-²"])
def test_telemetry_may_come_before_the_history_that_schedules_it(key: str) -> None:
    """Clocks of two machines differ a little; odd names come from odd logs."""
    log = Log().scheduled(100, "Poll-1").begun(101, step=key)
    assert list(view_of(log.events)["steps"]) == ["Poll-1", key]


def test_the_attempts_of_an_endless_retry_are_bounded() -> None:
    """The first one stays: the whole wait began with it."""
    log = Log().scheduled(100)
    for number in range(1, 3 * MOST_ATTEMPTS):
        log.begun(100 + number, number).failed(100.5 + number, number)
    numbers = [attempt["attempt"] for attempt in step_of(log)["attempts"]]
    newest = 3 * MOST_ATTEMPTS - 1
    assert numbers == [1, *range(newest - MOST_ATTEMPTS + 2, newest + 1)]


@pytest.mark.parametrize(
    ("kind", "payload", "text"),
    [
        ("stop_requested", {"type": "CANCEL", "reason": ""}, "CANCEL"),
        ("stop_requested", {"type": "FAIL", "reason": "enough"}, "FAIL: enough"),
        ("late_write", {"what": "heartbeat", "reason": "lost"}, "heartbeat refused: lost"),
        ("stall", {"step": "F.S", "seconds": 1.25, "line": 12}, "1.2 s in F.S line 12"),
        ("suspended", {"seconds": 60}, "60.0 s"),
        ("engine_error", {"error": "disk full"}, "disk full"),
    ],
)
def test_a_note_has_a_text_and_what_it_was_made_of(
    kind: Any, payload: dict[str, Any], text: str
) -> None:
    """Pages show the text; who words it otherwise needs the rest."""
    view = new_view()
    for event in Log().add(kind, 105, "AwaitJob-1", 1, **payload).events:
        apply(view, event)
    assert view["notes"] == [
        {
            "time": 105,
            "step": "AwaitJob-1",
            "attempt": 1,
            "kind": kind,
            "text": text,
            "payload": payload,
        }
    ]


def test_an_attempt_begun_again_under_its_number_ends_the_one_before() -> None:
    """An orderly stop uses no attempt: both have number 1, and only the second is open."""
    log = Log().scheduled(100).begun(101).beat(103, "1").begun(110).beat(112, "2")
    first, second = view_of(log.events)["steps"]["AwaitJob-1"]["attempts"]
    assert (first["attempt"], first["outcome"], first["ended_at"]) == (1, "lost", 103)
    assert (second["attempt"], second["ended_at"], second["last_sign"]) == (1, None, 112)
