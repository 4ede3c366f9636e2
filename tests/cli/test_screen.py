"""The picture of a run: what stands on a terminal of 80 columns, and what never may."""

from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from dexnb.cli.screen import BLUE, meter, picture
from dexnb.cli.watched import Watched
from tests.model.logs import HOSTILE, Log, polling


def console(width: int = 80) -> Console:
    """Make a terminal that writes into memory."""
    file = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    return Console(file=file, width=width, force_terminal=True, color_system="truecolor")


def drawn(log: Log, now: float, terminal: Console | None = None, hint: str = "") -> str:
    """Draw a log at a time; give it without its styles."""
    terminal = terminal or console()
    run = Watched()
    run.take(log.events)
    with terminal.capture() as capture:
        terminal.print(picture(run, now, terminal, hint))
    return re.sub(r"\x1b\[[0-9;]*m", "", capture.get())


def row(text: str, label: str) -> str:
    """Give the row of a panel that begins with a label."""
    (found,) = (line for line in text.splitlines() if line.startswith(f"│ {label} "))
    return found.removeprefix(f"│ {label}").removesuffix("│").strip()


def test_a_poll_loop_is_shown_with_its_limits() -> None:
    """Round, heartbeat age, checkpoint, both budgets and the messages, each with its words."""
    text = drawn(polling(), 105.5, hint="Ctrl-C stops watching")
    assert "RUNNING  job-1  5.5 s  run 01234567" in text
    assert "AwaitJob-1  attempt 1 of 3" in text
    assert row(text, "now") == "round 3, sleeping for 1.4 s  sleep, line 97"
    assert row(text, "heartbeat").endswith("1.4 s of 1 min")
    assert row(text, "checkpoint") == '"RUNNING"'
    assert row(text, "method").endswith("5.5 s of 10 min")
    assert row(text, "total").endswith("5.5 s of 10 min")
    assert "2.1 s JobProgress state=RUNNING" in text
    assert text.rstrip().endswith("Ctrl-C stops watching")


def test_attempts_of_wait_for_are_told_from_those_of_execute() -> None:
    """In the title, for the attempt that follows, and beside a failure."""
    log = Log().scheduled(100).begun(100, method="wait_for").failed(101)
    log.add("retry_scheduled", 101, "AwaitJob-1", 1, attempt=2, delay=5.0)
    text = drawn(log, 102)
    assert "AwaitJob-1  wait_for attempt 1 of 3" in text
    assert row(text, "now") == "wait_for attempt 2 of 3 follows in 4.0 s"
    assert row(text, "wait_for 1") == "builtins.ValueError: boom"
    cancelled = drawn(log.add("step_cancelled", 103, "AwaitJob-1"), 104)
    assert "wait_for attempt 1, 3.0 s" in cancelled


def test_a_call_is_told_from_a_sleep() -> None:
    """What the Step waits for now is what a hung API looks like."""
    text = drawn(polling().call(106.1), 115.1)
    assert row(text, "now") == "round 4, in call for 9.0 s  HttpJobs.status, line 87"


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (49.9, "49.9 s of 1 min"),
        (50.1, "50.1 s of 1 min, in margin"),
        (75.0, "1 min 15 s of 1 min, over"),
    ],
)
def test_a_heartbeat_in_the_last_ten_seconds_is_in_the_margin(age: float, words: str) -> None:
    """The words say it, not the colour alone; the bar has a line where the margin begins."""
    heartbeat = row(drawn(polling(), 104.1 + age), "heartbeat")
    assert heartbeat.endswith(words)
    assert heartbeat.index("┃") == pytest.approx(31 * 50 / 60, abs=1)


def test_a_short_heartbeat_timeout_has_no_margin() -> None:
    """A teaching limit of a few seconds is not all margin."""
    log = Log().scheduled(100).begun(100, heartbeat_timeout=2.0).call(100)
    heartbeat = row(drawn(log, 101), "heartbeat")
    assert heartbeat.endswith("1.0 s of 2 s")
    assert "┃" not in heartbeat


