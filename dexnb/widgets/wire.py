"""What is sent to a page, bounded: long texts cut, old rows left out, strict JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dexnb.model.event import Event
from dexnb.model.json_text import to_text

LONGEST_TEXT = 4000
"""Letters of one value; what is cut stays JSON text where it was."""

SNAPSHOT_BYTES = 200_000
_JSON_TEXTS = frozenset({"value", "checkpoint", "resumed_from"})
_ROWS = ("messages", "log", "notes")
_LEAST_ROWS = 20


def event_document(event: Event) -> dict[str, Any]:
    """Give an event as it is sent."""
    document = event.to_json()
    document["payload"] = short(event.payload)
    return document


def short(value: Any, name: str = "") -> Any:
    """Give a plain JSON value with every long text in it cut."""
    match value:
        case str() if len(value) > LONGEST_TEXT:
            cut = f"{value[:LONGEST_TEXT]}… ({len(value)} characters)"
            return to_text(cut) if name in _JSON_TEXTS else cut
        case dict():
            return {key: short(item, key) for key, item in value.items()}
        case list():
            return [short(item, name) for item in value]
        case _:
            return value


def bounded_page(page: dict[str, Any], limit: int = SNAPSHOT_BYTES) -> tuple[dict[str, Any], int]:
    """Give a page of at most `limit` bytes, and how many it has; its oldest details go first."""
    view = short(page["view"])
    page = {**page, "view": view}
    size = len(to_text(page))
    most = 500
    while size > limit and most >= _LEAST_ROWS:
        most //= 2
        page = {**page, "view": _thinned(view, most)}
        size = len(to_text(page))
    return page, size


def _thinned(view: dict[str, Any], most: int) -> dict[str, Any]:
    rows = {name: view[name][-most:] for name in _ROWS}
    kept = list(view["steps"].items())[-most:]
    steps = {key: _thin_step(step, most) for key, step in kept}
    return {**view, **rows, "steps": steps}


def _thin_step(step: dict[str, Any], most: int) -> dict[str, Any]:
    attempts = step["attempts"]
    thin = [
        {**attempt, "marks": attempt["marks"][-most:], "beats": attempt["beats"][-most:]}
        for attempt in attempts[-most:]
    ]
    # Of attempts long past only the outline stays.
    for attempt in thin[: -max(2, most // 25)]:
        attempt.update(marks=[], beats=[])
    return {**step, "attempts": thin}


def documents(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Give events as they are sent."""
    return [event_document(event) for event in events]
