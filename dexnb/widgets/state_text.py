"""What a run keeps and waits for, as the rows of tables; the words are those of the live page."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from dexnb.model.json_text import to_text
from dexnb.widgets.subflows import SubFlow, Views, count_of, subflows_of

MOST_ROWS = 24
MOST_CONDITIONS = 4
START = "sys:subflow"
TIMEOUT = "sys:timeout_handler"

View = dict[str, Any]
Table = tuple[str, list[list[str]]]


def state_tables(view: View, children: Views | None = None) -> list[Table]:
    """Give each table that has rows: its title, and the newest rows.

    Args:
        view: Of the run.
        children: Of SubFlows, by their run ids.
    """
    tables = [
        ("Waiting", _held(view)),
        (
            "Attributes",
            [[unquote(name), to_text(value)] for name, value in _newest(view, "attributes")],
        ),
        ("Channels", [_channel(name, channel) for name, channel in _newest(view, "channels")]),
        ("Locks", [[unquote(name), _holder(view, who)] for name, who in _newest(view, "locks")]),
        ("SubFlows", _subflows(view, children or {})),
    ]
    return [(title, rows) for title, rows in tables if rows]


def execution_name(key: str) -> str:
    """Name an execution for people; internal Steps have a name too."""
    if key.startswith(f"{TIMEOUT}-"):
        return "handle_timeout"
    if key.startswith(f"{START}-"):
        return f"start of SubFlow {key.removeprefix(START)[1:]}"
    return key


def in_background(step: View) -> bool:
    """Tell a start of a SubFlow without trouble: what is said of that SubFlow says all."""
    if step["step_type"] != START:
        return False
    begins = step["ended_at"] is None and len(step["attempts"]) < 2  # noqa: PLR2004
    return bool(step["outcome"] == "dead_end" or begins)


def wait_text(step: View, view: View) -> str:
    """Say what is waited for, or what became of it when the wait is over."""
    wait = step["wait"]
    over = wait["ended_at"] is not None
    conditions = [each for each in wait["conditions"] if each["state"] or not over]
    told = [_condition(each, view) for each in conditions[:MOST_CONDITIONS]]
    more = (len(conditions) if over else wait["count"]) - len(told)
    return ", ".join([*told, *([f"{more} more"] if more > 0 else [])]) or "over"


def _condition(condition: View, view: View) -> str:
    label, state = condition["label"], condition["state"]
    match condition["kind"]:
        case "timer":
            left = max(0.0, condition["due_at"] - view["time"])
            return f"{f'timer {label}'.strip()} {state or f'{_clock(left)} left'}"
        case "subflow":
            return f"{label or 'SubFlow'} {state.lower() or 'starts'}"
        case _ if state:
            return f"{label} {state}"
        case _:
            pending = view["channels"].get(label, {"pending": 0})["pending"]
            return f"{label} {pending} of {condition['need']}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"


def _held(view: View) -> list[list[str]]:
    rows = []
    for key, step in view["steps"].items():
        if view["status"] == "RUNNING" and step["state"] == "delayed":
            left = max(0.0, step["begins_at"] - view["time"])
            rows.append([execution_name(key), f"begins in {_clock(left)}"])
        elif view["status"] == "RUNNING" and step["state"] == "queued":
            names = ", ".join(step["locks"].get(step["method"], ()))
            rows.append([execution_name(key), f"queued for lock {names}"])
        elif view["status"] == "RUNNING" and step["state"] == "waiting" and step["wait"]:
            rows.append([execution_name(key), wait_text(step, view)])
    return rows[-MOST_ROWS:]


def _newest(view: View, name: str) -> list[tuple[str, Any]]:
    return sorted(list(view[name].items())[-MOST_ROWS:])


def _channel(name: str, channel: View) -> list[str]:
    counts = f"{channel['pending']} pending of {channel['published']} published"
    return [unquote(name), counts, to_text(channel["newest"])]


def _holder(view: View, holder: str) -> str:
    return execution_name(holder) if holder in view["steps"] else "an RPC"


def _subflows(view: View, children: Views) -> list[list[str]]:
    found = list(subflows_of(view, children))
    rows = [_subflow(each) for each in found[-MOST_ROWS:]]
    more = sum(map(_untold, view["steps"].values())) + len(found) - len(rows)
    return [*rows, [f"and {more} more"]] if more else rows


def _subflow(child: SubFlow) -> list[str]:
    name = "> " * (child.depth - 1) + child.flow_id
    call = f'dexnb.lab({child.flow_type or "TheFlow"}, "{child.flow_id}", runtime=runtime)'
    return [name, child.status.lower(), child.result or _now(child), child.parent, call]


def _now(child: SubFlow) -> str:
    """Say what a SubFlow that runs does now."""
    held = [] if child.view is None else _held(child.view)
    return ", ".join(f"{key}: {words}" for key, words in held[:MOST_CONDITIONS])


def _untold(step: View) -> int:
    """Count the SubFlows of a wait of which nothing is kept."""
    known = len(step["subflows"])
    return count_of(step) - known if known else 0
