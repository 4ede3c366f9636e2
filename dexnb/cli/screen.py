"""The live view: a picture of a `RunView` for a terminal, by rich.

Texts from outside are printable and bounded before they come here (`dexnb.cli.text`), and they are
put into `Text` objects, which know no markup. Colours are told apart by colour-blind readers and
never say anything alone: the words beside them say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.box import ROUNDED
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from dexnb.cli import words
from dexnb.cli.text import duration, limit, message, printable
from dexnb.cli.view import HEARTBEAT_MARGIN, RunView, StepView
from dexnb.model.event import Event

BLUE, ORANGE, MAGENTA = "#56b4e9", "#e69f00", "#cc79a7"
"""Fine, look here, wrong: from the palette of Okabe and Ito."""

QUIET = "dim"
MOST_ACTIVE, MOST_ENDED, MOST_ROWS = 4, 5, 8
LABEL_WIDTH = 11
WORDS_WIDTH = 32
PARTS = "▏▎▍▌▋▊▉█"
"""A cell of a meter, filled more and more."""

_ID = 40

_STATUS_STYLES = {"RUNNING": BLUE, "COMPLETED": BLUE}


def picture(view: RunView, now: float, console: Console, hint: str = "") -> RenderableType:
    """Draw a run as it stands at `now`, for this console, with a hint as its last line."""
    now = view.closed_at if view.closed_at is not None else max(now, view.now)
    active = [step for step in view.steps.values() if step.outcome is None]
    ended = [step for step in view.steps.values() if step.outcome is not None]
    parts: list[RenderableType] = [_head(view, now)]
    parts += [_ended(ended[-MOST_ENDED:])] if ended else []
    if not view.closed:
        parts += [_active(step, now, console) for step in active[:MOST_ACTIVE]]
    if len(active) > MOST_ACTIVE:
        parts.append(Text(f"and {len(active) - MOST_ACTIVE} more active Steps", QUIET))
    if view.messages:
        parts.append(_panel(_messages(view), "Stream"))
    if view.notes:
        parts.append(_panel(_notes(view), "Log"))
    if hint:
        parts.append(Text(hint, QUIET, no_wrap=True, overflow="ellipsis"))
    return Group(*parts)


def _head(view: RunView, now: float) -> Panel:
    style = _STATUS_STYLES.get(view.status, MAGENTA)
    line = Text(overflow="ellipsis", no_wrap=True)
    line.append(printable(view.status, _ID), f"bold {style}")
    line.append(f"  {printable(view.flow_id, _ID)}")
    line.append(f"  {duration(now - view.started_at)}")
    line.append(f"  run {printable(view.run_id[:8])}", QUIET)
    rows: list[Text] = [line]
    if view.error:
        rows.append(Text(printable(view.error), MAGENTA, overflow="fold"))
    if view.waiting_for_code:
        rows.append(Text(printable(view.waiting_for_code), ORANGE, overflow="fold"))
    title = Text(printable(view.flow_type, _ID), "bold")
    return Panel(Group(*rows), title=title, title_align="left", box=ROUNDED)


def _ended(steps: Iterable[StepView]) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for step in steps:
        if step.outcome is None:
            continue
        good = step.outcome.kind == "step_completed"
        spent = duration(step.outcome.time - step.scheduled_at)
        table.add_row(
            Text(f"  {'✓' if good else '✗'}", BLUE if good else MAGENTA),
            Text(printable(step.step_execution_id, _ID)),
            Text(f"attempt {step.outcome.attempt}, {_rounds(step.rounds)}{spent}", QUIET),
            Text(words.outcome(step.outcome)),
        )
    return table


def _active(step: StepView, now: float, console: Console) -> Panel:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=LABEL_WIDTH, no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for label, content in _rows(step, now, console):
        table.add_row(Text(label, QUIET), content)
    number = words.attempt(step.attempt, step.maximum_attempts) if step.attempt else "scheduled"
    title = Text(f"{printable(step.step_execution_id, _ID)}  {number}")
    return Panel(table, title=title, title_align="left", box=ROUNDED)


def _rows(step: StepView, now: float, console: Console) -> Iterator[tuple[str, Text]]:
    yield "now", _phase(step, now)
    if step.attempt == 0:
        return
    if step.phase in ("running", "call", "sleep"):
        yield "heartbeat", _heartbeat(step, now, console)
    yield "checkpoint", _checkpoint(step)
    if step.phase in ("running", "call", "sleep"):
        used = now - step.started_at
        yield "method", _budget(used, step.execute_method_timeout, console)
    yield "total", _budget(now - step.first_attempt_at, step.total_duration, console)
    if step.failure is not None:
        failure = words.failure(step.failure.payload["failure"])
        yield f"attempt {step.failure.attempt}", Text(failure, MAGENTA)


def _phase(step: StepView, now: float) -> Text:
    since = duration(now - step.since)
    if step.phase == "retry":
        text = f"{words.attempt(step.attempt + 1, step.maximum_attempts)} follows in "
        return Text(text + duration(step.retry_at - now), ORANGE)
    if step.phase in ("call", "sleep"):
        where = f"{printable(step.what, _ID)}, line {step.line}"
        doing = f"in call for {since}" if step.phase == "call" else f"sleeping for {since}"
        number = step.rounds + (step.phase == "call")
        return Text.assemble((f"round {number}, {doing}", BLUE), (f"  {where}", QUIET))
    texts = {"scheduled": "waits for its turn", "running": "running", "over": "attempt is over"}
    return Text(f"{texts[step.phase]} for {since}", BLUE)


def _heartbeat(step: StepView, now: float, console: Console) -> Text:
    age, most = now - step.last_sign, step.heartbeat_timeout
    safe = most - HEARTBEAT_MARGIN if most > HEARTBEAT_MARGIN else most
    style, state = BLUE, ""
    if age > most:
        style, state = MAGENTA, ", over"
    elif age > safe:
        style, state = ORANGE, ", in margin"
    line = meter(age, most, style, console, mark=safe if safe < most else None)
    return line.append(f" {duration(age)} of {limit(most)}{state}", style)


def _checkpoint(step: StepView) -> Text:
    if step.checkpoint is not None:
        return Text(printable(step.checkpoint))
    return Text("cleared" if step.cleared else "none", QUIET)


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


def _messages(view: RunView) -> Table:
    shown = _newest(view.messages)
    rows = (
        (event, printable(event.payload["stream"], 24), message(event.payload["value"]))
        for event in shown
    )
    return _log(view, rows)


def _notes(view: RunView) -> Table:
    shown = _newest(view.notes)
    rows = ((event, printable(event.step_execution_id, 24), words.note(event)) for event in shown)
    return _log(view, rows, folds=True)


def _newest(events: Iterable[Event]) -> list[Event]:
    return list(events)[-MOST_ROWS:]


def _log(view: RunView, rows: Iterable[tuple[Event, str, str]], *, folds: bool = False) -> Table:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=LABEL_WIDTH, justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=not folds, overflow="fold" if folds else "ellipsis", ratio=1)
    for event, source, text in rows:
        at = duration(event.time - view.started_at)
        table.add_row(Text(at, QUIET), Text(source, QUIET), Text(text))
    return table


def _rounds(number: int) -> str:
    if number == 0:
        return ""
    return "1 round, " if number == 1 else f"{number} rounds, "
