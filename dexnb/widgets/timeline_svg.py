"""A `RunView` as one SVG picture: a lane per Step execution, the same bytes for the same view."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, Literal

from dexnb.model.decision_name import written
from dexnb.model.markup import escaped
from dexnb.widgets.state_text import execution_name, in_background, wait_text
from dexnb.widgets.subflows import Views, latest
from dexnb.widgets.timeline_children import ROW, RULES, row_svg, rows_of

Theme = Literal["auto", "light", "dark"]
View = dict[str, Any]

WIDTH = 960.0
LEFT = 150.0
RIGHT = 70.0
LANE = 62.0
TOP = 30.0
MOST_LANES = 24
MOST_ATTEMPTS = 40
MOST_LABELS = 60
CAPTION_WIDTH = 60.0
LABEL_WIDTH = 90.0
MOST_TICKS = 7
MOST_ELEMENTS = 4000
"""Strokes drawn for calls, sleeps and beats together; more are drawn on a coarser grid."""

_LIGHT = (
    "--bg:#fff;--fg:#1f2430;--sub:#667085;--line:#e3e7ee;--call:#0072b2;--sleep:#c9dcea;"
    "--beat:#009e73;--stream:#8e5bb5;--fail:#d55e00;--gap:#e69f00"
)
_DARK = (
    "--bg:#15181e;--fg:#e6e9ef;--sub:#98a2b3;--line:#2b313c;--call:#56a8e0;--sleep:#2d4356;"
    "--beat:#35c79a;--stream:#c39be6;--fail:#ff8a4c;--gap:#e69f00"
)
_RULES = (
    ".dxt text{fill:var(--fg);font:12px system-ui,sans-serif}.dxt .n{font-weight:600}"
    ".dxt .s{fill:var(--sub);font-size:10px}.dxt .grid{stroke:var(--line)}"
    ".dxt .call{stroke:var(--call);stroke-width:20}.dxt .sleep{stroke:var(--sleep);stroke-width:20}"
    ".dxt .many{stroke:var(--call);stroke-width:20;opacity:.45}"
    ".dxt .beat{stroke:var(--beat);stroke-width:1.6}.dxt .att{fill:none;stroke:var(--sub)}"
    ".dxt .att.failed{stroke:var(--fail)}.dxt .att.ok{stroke:var(--beat)}"
    ".dxt .gap{fill:var(--gap);opacity:.45}.dxt .msg{fill:var(--stream)}"
    ".dxt .msgt{fill:var(--stream);font-size:10px}.dxt .bad{fill:var(--fail);font-size:10px}"
    ".dxt .wait{fill:none;stroke:var(--call);stroke-dasharray:3 2}"
    ".dxt .timer{fill:var(--call);stroke:var(--call)}"
    ".dxt .good{fill:var(--beat);font-size:11px}"
)
_GOOD = frozenset(
    {
        *("next", "graceful_complete", "force_complete", "force_complete_if_channels_empty"),
        *("dead_end", "wait"),
    }
)


def timeline_svg(view: View, children: Views | None = None, *, theme: Theme = "auto") -> str:
    """Draw a run's attempts, rounds, heartbeats, messages, failures and retries over time.

    Args:
        view: A RunView; see `dexnb.model.run_view`.
        children: Those of SubFlows, by their run ids; they are drawn in a simple form.
        theme: `auto` follows the notebook's theme, or else the reader's system.
    """
    return _Timeline(view, children or {}).picture(theme)


class _Timeline:
    def __init__(self, view: View, children: Views) -> None:
        self.view = view
        self.began = float(view["started_at"] or 0.0)
        self.now = latest(view, children)
        self.span = max(self.now - self.began, 0.001)
        keys = [key for key, step in view["steps"].items() if not in_background(step)]
        self.keys = keys[-MOST_LANES:]
        self.left_out = len(keys) - len(self.keys)
        self.lanes: dict[str, float] = {}
        self.below = {key: list(rows_of(key, view["steps"][key], children)) for key in self.keys}
        self.bottom = TOP + 14
        for key in self.keys:
            self.lanes[key] = self.bottom
            self.bottom += LANE + ROW * len(self.below[key])
        self.grid = self._grid()

    def _grid(self) -> float:
        """Give the width of a pixel column that keeps the number of strokes bounded."""
        strokes = 0
        for key in self.keys:
            for attempt in self.view["steps"][key]["attempts"]:
                strokes += len(attempt["marks"]) + len(attempt["beats"])
        return float(max(1, math.ceil(strokes / MOST_ELEMENTS)))

    def x(self, time: float) -> float:
        share = min(max((time - self.began) / self.span, 0.0), 1.0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def picture(self, theme: Theme) -> str:
        height = (self.bottom if self.keys else self.bottom + LANE) + 14
        parts = [self._ticks(height - 10)]
        for key in self.keys:
            parts += [self._lane(key), self._children(key)]
        parts.append(self._messages())
        if self.left_out:
            text = f"{self.left_out} earlier executions are not shown"
            parts.append(f'<text class="s" x="8" y="{height - 2:g}">{text}</text>')
        style = _style(theme) + (RULES if any(self.below.values()) else "")
        name = escaped(f"Timeline of {self.view['flow_type']} {self.view['flow_id']}")
        return (
            f'<svg class="dxt" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{name}" '
            f'viewBox="0 0 {WIDTH:g} {height:g}" style="max-width:100%;width:{WIDTH:g}px">'
            f"<title>{name}</title><style>{style}</style>{''.join(parts)}</svg>"
        )

    def _ticks(self, bottom: float) -> str:
        parts = []
        step = _tick_step(self.span)
        for number in range(int(self.span / step + 1e-9) + 1):
            x = _n(self.x(self.began + number * step))
            at = number * step
            label = clock_text(at) if step >= 1 else f"{round(at, 6):g} s"
            parts.append(
                f'<path class="grid" d="M{x} {TOP - 6:g}V{bottom:g}"/>'
                f'<text class="s" text-anchor="middle" x="{x}" y="{TOP - 12:g}">{label}</text>'
            )
        return "".join(parts)

    def _lane(self, key: str) -> str:
        step, y = self.view["steps"][key], self.lanes[key]
        attempts = step["attempts"][-MOST_ATTEMPTS:]
        note = _counted([attempt["method"] for attempt in step["attempts"]])
        parts = [
            f'<text class="n" x="8" y="{y + 16:g}">{escaped(execution_name(key), 20)}</text>',
            f'<text class="s" x="8" y="{y + 30:g}">{note}</text>',
        ]
        parts.append(self._wait(step, y))
        for attempt, following in zip_longest(attempts, attempts[1:]):
            parts.append(self._attempt(attempt, y))
            parts.append(self._gap(step, attempt, following, y))
        if step["outcome"]:
            last = max([step["ended_at"] or 0.0, *(a["ended_at"] or 0.0 for a in attempts)])
            good = step["outcome"] in _GOOD
            text = escaped(f"{'✓' if good else '✕'} {written(step['outcome'])}", 22)
            kind = "good" if good else "bad"
            x, anchor = self.x(last) + 5, "start"
            if x > WIDTH - RIGHT:
                x, anchor = x - 5, "end"
            row = y + 58 if anchor == "end" else y + 20
            parts.append(
                f'<text class="{kind}" text-anchor="{anchor}" x="{_n(x)}" y="{row:g}">{text}</text>'
            )
        return "".join(parts)

    def _children(self, key: str) -> str:
        y, right = self.lanes[key] + LANE, WIDTH - 8
        return "".join(
            row_svg(row, y + ROW * number, self.x, self.now, right)
            for number, row in enumerate(self.below[key])
        )

    def _wait(self, step: View, y: float) -> str:
        """Draw what lies between wait_for and execute, with each timer that has fired."""
        wait = step["wait"]
        if wait is None:
            return ""
        ended = wait["ended_at"]
        begin = self.x(wait["began_at"])
        end = self.x(self.now if ended is None else ended)
        words = wait_text(step, self.view)
        room = int((end - begin) / 5.5)
        text = escaped(words, room) if room > len("timer 0:00") else ""
        fired = (each["changed_at"] for each in wait["conditions"] if each["kind"] == "timer")
        marks = "".join(
            f"M{_n(self.x(at) - 4)} {y + 6:g}h8l-4 5z" for at in fired if at is not None
        )
        timers = f'<path class="timer" d="{marks}"/>' if marks else ""
        size = f'width="{_n(max(end - begin, 0.5))}" height="16" rx="3"'
        return (
            f'<rect class="wait" x="{_n(begin)}" y="{y + 10:g}" {size}>'
            f"<title>{escaped(words, 300)}</title></rect>"
            f'<text class="s" x="{_n(begin + 4)}" y="{y + 21:g}">{text}</text>{timers}'
        )

    def _attempt(self, attempt: View, y: float) -> str:
        begin = self.x(attempt["started_at"])
        ended = attempt["ended_at"]
        end = max(self.x(self.now if ended is None else ended), begin + 1.0)
        middle = y + 18
        parts = []
        for kind in ("sleep", "many", "call"):
            spans = [mark[1:3] for mark in attempt["marks"] if mark[0] == kind]
            if attempt["phase"] == kind and ended is None:
                spans.append([attempt["phase_since"], self.now])
            if path := self._spans(spans, middle):
                parts.append(f'<path class="{kind}" d="{path}"/>')
        if beats := self._beats(attempt["beats"], middle):
            parts.append(f'<path class="beat" d="{beats}"/>')
        failed = attempt["failure"] is not None or attempt["outcome"] == "lost"
        kind = "failed" if failed else "ok" if attempt["outcome"] in _GOOD else ""
        size = f'width="{_n(end - begin)}" height="32" rx="4"'
        parts.append(
            f'<rect class="{f"att {kind}".strip()}" x="{_n(begin)}" y="{y + 2:g}" {size}/>'
        )
        parts.append(self._caption(attempt, begin, end, y))
        return "".join(parts)

    def _caption(self, attempt: View, begin: float, end: float, y: float) -> str:
        texts = []
        if end - begin > CAPTION_WIDTH:
            name = "wait_for" if attempt["method"] == "wait_for" else "attempt"
            text = f"{name} {attempt['attempt']}, {attempt['rounds']} rounds"
            if attempt["resumed_from"] is not None:
                text += f", from {attempt['resumed_from']}"
            room = int((end - begin) / 5.5)
            texts.append(
                f'<text class="s" x="{_n(begin + 3)}" y="{y + 46:g}">{escaped(text, room)}</text>'
            )
        if attempt["failure"] is not None:
            full = escaped(
                f"{attempt['failure']['error_type']}: {attempt['failure']['detail']}", 300
            )
            short = escaped("✕ " + attempt["failure"]["error_type"].rpartition(".")[2], 28)
            texts.append(
                f'<text class="bad" text-anchor="end" x="{_n(max(end, LEFT + 60))}" '
                f'y="{y + 58:g}"><title>{full}</title>{short}</text>'
            )
        return "".join(texts)

    def _gap(self, step: View, attempt: View, following: View | None, y: float) -> str:
        """Draw the wait between two attempts, or for the one that is scheduled."""
        if attempt["ended_at"] is None:
            return ""
        if following is not None and following["method"] != attempt["method"]:
            return ""
        until = step["retry_at"] if following is None else following["started_at"]
        if until is None:
            return ""
        begin, end = self.x(attempt["ended_at"]), self.x(until)
        size = f'width="{_n(max(end - begin, 0.5))}" height="20"'
        return f'<rect class="gap" x="{_n(begin)}" y="{y + 8:g}" {size}/>'

    def _spans(self, spans: Iterable[Sequence[float]], y: float) -> str:
        """Write spans as one path; what falls into the same columns is drawn once."""
        drawn: dict[tuple[int, int], None] = {}
        for begin, end in spans:
            first = int(self.x(begin) / self.grid)
            drawn[first, max(math.ceil(self.x(end) / self.grid), first + 1)] = None
        return "".join(
            f"M{_n(first * self.grid)} {y:g}H{_n(last * self.grid)}" for first, last in drawn
        )

    def _beats(self, beats: Iterable[float], y: float) -> str:
        columns = dict.fromkeys(int(self.x(beat) / self.grid) for beat in beats)
        return "".join(f"M{_n(column * self.grid)} {y - 13:g}v26" for column in columns)

    def _messages(self) -> str:
        parts = []
        last_label: dict[str, float] = {}
        for message in self.view["messages"][-MOST_LABELS:]:
            y = self.lanes.get(message["step"])
            if y is None:
                continue
            x = self.x(message["time"])
            full = escaped(f"{message['stream']}: {message['value']}", 300)
            diamond = f"M{_n(x)} {y - 9:g}l4 5l-4 5l-4 -5z"
            parts.append(f'<path class="msg" d="{diamond}"><title>{full}</title></path>')
            if x - last_label.get(message["step"], -LABEL_WIDTH) >= LABEL_WIDTH:
                last_label[message["step"]] = x
                label = escaped(message["value"], 14)
                parts.append(f'<text class="msgt" x="{_n(x + 6)}" y="{y:g}">{label}</text>')
        return "".join(parts)


def clock_text(seconds: float) -> str:
    """Write a time since the start in whole seconds: `4:07`, `1:00:05`."""
    whole = int(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _counted(methods: Sequence[str]) -> str:
    """Count attempts by their method: one of wait_for and one of execute are no retry."""
    waits = sum(method == "wait_for" for method in methods)
    executes = len(methods) - waits
    parts = [f"wait_for ({waits})" if waits > 1 else "wait_for"] if waits else []
    if executes or not waits:
        parts.append(f"{executes} attempt{'' if executes == 1 else 's'}")
    return ", ".join(parts)


def _tick_step(span: float) -> float:
    """Give a round distance between ticks, so that there are not too many."""
    rounds = (0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800)
    for step in (*rounds, 3600, 7200, 14400, 43200, 86400):
        if span / step <= MOST_TICKS:
            return float(step)
    return span / MOST_TICKS


def _n(number: float) -> str:
    return f"{round(number, 1):g}"


def _style(theme: Theme) -> str:
    if theme == "auto":
        light = _LIGHT.replace("--fg:#1f2430", "--fg:var(--jp-ui-font-color1,#1f2430)")
        return f".dxt{{{light}}}@media(prefers-color-scheme:dark){{.dxt{{{_DARK}}}}}{_RULES}"
    return f".dxt{{{_LIGHT if theme == 'light' else _DARK}}}{_RULES}"