def test_between_attempts_the_countdown_and_the_failure_are_shown() -> None:
    """Nothing beats there, so there is no bar for it."""
    log = polling().failed(106, detail="no route")
    log.add("retry_scheduled", 106, "AwaitJob-1", 1, attempt=2, delay=2.0)
    text = drawn(log, 106.5)
    assert row(text, "now") == "attempt 2 of 3 follows in 1.5 s"
    assert row(text, "attempt 1") == "builtins.ValueError: no route"
    assert "│ heartbeat" not in text


def test_a_step_that_was_not_begun_says_how_long_it_waits() -> None:
    """From when it was scheduled, or from when somebody gave it back."""
    log = Log().scheduled(100)
    assert row(drawn(log, 103), "now") == "waits for its turn for 3.0 s"
    log.begun(104).add("attempt_ended", 106, "AwaitJob-1", 1, reason="handed_back")
    assert row(drawn(log, 108), "now") == "waits for its turn for 2.0 s"


def test_an_attempt_that_has_decided_is_over_until_history_says_so() -> None:
    """The decision is on its way to the store."""
    log = polling().add("attempt_ended", 106, "AwaitJob-1", 1, decision="graceful_complete")
    assert row(drawn(log, 106.5), "now") == "attempt is over for 0.5 s"


def test_the_next_attempt_counts_anew_and_remembers_the_failure() -> None:
    """Rounds count from one again; the total goes on from the first delivery."""
    text = drawn(polling().failed(106).begun(107, 2).call(107, 2), 109)
    assert row(text, "now").startswith("round 1, in call for 2.0 s")
    assert row(text, "method").endswith("2.0 s of 10 min")
    assert row(text, "total").endswith("9.0 s of 10 min")
    assert row(text, "attempt 1") == "builtins.ValueError: boom"


@pytest.mark.parametrize(
    ("beats", "shown"), [((), "none"), (("7", None), "cleared"), (("7", "null"), "null")]
)
def test_a_null_checkpoint_is_not_a_cleared_one(beats: tuple[str | None, ...], shown: str) -> None:
    """Three cases stay apart: a value (null is one), cleared, and never set."""
    log = Log().scheduled(100).begun(100)
    for checkpoint in beats:
        log.beat(101, checkpoint)
    assert row(drawn(log, 102), "checkpoint") == shown


def test_a_limit_that_is_turned_while_the_step_runs_is_the_one_that_is_shown() -> None:
    """Live knobs feed options of the attempt that goes on."""
    limits = {"heartbeat_timeout": 30.0, "maximum_attempts": 5, "total_duration": 60.0}
    log = polling().add(
        "limits_changed", 105, "AwaitJob-1", 1, execute_method_timeout=90.0, **limits
    )
    text = drawn(log, 105.1)
    assert "AwaitJob-1  attempt 1 of 5" in text
    assert row(text, "heartbeat").endswith("1.0 s of 30 s")
    assert row(text, "method").endswith("of 1 min 30 s")


def test_an_attempt_whose_beginning_is_told_no_more_has_no_limits() -> None:
    """Telemetry is kept within a budget, oldest first out."""
    text = drawn(Log().scheduled(100).call(140, 2), 141)
    assert "AwaitJob-1  attempt 2 " in text
    assert row(text, "now").startswith("round 1, in call for 1.0 s")
    assert "│ method" not in text


def test_an_execution_shows_how_it_ended_before_its_telemetry_comes() -> None:
    """Another process's telemetry arrives up to a second behind its history."""
    log = polling().completed(106)
    log.events = [event for event in log.events if event.durable]
    assert "✓  AwaitJob-1  attempt 1, 6.0 s  graceful_complete: done" in drawn(log, 106)


def test_a_cancelled_step_names_the_attempt_that_was_cancelled() -> None:
    """History does not say which, telemetry does."""
    log = polling().add("step_cancelled", 106, "AwaitJob-1").closed(106, "CANCELED")
    assert "✗  AwaitJob-1  attempt 1, 3 rounds, 6.0 s  cancelled" in drawn(log, 106)


