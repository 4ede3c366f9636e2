"""The static picture of a Lab as HTML: what a saved, exported or reopened notebook shows.

It needs no kernel, no script and no network, and is the same for the same page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dexnb.model.budget import seconds_text
from dexnb.model.decision_name import written
from dexnb.model.markup import escaped
from dexnb.widgets.state_text import execution_name, in_background, state_tables
from dexnb.widgets.subflows import Views
from dexnb.widgets.svg_image import svg_image
from dexnb.widgets.timeline_svg import Theme, clock_text, timeline_svg

LAST_MESSAGES = 12
MOST_STEPS = 24
MOST_FOUND = 12
_BOX = "font:13px/1.45 system-ui,sans-serif;max-width:1100px"
_CELL = "padding:1px 12px 1px 0;vertical-align:top;text-align:left"
_STYLE = (
    "<style>"
    ".jp-OutputArea:has(section.dexnb)>.jp-OutputArea-child:has(.dexnb-lab),"
    ".jp-OutputArea:has(.dexnb-lab)>.jp-OutputArea-child:has(>.jp-OutputArea-output.jupyter-widgets)"
    "{display:none}</style>"
)
"""Of the live page, the picture, and the host's words about a page without a kernel, show one."""

View = dict[str, Any]


def fallback_html(
    page: dict[str, Any], graph_svg: str, *, theme: Theme = "auto", images: bool = False
) -> str:
    """Give the picture of a page.

    Args:
        page: As a snapshot has it.
        graph_svg: The graph's picture, made by who may know graphs.
        theme: As of the pictures.
        images: Draw for a notebook that may not be trusted: as images rather than as inline SVG.
    """
    drawn: Callable[[str], str] = svg_image if images else str
    view, children = page["view"], page.get("children", {})
    parts = [
        f'<div class="dexnb-lab" style="{_BOX}">{_STYLE}',
        f"<p><b>{escaped(page['title'])}</b> {_status(view)}</p>",
        drawn(graph_svg),
    ]
    if page.get("findings"):
        parts.append(_table("Findings", [_finding(each) for each in page["findings"][:MOST_FOUND]]))
    if page.get("outputs"):
        parts.append(_table("Output", [[each["step"], each["value"]] for each in page["outputs"]]))
    if view["started_at"] is not None:
        parts += [drawn(timeline_svg(view, children, theme=theme)), _executions(view)]
        parts += [_messages(view, children)]
        parts += [_table(title, rows) for title, rows in state_tables(view, children)]
    return "".join([*parts, "</div>"])


def status_text(view: View) -> str:
    """Say in one line how a run stands, without the wall clock."""
    if view["started_at"] is None:
        return "not started"
    until = view["closed_at"] if view["closed_at"] is not None else view["time"]
    text = f"{view['status']} {view['flow_id']}, {clock_text(until - view['started_at'])}"
    if view["error_message"]:
        text += f": {view['error_type']}: {view['error_message']}"
    return text


def html_page(title: str, body: str) -> str:
    """Give a whole HTML document around a picture."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escaped(title)}'
        '</title><meta name="viewport" content="width=device-width"><style>body{margin:16px;'
        "background:#fff;color:#1f2430}@media(prefers-color-scheme:dark){body{background:#0c0e12;"
        f"color:#e6e9ef}}}}</style></head><body>{body}</body></html>\n"
    )


def _finding(finding: View) -> list[str]:
    unsure = " (cannot tell)" if finding["verdict"] == "cannot tell" else ""
    place = finding["place"]
    where = " ".join(filter(None, [place["path"], place["cell"]]))
    at = f"{where}:{place['line']}" if where and place["line"] else where
    name = f"{finding['code']} {finding['name']}{unsure}"
    return [finding["severity"], name, at, finding["message"]]


def _status(view: View) -> str:
    return escaped(status_text(view), 400)


def _executions(view: View) -> str:
    rows = []
    shown = [(key, step) for key, step in view["steps"].items() if not in_background(step)]
    for key, step in shown[-MOST_STEPS:]:
        attempts = step["attempts"]
        rounds = sum(attempt["rounds"] for attempt in attempts)
        beats = sum(attempt["beat_count"] for attempt in attempts)
        silence = max((attempt["longest_silence"] for attempt in attempts), default=0.0)
        facts = [
            f"{len(attempts)} attempts" if len(attempts) != 1 else "1 attempt",
            f"{rounds} rounds",
            f"{beats} heartbeats",
            f"longest silence {seconds_text(silence)}",
        ]
        rows.append([execution_name(key), _standing(step), ", ".join(facts), _checkpoint(attempts)])
    return _table("Executions", rows)


def _standing(step: View) -> str:
    return written(step["outcome"]) or step["state"] or "running"


def _checkpoint(attempts: list[View]) -> str:
    if not attempts or attempts[-1]["checkpoint"] is None:
        return ""
    return f"checkpoint {attempts[-1]['checkpoint']}"


def _messages(view: View, children: Views) -> str:
    """Give the newest messages of the run and of its SubFlows, these with their flow ids."""
    rows = [(row, "") for row in view["messages"]]
    for child in children.values():
        rows += [(row, child["flow_id"]) for row in child["messages"][-LAST_MESSAGES:]]
    rows.sort(key=lambda each: each[0]["time"])
    count = sum(each["message_count"] for each in (view, *children.values()))
    cells = [
        [
            clock_text(max(0.0, row["time"] - view["started_at"])),
            row["stream"],
            row["value"],
            source,
        ]
        for row, source in rows[-LAST_MESSAGES:]
    ]
    return _table(f"Last messages of {count}", cells) if cells else ""


def _table(title: str, rows: list[list[str]]) -> str:
    lines = (
        "<tr>" + "".join(f'<td style="{_CELL}">{escaped(cell, 160)}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    caption = f'<caption style="text-align:left;font-weight:600">{title}</caption>'
    return f'<table style="border:0">{caption}{"".join(lines)}</table>'
