"""The live view: a picture of a run for a terminal, by rich.

Texts from outside are printable and bounded before they come here (`dexnb.cli.text`), and they are
put into `Text` objects, which know no markup. Colours are told apart by colour-blind readers and
never say anything alone: the words beside them say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge

from rich.box import ROUNDED
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from dexnb.cli import words
from dexnb.cli.text import duration, limit, message, printable
from dexnb.cli.watched import Watched
from dexnb.model.budget import MARGIN
from dexnb.model.event import Event
from dexnb.model.run_view import View

BLUE, ORANGE, MAGENTA = "#56b4e9", "#e69f00", "#cc79a7"
"""Fine, look here, wrong: from the palette of Okabe and Ito."""

QUIET = "dim"
MOST_ACTIVE, MOST_ENDED, MOST_ROWS = 4, 5, 8
LABEL_WIDTH = 11
WORDS_WIDTH = 32
PARTS = "▏▎▍▌▋▊▉█"
"""A cell of a meter, filled more and more."""

_ID = 40

_GIVEN_UP = frozenset({"cancelled", "handed_back", "lost"})
"""Ends of an attempt that say nothing of its Step: somebody takes it up again."""

_STATUS_STYLES = {"RUNNING": BLUE, "COMPLETED": BLUE}


def picture(run: Watched, now: float, console: Console, hint: str = "") -> RenderableType:
    """Draw a run as it stands at `now`, for this console, with a hint as its last line."""
    view = run.view
    now = view["closed_at"] if run.closed else max(now, view["time"])
    active = [(key, step) for key, step in view["steps"].items() if step["ended_at"] is None]
    ended = [(key, step) for key, step in view["steps"].items() if step["ended_at"] is not None]
    parts: list[RenderableType] = [_head(run, now)]
    parts += [_ended(run, ended[-MOST_ENDED:])] if ended else []
    if not run.closed:
        parts += [_active(key, step, now, console) for key, step in active[:MOST_ACTIVE]]
    if len(active) > MOST_ACTIVE:
        parts.append(Text(f"and {len(active) - MOST_ACTIVE} more active Steps", QUIET))
    if view["messages"]:
        parts.append(_panel(_messages(run), "Stream"))
    if view["notes"] or view["log"]:
        parts.append(_panel(_notes(run), "Log"))
    if hint:
        parts.append(Text(hint, QUIET, no_wrap=True, overflow="ellipsis"))
    return Group(*parts)


def _head(run: Watched, now: float) -> Panel:
    view = run.view
    style = _STATUS_STYLES.get(view["status"], MAGENTA)
    line = Text(overflow="ellipsis", no_wrap=True)
    line.append(printable(view["status"], _ID), f"bold {style}")
    line.append(f"  {printable(view['flow_id'], _ID)}")
    line.append(f"  {duration(now - run.started_at)}")
    line.append(f"  run {printable(view['run_id'][:8])}", QUIET)
    rows: list[Text] = [line]
    if view["error_message"]:
        rows.append(Text(printable(view["error_message"]), MAGENTA, overflow="fold"))
    if run.waiting_for_code:
        rows.append(Text(printable(run.waiting_for_code), ORANGE, overflow="fold"))
    title = Text(printable(view["flow_type"], _ID), "bold")
    return Panel(Group(*rows), title=title, title_align="left", box=ROUNDED)


def _ended(run: Watched, steps: Iterable[tuple[str, View]]) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for key, step in steps:
        good = step["outcome"] not in ("failed", "cancelled")
        table.add_row(
            Text(f"  {'✓' if good else '✗'}", BLUE if good else MAGENTA),
            Text(printable(key, _ID)),
            Text(_spent(step, run.endings[key]), QUIET),
            Text(words.outcome(run.endings[key])),
        )
    return table


def _spent(step: View, ending: Event) -> str:
    nothing = {"attempt": 0, "sleeps": 0, "method": "execute"}
    newest: View = step["attempts"][-1] if step["attempts"] else nothing
    # Telemetry may come late; history does not say in which attempt a Step was cancelled.
    number = ending.attempt or newest["attempt"]
    method = "execute" if ending.attempt else newest["method"]
    seconds = duration(step["ended_at"] - step["scheduled_at"])
    return f"{words.attempt(number, method=method)}, {_rounds(newest['sleeps'])}{seconds}"


def _active(key: str, step: View, now: float, console: Console) -> Panel:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=LABEL_WIDTH, no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for label, content in _rows(step, now, console):
        table.add_row(Text(label, QUIET), content)
    title = Text(f"{printable(key, _ID)}  {_number(step)}")
    return Panel(table, title=title, title_align="left", box=ROUNDED)


def _number(step: View, after: int = 0) -> str:
    if not step["attempts"]:
        return "scheduled"
    attempt = step["attempts"][-1]
    most = attempt["limits"]["maximum_attempts"] if attempt["limits"] else 0
    return words.attempt(attempt["attempt"] + after, most, attempt["method"])


def _rows(step: View, now: float, console: Console) -> Iterator[tuple[str, Text]]:
    yield "now", Text.assemble(*_doing(step, now))
    attempt = step["attempts"][-1] if step["attempts"] else None
    if attempt is None or attempt["limits"] is None:
        # The newest attempt's begin was not told, or is told no more.
        return
    limits, open_ = attempt["limits"], attempt["ended_at"] is None
    if open_:
        yield "heartbeat", _heartbeat(attempt, now, console)
    yield "checkpoint", _checkpoint(attempt)
    if open_:
        used = now - attempt["started_at"]
        yield "method", _budget(used, limits["execute_method_timeout"], console)
    used = now - (attempt["first_attempt_at"] or attempt["started_at"])
    yield "total", _budget(used, limits["total_duration"], console)
    for failed in reversed(step["attempts"]):
        if failed["failure"] is not None:
            # One word, because the column of labels is narrow.
            noun = "attempt" if failed["method"] == "execute" else failed["method"]
            yield f"{noun} {failed['attempt']}", Text(words.failure(failed["failure"]), MAGENTA)
            return


def _doing(step: View, now: float) -> Iterator[tuple[str, str]]:
    attempt = step["attempts"][-1] if step["attempts"] else None
    if attempt is None:
        yield f"waits for its turn for {duration(now - step['scheduled_at'])}", BLUE
    elif attempt["ended_at"] is None:
        yield from _round(attempt, now)
    elif step["retry_at"] is not None:
        yield f"{_number(step, 1)} follows in {duration(step['retry_at'] - now)}", ORANGE
    else:
        again = attempt["outcome"] in _GIVEN_UP
        text = "waits for its turn" if again else "attempt is over"
        yield f"{text} for {duration(now - attempt['ended_at'])}", BLUE


def _round(attempt: View, now: float) -> Iterator[tuple[str, str]]:
    phase, since = attempt["phase"], duration(now - attempt["phase_since"])
    if not phase:
        yield f"running for {since}", BLUE
        return
    number = attempt["sleeps"] + (phase == "call")
    doing = "in call" if phase == "call" else "sleeping"
    yield f"round {number}, {doing} for {since}", BLUE
    yield f"  {printable(attempt['phase_what'], _ID)}, line {attempt['phase_line']}", QUIET


def _heartbeat(attempt: View, now: float, console: Console) -> Text:
    age, most = now - attempt["last_sign"], attempt["limits"]["heartbeat_timeout"]
    safe = most - MARGIN if most > MARGIN else most
    style, state = BLUE, ""
    if age > most:
        style, state = MAGENTA, ", over"
    elif age > safe:
        style, state = ORANGE, ", in margin"
    line = meter(age, most, style, console, mark=safe if safe < most else None)
    return line.append(f" {duration(age)} of {limit(most)}{state}", style)


def _checkpoint(attempt: View) -> Text:
    if attempt["checkpoint"] is not None:
        return Text(printable(attempt["checkpoint"]))
    # Only a heartbeat takes a checkpoint away.
    return Text("none" if attempt["checkpoint_at"] is None else "cleared", QUIET)


def _budget(used: float, most: float, console: Console) -> Text:
    style = BLUE if used <= most else MAGENTA
    return meter(used, most, style, console).append(f" {duration(used)} of {limit(most)}")


def meter(
    value: float, most: float, style: str, console: Console, mark: float | None = None
) -> Text:
    """Draw how much of a limit is used.

    Args:
        value: What is used.
        most: The limit, which fills the whole width.
        style: Of the used part.
        console: Gives the width.
        mark: Where to draw a line, such as the beginning of a margin.
    """
    width = min(max(console.width - LABEL_WIDTH - WORDS_WIDTH - 6, 8), 40)
    share = min(max(value / most, 0.0), 1.0) if most > 0 else 1.0
    full, rest = divmod(int(share * width * len(PARTS)), len(PARTS))
    used = PARTS[-1] * full + (PARTS[rest - 1] if rest else "")
    text = Text().append(used, style).append("░" * (width - len(used)), QUIET)
    if mark is None:
        return text
    at = min(int(mark / most * width), width - 1)
    return Text.assemble(text[:at], ("┃", ORANGE), text[at + 1 :])


def _panel(table: Table, title: str) -> Panel:
    return Panel(table, title=Text(title), title_align="left", box=ROUNDED)


def _messages(run: Watched) -> Table:
    rows = (
        (row, printable(row["stream"], 24), message(row["value"]))
        for row in run.view["messages"][-MOST_ROWS:]
    )
    return _table(run, rows)


def _notes(run: Watched) -> Table:
    log = [(row, words.note("log", row)) for row in run.view["log"][-MOST_ROWS:]]
    notes = [
        (row, words.note(row["kind"], row["payload"])) for row in run.view["notes"][-MOST_ROWS:]
    ]
    shown = list(merge(log, notes, key=lambda told: float(told[0]["time"])))[-MOST_ROWS:]
    return _table(run, ((row, printable(row["step"], 24), text) for row, text in shown), folds=True)


def _table(run: Watched, rows: Iterable[tuple[View, str, str]], *, folds: bool = False) -> Table:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=LABEL_WIDTH, justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=not folds, overflow="fold" if folds else "ellipsis", ratio=1)
    for row, source, text in rows:
        at = duration(row["time"] - run.started_at)
        table.add_row(Text(at, QUIET), Text(source, QUIET), Text(text))
    return table


def _rounds(number: int) -> str:
    if number == 0:
        return ""
    return "1 round, " if number == 1 else f"{number} rounds, "
