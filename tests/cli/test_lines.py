"""The lines of a run where no picture can be drawn."""

from __future__ import annotations

from dexnb.cli.lines import PlainLines, waiting
from dexnb.cli.watched import Watched
from tests.model.logs import HOSTILE, Log, polling


def lines_of(log: Log) -> list[str]:
    """Give the lines of a whole log."""
    lines = PlainLines()
    told = [lines.line(event, 100.0) for event in Watched().take(log.events)]
    return [line for line in told if line is not None]


def test_a_healthy_run_is_a_line_for_each_change() -> None:
    """Rounds that bring nothing new say nothing."""
    log = polling().call(106).beat(106.1, '"RUNNING"').sleep(106.1).completed(108).closed(108)
    assert lines_of(log) == [
        "    0.00 s  Flow  PollingFlow job-1 started, run 0123456789abcdef",
        "    0.00 s  AwaitJob-1  attempt 1 of 3 begins",
        "    0.10 s  AwaitJob-1  JobProgress: state=QUEUED",
        "    2.10 s  AwaitJob-1  JobProgress: state=RUNNING",
        '    4.10 s  AwaitJob-1  heartbeat, checkpoint "RUNNING"',
        "    8.00 s  AwaitJob-1  graceful_complete: done",
        "    8.00 s  Flow  COMPLETED",
    ]


def test_a_retry_tells_why_when_and_from_where() -> None:
    """The failure, the delay, and the checkpoint with which the next attempt begins."""
    log = polling().failed(106).add("retry_scheduled", 106, "AwaitJob-1", 1, attempt=2, delay=1.0)
    log.begun(107, 2, checkpoint='"RUNNING"').beat(108, '"RUNNING"', 2)
    assert lines_of(log)[-3:] == [
        "    6.00 s  AwaitJob-1  attempt 1 failed: builtins.ValueError: boom",
        "    6.00 s  AwaitJob-1  attempt 2 follows in 1.0 s",
        '    7.00 s  AwaitJob-1  attempt 2 of 3 begins from checkpoint "RUNNING"',
    ]


def test_a_later_attempt_without_a_checkpoint_says_so() -> None:
    """Starting all over is worth a word; so is a checkpoint that was taken away."""
    log = Log().scheduled(100).begun(100, 1).beat(101, "7").beat(102, None).begun(107, 2)
    assert [line.partition("AwaitJob-1  ")[2] for line in lines_of(log)[-3:]] == [
        "heartbeat, checkpoint 7",
        "heartbeat, checkpoint cleared",
        "attempt 2 of 3 begins without a checkpoint",
    ]


def test_attempts_of_wait_for_are_told_from_those_of_execute() -> None:
    """Both count from 1; each has retries of its own."""
    log = Log().scheduled(100).begun(100, method="wait_for").failed(101)
    log.add("retry_scheduled", 101, "AwaitJob-1", 1, attempt=2, delay=1.0)
    log.begun(102, 2, method="wait_for").add("attempt_ended", 103, "AwaitJob-1", 2, decision="wait")
    log.begun(104, method="execute").failed(105)
    assert [line.partition("AwaitJob-1  ")[2] for line in lines_of(log)[1:]] == [
        "wait_for attempt 1 of 3 begins",
        "wait_for attempt 1 failed: builtins.ValueError: boom",
        "wait_for attempt 2 follows in 1.0 s",
        "wait_for attempt 2 of 3 begins without a checkpoint",
        "attempt 1 of 3 begins",
        "attempt 1 failed: builtins.ValueError: boom",
    ]


def test_of_a_traceback_only_the_place_is_told() -> None:
    """All of it stands in the run's log, and would take the whole screen."""
    text = 'Traceback ...:\n  File "poll.py", line 3, in execute\n    1 / 0\nZeroDivisionError: x'
    log = Log().add("log", 101, "AwaitJob-1", 1, source="traceback", line=text)
    log.add("log", 101, "AwaitJob-1", 1, source="traceback", line="ValueMappingError: no frames")
    assert [line.partition("AwaitJob-1  ")[2] for line in lines_of(log)[1:]] == [
        'traceback: File "poll.py", line 3, in execute',
        "traceback: ValueMappingError: no frames",
    ]


