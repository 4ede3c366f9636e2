"""How far a knob may be turned: the window rule of every Step that it has to do with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dexnb.graph.knob_values import KnobValues
from dexnb.model.budget import GRAIN, Window
from dexnb.model.flow_graph import Node

SMALLEST = 0.1
"""Seconds that a slider begins at; code may ask for less."""

_FLOORS = {
    "sleep": SMALLEST,
    "call_timeout": SMALLEST,
    "execute_method_timeout": 1.0,
    "total_duration": 1.0,
    "initial_interval": SMALLEST,
    "maximum_interval": SMALLEST,
    "maximum_attempts": 0.0,
    "backoff_coefficient": 1.0,
}
_GRID = 1000.0


@dataclass(frozen=True, slots=True)
class Range:
    """Smallest and largest value on offer, and why; equal where there is no choice."""

    minimum: float
    maximum: float
    note: str = ""


def knob_range(values: KnobValues, name: str, minimum_heartbeat: float) -> Range:
    """Give how far a knob may be turned while all others stay."""
    default = values.default(name)
    found = Range(0.0, _ceiling(values, name, default))
    for node in values.touched(name):
        for feed in values.feeds(name):
            floor = minimum_heartbeat if feed == "heartbeat_timeout" else _FLOORS.get(feed, 0.0)
            found = _at_least(values, node, feed, name, floor, found)
        found = _within_window(values, node, name, found)
    return _on_grid(found, values.value(name))


def _ceiling(values: KnobValues, name: str, default: float) -> float:
    if values.is_count(name):
        return max(10.0, 2 * default)
    return max(10 * default, 1.0)


def _at_least(
    values: KnobValues, node: Node, feed: str, name: str, floor: float, found: Range
) -> Range:
    """Keep a duration of a Step at or above its floor; less is legal where the code has less."""
    slope = values.slope(node, feed, name)
    if slope <= 0:
        return found
    is_option = name == f"{node.name}.{feed}"
    amount = values.value(name) if is_option else values.amount(node, feed)
    if amount is None:
        return found
    now = values.value(name)
    lowest = now + (floor - amount) / slope
    if feed != "heartbeat_timeout":
        lowest = min(lowest, now, values.default(name))
    return replace(found, minimum=max(found.minimum, lowest))


def _within_window(values: KnobValues, node: Node, name: str, found: Range) -> Range:
    rule = values.window(node)
    if rule is None:
        return found
    by = {feed: values.slope(node, feed, name) for feed in ("sleep", "call_timeout")}
    by["heartbeat_timeout"] = values.slope(node, "heartbeat_timeout", name)
    slope = by["heartbeat_timeout"] - by["sleep"] - by["call_timeout"]
    if abs(slope) < GRAIN:
        return found
    limit = values.value(name) - rule.slack / slope
    if slope < 0 and (limit < found.maximum or not found.note):
        return replace(found, maximum=limit, note=_at_most(rule, by, limit))
    if slope > 0 and limit > found.minimum:
        parts = f"{rule.interval:g} + {rule.call_timeout:g} + {rule.margin:g}"
        maximum = max(found.maximum, 2 * limit)
        return Range(limit, maximum, f"at least {limit:g} s = {parts}")
    if slope > 0:
        room = f"{rule.interval:g} + {rule.call_timeout:g} <= "
        room += f"{rule.heartbeat_timeout:g} - {rule.margin:g}"
        return replace(found, note=f"{room}, slack {rule.slack:g} s")
    return found


def _at_most(rule: Window, by: dict[str, float], limit: float) -> str:
    simple = sorted(by.values()) == [0.0, 0.0, 1.0]
    if limit <= 0:
        return ""
    if not simple:
        return f"at most {limit:g}"
    other = rule.call_timeout if by["sleep"] else rule.interval
    return f"at most {limit:g} s = {rule.heartbeat_timeout:g} - {rule.margin:g} - {other:g}"


def _on_grid(found: Range, value: float) -> Range:
    """Round inwards; where nothing is legal, offer only what is there."""
    minimum = math.ceil(found.minimum * _GRID - GRAIN * _GRID) / _GRID
    maximum = math.floor(found.maximum * _GRID + GRAIN * _GRID) / _GRID
    if maximum < minimum:
        return Range(value, value, found.note)
    return Range(minimum, maximum, found.note)
