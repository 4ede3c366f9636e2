"""The SubFlows of a run, and theirs, as static text and pictures show them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dexnb.model.json_text import to_text

View = dict[str, Any]
Views = Mapping[str, View]

MOST_OUTPUTS = 3
_NUMBER = re.compile(r"-([0-9]{1,6})$")


@dataclass(frozen=True, slots=True)
class SubFlow:
    """One SubFlow.

    Args:
        flow_id: Its flow id.
        told: What its parent was told of it.
        view: Of its own run; None where that is not known.
        parent: The execution that waits for it.
        depth: 1 for a child of the page's run, 2 for a child of that.
        several: Whether its parent waits for others too.
    """

    flow_id: str
    told: View
    view: View | None
    parent: str
    depth: int
    several: bool

    @property
    def name(self) -> str:
        """Its name for people: of several with its number in the wait."""
        number = _NUMBER.search(self.flow_id) if self.several else None
        name = self.flow_type or "SubFlow"
        return name if number is None else f"{name} {number[1]}"

    @property
    def flow_type(self) -> str:
        """The name of its Flow; empty where that is not known."""
        own = "" if self.view is None else self.view["flow_type"]
        return str(own or self.told["flow_type"])

    @property
    def status(self) -> str:
        """How it stands, by whoever knows more."""
        told = str(self.told["status"])
        open_ = told in ("", "RUNNING")
        return str(self.view["status"]) if self.view is not None and open_ else told

    @property
    def began_at(self) -> float:
        """When it began, in store time."""
        own = None if self.view is None else self.view["started_at"]
        return float(self.told["began_at"] if own is None else own)

    @property
    def ended_at(self) -> float | None:
        """When it ended; None while it runs."""
        own = None if self.view is None else self.view["closed_at"]
        if own is not None:
            return float(own)
        return None if self.status == "RUNNING" else float(self.told["changed_at"])

    @property
    def result(self) -> str:
        """With what it ended: its outputs, or its error."""
        own = self.view or self.told
        message = self.told["error_message"] or own["error_message"]
        kind = self.told["error_type"] or own["error_type"]
        if message or kind:
            return f"{kind}: {message}" if message and kind else kind or message
        outputs = [to_text(each) for each in self.told["outputs"]]
        more = [f"and {len(outputs) - MOST_OUTPUTS} more"] if len(outputs) > MOST_OUTPUTS else []
        return ", ".join([*outputs[:MOST_OUTPUTS], *more])


def subflows_of(view: View, views: Views, depth: int = 1) -> Iterator[SubFlow]:
    """Give the SubFlows of a run, each with its own behind it."""
    for key, step in view["steps"].items():
        for each in of_step(key, step, views, depth):
            yield each
            if each.view is not None:
                yield from subflows_of(each.view, views, depth + 1)


def of_step(key: str, step: View, views: Views, depth: int) -> list[SubFlow]:
    """Give the SubFlows that one execution waits for or has waited for, without theirs."""
    several = count_of(step) > 1
    found = [
        SubFlow(flow_id, told, _known(views.get(told["run_id"])), key, depth, several)
        for flow_id, told in step["subflows"].items()
    ]
    return sorted(found, key=lambda one: (one.told["began_at"], len(one.flow_id), one.flow_id))


def count_of(step: View) -> int:
    """Count the SubFlows that an execution has started or is to start."""
    known, wait = len(step["subflows"]), step["wait"]
    return known if wait is None else max(known, int(wait["subflow_count"]))


def latest(view: View, views: Views) -> float:
    """Give until when a run is known: while it waits, its SubFlows tell more than it does."""
    if view["closed_at"] is not None:
        return float(view["closed_at"])
    return max(float(view["time"]), *(float(each["time"]) for each in views.values()), 0.0)


def _known(view: View | None) -> View | None:
    """Of a run that could not be read nothing is known."""
    return None if view is None or view["started_at"] is None else view