def test_a_recovery_tells_what_it_recovers_from() -> None:
    """A timeout keeps the last error of the Step's own code beside it."""
    last = {"error_type": "builtins.OSError", "detail": "no route", "last_error": None}
    failure = {"error_type": "Heartbeat", "detail": "silent", "last_error": last}
    log = polling().add("step_failed", 200, "AwaitJob-1", 3, failure=failure, recovery="GiveUp")
    log.scheduled(200, "GiveUp-1", recovery_error=failure)
    told = "Heartbeat: silent (last error: builtins.OSError: no route)"
    assert [line.partition(" s  ")[2] for line in lines_of(log)[-2:]] == [
        f"AwaitJob-1  failed for good, recovers in GiveUp: {told}",
        f"GiveUp-1  recovers from {told}",
    ]


def test_what_happens_beside_the_rounds_is_told() -> None:
    """Prints, stalls, refused writes, suspends, engine errors, stops and cancelled Steps."""
    step = ("AwaitJob-1", 1)
    log = polling().add("log", 105, *step, source="stdout", line="hello")
    log.add("stall", 105, *step, step="F.S", seconds=1.5, line=12)
    log.add("stall", 105, *step, step="F.S", seconds=1.5, line=0)
    log.add("late_write", 105, *step, what="heartbeat", reason="lost")
    log.add("suspended", 105, *step, seconds=28800)
    log.add("engine_error", 105, *step, error="disk full")
    log.add("attempt_ended", 105, *step, reason="handed_back")
    log.add("stop_requested", 106, type="CANCEL", reason="enough")
    log.add("step_cancelled", 106, "AwaitJob-1").closed(106, "CANCELED")
    fix = "await instead, or make the Step a plain def"
    assert [line.partition(" s  ")[2] for line in lines_of(log)[5:]] == [
        "AwaitJob-1  stdout: hello",
        f"AwaitJob-1  blocked its event loop for 1.5 s at line 12; {fix}",
        f"AwaitJob-1  blocked its event loop for 1.5 s; {fix}",
        "AwaitJob-1  heartbeat came after the attempt was over and was refused (lost)",
        "AwaitJob-1  the machine slept for 8 h 00 min",
        "AwaitJob-1  engine: disk full",
        "AwaitJob-1  attempt 1 was handed back",
        "AwaitJob-1  cancelled",
        "Flow  stop requested (CANCEL): enough",
        "Flow  CANCELED",
    ]


def test_a_run_that_waits_for_code_says_which() -> None:
    """No event says so, so the watcher does."""
    run = Watched()
    run.take(Log().events)
    run.waiting_for_code = "waits for code: no Flow named F is registered in this process"
    expected = "    1.50 s  Flow  waits for code: no Flow named F is registered in this process"
    assert waiting(run, 101.5) == expected


def test_texts_from_outside_stay_one_line() -> None:
    """No name, message, error or log line can add a line or an escape."""
    log = (
        Log(HOSTILE, HOSTILE).scheduled(100).begun(100, checkpoint=HOSTILE).beat(101, f"1{HOSTILE}")
    )
    log.message(101, HOSTILE).failed(102, detail=HOSTILE, error_type=HOSTILE)
    log.add("log", 102, f"{HOSTILE}-1", 1, source=HOSTILE, line=HOSTILE)
    log.add("late_write", 102, "AwaitJob-1", 1, what=HOSTILE, reason=HOSTILE)
    log.add("engine_error", 102, error=HOSTILE)
    log.add("stop_requested", 102, type="FAIL", reason=HOSTILE)
    log.completed(103, kind="force_fail", has_output=False, reason=HOSTILE)
    lines = lines_of(log.closed(103, "FAILED", HOSTILE))
    assert len(lines) == 11
    for line in lines:
        assert line.isprintable()
        assert len(line) < 700
