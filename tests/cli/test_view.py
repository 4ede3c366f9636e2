"""What a run's log adds up to on the screen."""

from __future__ import annotations

import pytest

from dexnb.cli.view import MOST_ENDED_STEPS, MOST_MESSAGES, RunView, StepView
from dexnb.model.event import Event, merge
from tests.cli.logs import Log, polling


def view_of(log: Log) -> RunView:
    """Fold a whole log."""
    view = RunView()
    view.apply(log.events)
    return view


def step_of(log: Log) -> StepView:
    """Give the one execution of AwaitJob."""
    return view_of(log).steps["AwaitJob-1"]


def test_a_poll_loop_shows_its_round_its_signs_of_life_and_its_checkpoint() -> None:
    """Rounds are counted by their sleeps; messages and heartbeats are signs of life."""
    step = step_of(polling())
    assert (step.phase, step.since, step.rounds) == ("sleep", 104.1, 3)
    assert (step.line, step.what) == (97, "sleep")
    assert (step.last_sign, step.checkpoint) == (104.1, '"RUNNING"')
    assert (step.attempt, step.maximum_attempts) == (1, 3)


def test_a_message_keeps_the_checkpoint_and_counts_as_a_sign_of_life() -> None:
    """Only heartbeats with a value move it."""
    step = step_of(Log().scheduled(100).begun(100).beat(101, "7").message(105, '"news"'))
    assert (step.last_sign, step.checkpoint) == (105, "7")


@pytest.mark.parametrize(
    ("checkpoint", "expected"), [("null", ("null", False)), (None, (None, True))]
)
def test_a_null_checkpoint_is_not_a_cleared_one(
    checkpoint: str | None, expected: tuple[str | None, bool]
) -> None:
    """Three cases stay apart: a value (null is one), cleared, and never set."""
    step = step_of(Log().scheduled(100).begun(100).beat(101, "7").beat(102, checkpoint))
    assert (step.checkpoint, step.cleared) == expected


def test_a_retry_shows_what_failed_and_when_it_goes_on() -> None:
    """Between attempts there is no call and no heartbeat, but a time to wait for."""
    log = polling().failed(106)
    step = step_of(log.add("retry_scheduled", 106, "AwaitJob-1", 1, attempt=2, delay=1.0))
    assert (step.phase, step.retry_at) == ("retry", 107)
    assert step.failure is not None
    assert step.failure.payload["failure"]["detail"] == "boom"


def test_the_next_attempt_begins_anew_and_remembers_the_failure() -> None:
    """Rounds count from one again; checkpoint and first delivery are those of before."""
    log = polling().failed(106).begun(107, 2, checkpoint='"RUNNING"')
    step = step_of(log)
    assert (step.phase, step.attempt, step.rounds) == ("running", 2, 0)
    assert (step.started_at, step.first_attempt_at) == (107, 100)
    assert (step.checkpoint, step.last_sign) == ('"RUNNING"', 107)
    assert step.failure is not None


def test_what_a_replaced_attempt_still_tells_changes_nothing() -> None:
    """An attempt that lost its lease may go on for a while."""
    log = polling().begun(130, 2, checkpoint='"RUNNING"').beat(131, '"NEW"', 2)
    log.sleep(132).add("attempt_ended", 132, "AwaitJob-1", 1, reason="lost")
    step = step_of(log)
    assert (step.phase, step.attempt, step.checkpoint) == ("running", 2, '"NEW"')


def test_an_end_is_told_by_history_even_when_telemetry_comes_late() -> None:
    """Another process's telemetry arrives up to a second behind its history."""
    log = polling()
    telemetry = [event for event in log.events if not event.durable]
    history = [event for event in log.completed(106).closed(106).events if event.durable]
    view = RunView()
    view.apply(history)
    view.apply(merge(history, telemetry))
    step = view.steps["AwaitJob-1"]
    assert (view.status, view.closed_at) == ("COMPLETED", 106)
    assert (step.phase, step.rounds) == ("over", 3)


def test_events_that_were_seen_are_passed_over() -> None:
    """Each reading of a log gives its telemetry from the beginning."""
    log = polling()
    view = RunView()
    assert len(view.apply(log.events)) == len(log.events)
    log.call(106)
    assert [event.kind for event in view.apply(log.events)] == ["round_call"]
    assert view.steps["AwaitJob-1"].rounds == 3
    assert len(view.messages) == 2


def test_any_cut_of_a_log_into_readings_gives_the_same_view() -> None:
    """It does not matter when the watcher looked."""
    log = polling().failed(106).begun(107, 2).call(107, 2).completed(108).closed(108)
    whole = view_of(log)
    for cut in range(len(log.events) + 1):
        view = RunView()
        view.apply(log.events[:cut])
        view.apply(log.events)
        assert view == whole


def test_causes_come_before_effects_where_no_time_passes() -> None:
    """On a virtual clock a whole execution may happen at one time; history sorts first there."""
    log = Log().scheduled(100, "StartJob-1").begun(100, step="StartJob-1")
    log.add("attempt_ended", 100, "StartJob-1", 1, decision="next")
    log.completed(100, "StartJob-1").scheduled(100).begun(100).completed(100).closed(100)
    shuffled = merge(
        [event for event in log.events if event.durable],
        [event for event in log.events if not event.durable],
    )
    assert [event.kind for event in shuffled] != [event.kind for event in log.events]
    ordered = RunView().apply(shuffled)
    assert [_named(event) for event in ordered] == [_named(event) for event in log.events]


def test_the_view_of_an_endless_run_is_bounded() -> None:
    """Thousands of executions and messages do not fill the memory; active Steps all stay."""
    log = Log().scheduled(100)
    for number in range(1, 2000):
        step = f"Again-{number}"
        log.scheduled(100 + number, step).completed(100.5 + number, step).message(101, '"m"')
    view = view_of(log)
    assert len(view.steps) == MOST_ENDED_STEPS + 1
    assert "AwaitJob-1" in view.steps
    assert "Again-1999" in view.steps
    assert len(view.messages) == MOST_MESSAGES


def _named(event: Event) -> tuple[str, str]:
    return event.kind, event.step_execution_id