def test_log_lines_and_notes_stand_in_one_panel_by_their_time() -> None:
    """Prints of the Step beside what the engine has to say of it."""
    step = ("AwaitJob-1", 1)
    log = polling().add("log", 104.5, *step, source="stdout", line="before")
    log.add("stall", 105, *step, step="F.S", seconds=1.5, line=12)
    log.add("log", 105.5, *step, source="stdout", line="after")
    log.add("stop_requested", 106, type="CANCEL", reason="enough")
    text = drawn(log, 106)
    told = ["before", "blocked its event loop for 1.5 s at line 12", "after", "stop requested"]
    places = [text.index(part) for part in told]
    assert places == sorted(places)


def test_an_ended_run_shows_how_each_step_ended() -> None:
    """Steps that are over are one line each, with mark and words."""
    log = polling().completed(106).closed(106)
    text = drawn(log, 300)
    assert "COMPLETED  job-1  6.0 s" in text
    assert "✓  AwaitJob-1  attempt 1, 3 rounds, 6.0 s  graceful_complete: done" in text


def test_a_failed_run_says_why() -> None:
    """The error stands under the status."""
    text = drawn(polling().closed(106, "FAILED", "disk full"), 106)
    assert "FAILED  job-1" in text
    assert "│ disk full" in text


def test_a_run_that_waits_for_code_says_so() -> None:
    """A wait without a reason on the screen is never shown."""
    terminal, run = console(), Watched()
    run.take(Log().scheduled(100).events)
    run.waiting_for_code = "waits for code: no Step named AwaitJob; registered: Other"
    with terminal.capture() as capture:
        terminal.print(picture(run, 101, terminal))
    assert "no Step named AwaitJob" in capture.get()


@pytest.mark.parametrize("width", [1, 20, 40, 80, 200])
def test_every_line_fits_the_terminal(width: int) -> None:
    """Also with wide letters and long names; in a live view a wrapped line would tear it."""
    log = Log("猫" * 100, "flow-" + "x" * 300).scheduled(100).begun(100)
    log.call(100).message(101, '"' + "猫" * 300 + '"').failed(102, detail="d" * 900)
    log.add("log", 102, "AwaitJob-1", 1, source="stdout", line="l" * 3000)
    text = drawn(log, 103, console(width), hint="h" * 300)
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_texts_from_outside_cannot_reach_the_terminal() -> None:
    """Markup is shown as text; escapes, line ends and turned writing are made visible."""
    log = Log(HOSTILE, HOSTILE).scheduled(100, "AwaitJob-1").begun(100, checkpoint=f'"{HOSTILE}"')
    log.add("round_call", 100, "AwaitJob-1", 1, line=1, what=HOSTILE)
    log.add("stream_message", 101, "AwaitJob-1", 1, stream=HOSTILE, value=HOSTILE)
    log.add("log", 101, "AwaitJob-1", 1, source=HOSTILE, line=HOSTILE)
    log.failed(102, detail=HOSTILE, error_type=HOSTILE)
    log.scheduled(102, f"{HOSTILE}-1").completed(103, f"{HOSTILE}-1", output=HOSTILE)
    log.completed(103, kind=HOSTILE, has_output=False, reason=HOSTILE)
    ended = log.closed(104, "FAILED", HOSTILE)
    for text in (drawn(log, 103, console(400)), drawn(ended, 105, console(400))):
        assert not set(text) & set("\x1b\r\u202e\ud800")
        assert "[bold red]x[/bold red]" in text
        assert len(text) < 100 * 400


@pytest.mark.parametrize(("value", "full"), [(-5, 0), (0, 0), (30, 16), (60, 31), (600, 31)])
def test_a_meter_is_never_more_than_full(value: float, full: int) -> None:
    """Nor less than empty."""
    bar = meter(value, 60, BLUE, console()).plain
    assert len(bar) == 31
    assert len(bar.rstrip("░")) == pytest.approx(full, abs=1)


def test_a_limit_of_zero_is_used_up() -> None:
    """Where nothing is allowed, nothing divides by it."""
    assert set(meter(1, 0, BLUE, console()).plain) == {"█"}
