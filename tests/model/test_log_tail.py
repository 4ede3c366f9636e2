"""Readings of a log that grows, and the order in which a watcher is told of it."""

from __future__ import annotations

from dexnb.model.event import Event, merge
from dexnb.model.log_tail import LogTail, causes_first
from tests.model.logs import Log, polling


def at_one_time() -> Log:
    """Give a log in which two executions and the run's end happen at 100 s, in order."""
    log = Log().scheduled(100, "StartJob-1").begun(100, step="StartJob-1")
    log.add("attempt_ended", 100, "StartJob-1", 1, decision="next")
    return log.completed(100, "StartJob-1").scheduled(100).begun(100).completed(100).closed(100)


def named(events: list[Event]) -> list[tuple[str, str]]:
    """Give kinds and executions."""
    return [(event.kind, event.step_execution_id) for event in events]


def test_events_that_were_seen_are_passed_over() -> None:
    """Each reading of a log gives its telemetry from the beginning."""
    log, tail = polling(), LogTail()
    assert tail.take(log.events) == log.events
    log.call(106)
    assert [event.kind for event in tail.take(log.events)] == ["round_call"]
    assert tail.take(log.events) == []
    assert tail.durable_seq == 2


def test_telemetry_that_comes_late_is_news() -> None:
    """Another process's telemetry arrives up to a second behind its history."""
    log, tail = polling().completed(106), LogTail()
    history = [event for event in log.events if event.durable]
    telemetry = [event for event in log.events if not event.durable]
    assert tail.take(history) == history
    assert tail.take(merge(history, telemetry)) == telemetry


def test_causes_come_before_effects_where_no_time_passes() -> None:
    """On a virtual clock a whole execution may happen at one time; history sorts first there."""
    log = at_one_time()
    shuffled = merge(
        [event for event in log.events if event.durable],
        [event for event in log.events if not event.durable],
    )
    assert named(shuffled) != named(log.events)
    assert named(causes_first(shuffled)) == named(log.events)


def test_executions_of_earlier_readings_come_before_new_ones() -> None:
    """The end of the first and the whole second one happen at the same time."""
    log, tail = at_one_time(), LogTail()
    before = tail.take(log.events[:3])
    after = tail.take(reversed(log.events), ["StartJob-1"])
    assert named([*before, *after]) == named(log.events)


def test_time_comes_first() -> None:
    """An order by executions alone would tell of branches one after the other."""
    log = Log().scheduled(100, "A-1").scheduled(100, "B-1").begun(101, step="B-1")
    log.begun(102, step="A-1")
    assert causes_first(log.events) == log.events
