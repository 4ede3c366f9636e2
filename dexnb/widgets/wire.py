"""What is sent to a page, bounded: long texts cut, old rows left out, strict JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dexnb.model.event import Event
from dexnb.model.json_text import to_text
from dexnb.widgets.packing import packed_marks, packed_signs, packed_times, runs_of_signs
from dexnb.widgets.state_text import in_background

LONGEST_TEXT = 4000
"""Letters of one value; what is cut stays JSON text where it was."""

SNAPSHOT_BYTES = 200_000
_JSON_TEXTS = frozenset({"value", "checkpoint", "resumed_from"})
PARTS = 8
"""Of a SubFlow so much less is told than of the run itself, where not all can be."""

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
    most = 500
    sent, size = _sent(page)
    while size > limit and most >= _LEAST_ROWS:
        most //= 2
        sent, size = _sent(page, most)
    if size > limit:
        sent, size = _sent({**page, "children": {}}, most)
    return sent, size


def _sent(page: dict[str, Any], most: int = 0) -> tuple[dict[str, Any], int]:
    """Pack a page and count its bytes; with `most` only so many details of each kind."""
    views = page.get("children", {}).items()
    if most:
        longest = LONGEST_TEXT * most // 500
        # What is told of the run itself outweighs what is told of each of many children.
        part = max(1, most // PARTS)
        view = _packed(_thinned(page["view"], most), longest)
        children = {key: _packed(_thinned(child, part), longest) for key, child in views}
    else:
        view = _packed(page["view"])
        children = {key: _packed(child) for key, child in views}
    sent = {**page, "view": view, "children": children}
    return sent, len(to_text(sent))


def _packed(view: dict[str, Any], longest: int = LONGEST_TEXT) -> dict[str, Any]:
    # Starts of SubFlows, of which there may be a thousand, are shown nowhere.
    shown = ((key, step) for key, step in view["steps"].items() if not in_background(step))
    steps = {key: _packed_step(step, longest) for key, step in shown}
    data = {
        "attributes": {name: bounded(value, longest) for name, value in view["attributes"].items()},
        "channels": {
            name: {**channel, "newest": bounded(channel["newest"], longest)}
            for name, channel in view["channels"].items()
        },
    }
    rest = {**view, "steps": {}, "attributes": {}, "channels": {}}
    return {**short(rest), **data, "steps": steps}


def bounded(value: Any, longest: int) -> Any:
    """Give a plain JSON value, or the beginning of its text where that is longer."""
    if not isinstance(value, str | list | dict):
        return value
    text = to_text(value)
    return value if len(text) <= longest else f"{text[:longest]}… ({len(text)} characters)"


def _packed_step(step: dict[str, Any], longest: int) -> dict[str, Any]:
    attempts = [_packed_attempt(attempt) for attempt in step["attempts"]]
    subflows = {
        flow_id: {
            **short({**told, "outputs": []}),
            "outputs": [bounded(value, longest) for value in told["outputs"]],
        }
        for flow_id, told in step["subflows"].items()
    }
    return {
        **short({**step, "attempts": [], "subflows": {}}),
        "attempts": attempts,
        "subflows": subflows,
    }


def _packed_attempt(attempt: dict[str, Any]) -> dict[str, Any]:
    details = {
        "beats": packed_times(attempt["beats"]) if attempt["beats"] else [],
        "marks": packed_marks(attempt["marks"]) if attempt["marks"] else [],
    }
    return {**short({**attempt, "beats": [], "marks": []}), **details}


def _thinned(view: dict[str, Any], most: int) -> dict[str, Any]:
    rows = {name: view[name][-most:] for name in _ROWS}
    shown = [(key, step) for key, step in view["steps"].items() if not in_background(step)]
    kept = shown[-most:]
    steps = {key: _thin_step(step, most) for key, step in kept}
    data = {name: dict(list(view[name].items())[-most:]) for name in ("attributes", "channels")}
    return {**view, **rows, **data, "steps": steps}


def _thin_step(step: dict[str, Any], most: int) -> dict[str, Any]:
    attempts = step["attempts"]
    thin = [
        {**attempt, "marks": attempt["marks"][-most:], "beats": attempt["beats"][-most:]}
        for attempt in attempts[-most:]
    ]
    # Of attempts long past only the outline stays.
    for attempt in thin[: -max(2, most // 25)]:
        attempt.update(marks=[], beats=[])
    subflows = dict(list(step["subflows"].items())[-most:])
    return {**step, "attempts": thin, "subflows": subflows}


def documents(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Give events as they are sent: the many signs of an attempt as one document."""
    return [
        event_document(run[0]) if len(run) == 1 else short(packed_signs(run))
        for run in runs_of_signs(events)
    ]
