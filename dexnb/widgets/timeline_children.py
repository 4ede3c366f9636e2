"""The SubFlows of an execution in the static timeline: a row each, and below it its attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dexnb.model.decision_name import written
from dexnb.model.markup import escaped
from dexnb.widgets.state_text import execution_name, in_background, wait_text
from dexnb.widgets.subflows import SubFlow, Views, count_of, of_step

ROW = 19.0
INDENT = 10.0
MOST_CHILDREN = 8
"""Of one execution."""

MOST_STEPS = 5
"""Of one SubFlow, the newest."""

MOST_ATTEMPTS = 40
MOST_MARKS = 60
"""Calls drawn of an attempt, the newest."""

RULES = (
    ".dxt .kid{fill:var(--sleep);stroke:var(--call)}.dxt .kid.ok{stroke:var(--beat)}"
    ".dxt .kid.failed{stroke:var(--fail)}.dxt .kidt{font-size:10px}"
    ".dxt .guide{stroke:var(--line);stroke-width:2}"
)
_LETTER = 5.5

View = dict[str, Any]
Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a SubFlow, one of its executions, or how many more there are.

    Args:
        depth: 1 for a child of the picture's run.
        text: What stands at the left.
        child: The SubFlow, if the row is its own or that of an execution of it.
        step: The execution.
    """

    depth: int
    text: str
    child: SubFlow | None = None
    step: View | None = None


def rows_of(key: str, step: View, views: Views, depth: int = 1) -> Iterator[Row]:
    """Give the rows below an execution, in order."""
    known = of_step(key, step, views, depth)
    shown = sorted(known, key=lambda each: each.view is not None)[-MOST_CHILDREN:]
    for child in known:
        if child in shown:
            yield Row(depth, child.name, child)
            yield from _executions(child, views)
    more = count_of(step) - len(shown)
    if shown and more:
        yield Row(depth, f"and {more} more SubFlows")


def _executions(child: SubFlow, views: Views) -> Iterator[Row]:
    steps = {} if child.view is None else child.view["steps"]
    found = [(key, step) for key, step in steps.items() if not in_background(step)]
    if len(found) > MOST_STEPS:
        yield Row(child.depth + 1, f"{len(found) - MOST_STEPS} earlier executions")
    for key, step in found[-MOST_STEPS:]:
        yield Row(child.depth + 1, execution_name(key), child, step)
        yield from rows_of(key, step, views, child.depth + 1)


def row_svg(row: Row, y: float, x: Scale, now: float, right: float) -> str:
    """Draw a row.

    Args:
        row: The row.
        y: Its upper end.
        x: The place of a moment.
        now: Where what goes on ends.
        right: The right end of the drawing.
    """
    left = 8 + INDENT * row.depth
    name = escaped(row.text, int(26 - 2 * row.depth))
    kind = "n" if row.child is not None and row.step is None else "s"
    parts = [
        f'<path class="guide" d="M{left - 5:g} {y:g}v{ROW:g}"/>',
        f'<text class="{kind}" x="{left:g}" y="{y + 13:g}">{name}</text>',
    ]
    if row.child is not None and row.step is not None:
        parts.append(_step(row.step, row.child, y, x, now))
    elif row.child is not None:
        parts.append(_life(row.child, y, x, now, right))
    return "".join(parts)


def _life(child: SubFlow, y: float, x: Scale, now: float, right: float) -> str:
    begin = x(child.began_at)
    end = max(x(now if child.ended_at is None else child.ended_at), begin + 1)
    words = " · ".join(filter(None, (child.status.lower(), child.flow_id, child.result)))
    behind = end + 6 + _LETTER * 24 < right
    room = right - end - 6 if behind else end - begin - 10
    text = escaped(words, int(room / _LETTER)) if room > _LETTER * 8 else ""
    tone = {"RUNNING": "", "COMPLETED": "ok"}.get(child.status, "failed")
    kind, at = "bad" if tone == "failed" else "kidt", end + 6 if behind else begin + 5
    return (
        f'<rect class="{f"kid {tone}".strip()}" {_box(begin, y + 3, end, 12)} rx="2">'
        f"<title>{escaped(words, 300)}</title></rect>"
        f'<text class="{kind}" x="{_n(at)}" y="{y + 13:g}">{text}</text>'
    )


def _step(step: View, child: SubFlow, y: float, x: Scale, now: float) -> str:
    until = now if child.ended_at is None else child.ended_at
    parts = []
    if wait := step["wait"]:
        end = until if wait["ended_at"] is None else wait["ended_at"]
        words = escaped(wait_text(step, child.view or {}), 300)
        parts.append(
            f'<rect class="wait" {_box(x(wait["began_at"]), y + 5, x(end), 8)} rx="2">'
            f"<title>{words}</title></rect>"
        )
    parts += [_attempt(attempt, y, x, until) for attempt in step["attempts"][-MOST_ATTEMPTS:]]
    return "".join(parts)


def _attempt(attempt: View, y: float, x: Scale, until: float) -> str:
    failure, outcome = attempt["failure"], attempt["outcome"]
    failed = failure is not None or outcome in ("lost", "force_fail")
    kind = "failed" if failed else "ok" if attempt["ended_at"] is not None else ""
    end = until if attempt["ended_at"] is None else attempt["ended_at"]
    method = "wait_for" if attempt["method"] == "wait_for" else "attempt"
    words = [f"{method} {attempt['attempt']}", f"{attempt['rounds']} rounds"]
    words += [f"{attempt['beat_count']} heartbeats"]
    if failure is not None:
        words.append(f"{failure['error_type']}: {failure['detail']}")
    elif outcome:
        words.append(written(outcome))
    box = _box(x(attempt["started_at"]), y + 3, x(end), 12)
    spans = "".join(
        f"M{_n(x(mark[1]))} {y + 9:g}H{_n(max(x(mark[2]), x(mark[1]) + 0.5))}"
        for mark in attempt["marks"][-MOST_MARKS:]
        if mark[0] != "sleep"
    )
    calls = f'<path class="call" style="stroke-width:8" d="{spans}"/>' if spans else ""
    title = escaped(", ".join(words), 300)
    return (
        f'{calls}<rect class="{f"att {kind}".strip()}" {box} rx="2"><title>{title}</title></rect>'
    )


def _box(begin: float, y: float, end: float, height: float) -> str:
    return f'x="{_n(begin)}" y="{y:g}" width="{_n(max(end - begin, 1.0))}" height="{height:g}"'


def _n(number: float) -> str:
    return f"{round(number, 1):g}"
