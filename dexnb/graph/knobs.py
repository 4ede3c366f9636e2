"""The knobs of a Flow: its constants and options, with the ranges that the window rule leaves."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from dexnb.errors import DefinitionError
from dexnb.graph.knob_range import Range, knob_range
from dexnb.graph.knob_values import OPTIONS, KnobValues, is_number
from dexnb.model.budget import MARGIN, Budget, seconds_text, worst_case
from dexnb.model.flow_graph import FlowGraph, Node
from dexnb.model.knob import Knob
from dexnb.model.settings import MINIMUM_HEARTBEAT_TIMEOUT, RetrySettings
from dexnb.model.shown import shown

LONGEST = 36500 * 86400.0
"""A hundred years: what an option is cut to as well."""

_ORDER = ("sleep", "call_timeout", "heartbeat_timeout", "execute_method_timeout", "total_duration")
_SHOWN_OPTIONS = ("heartbeat_timeout", "execute_method_timeout", "total_duration")


def find_knobs(
    graph: FlowGraph,
    overrides: Mapping[str, Any] | None = None,
    *,
    margin: float = MARGIN,
    minimum_heartbeat: float = MINIMUM_HEARTBEAT_TIMEOUT,
) -> list[Knob]:
    """Give a Flow's knobs as a run with these overrides has them.

    Args:
        graph: Read from the Flow.
        overrides: The run's, by knob name; what does not fit is left out of account.
        margin: Seconds that a round leaves free before the heartbeat deadline.
        minimum_heartbeat: Smallest heartbeat_timeout that the runtime takes.
    """
    values = KnobValues(graph, overrides or {}, margin)
    knobs = [
        _knob(values, name, knob_range(values, name, minimum_heartbeat)) for name in values.names
    ]
    return sorted(knobs, key=lambda knob: _place(values, knob.name))


def find_budgets(
    graph: FlowGraph, overrides: Mapping[str, Any] | None = None, *, margin: float = MARGIN
) -> list[Budget]:
    """Give what each Step's settings allow in all, as a run with these overrides has them."""
    values = KnobValues(graph, overrides or {}, margin)
    return [
        Budget(
            step_type=node.name,
            interval=values.amount(node, "sleep"),
            call_timeout=values.amount(node, "call_timeout"),
            heartbeat_timeout=values.option(node, "heartbeat_timeout"),
            margin=margin,
            execute_method_timeout=values.option(node, "execute_method_timeout"),
            total_duration=values.option(node, "total_duration"),
            maximum_attempts=int(values.option(node, "maximum_attempts")),
        )
        for node in values.steps
    ]


def check_knob(
    graph: FlowGraph,
    overrides: Mapping[str, Any],
    name: str,
    value: Any,
    *,
    margin: float = MARGIN,
    minimum_heartbeat: float = MINIMUM_HEARTBEAT_TIMEOUT,
    window: bool = True,
) -> float:
    """Give a knob's new value as a number, or refuse it.

    Args:
        graph: Read from the Flow.
        overrides: The run's other values.
        name: A constant's name, `StepType.CONSTANT` or `StepType.option`.
        value: A duration, seconds, or a whole number for counts.
        margin: Seconds that a round leaves free before the heartbeat deadline.
        minimum_heartbeat: Smallest heartbeat_timeout that the runtime takes.
        window: Whether the window rule must hold afterwards.

    Raises:
        DefinitionError: There is no such knob, or the value cannot hold; names both and the range.
    """
    before = KnobValues(graph, overrides, margin)
    if not before.knows(name):
        raise DefinitionError(f"{graph.name} has no knob {shown(name)}; {_known(before)}")
    number = _number(name, value, count=before.is_count(name))
    after = KnobValues(graph, {**overrides, name: number}, margin)
    least = knob_range(before, name, minimum_heartbeat).minimum if window else minimum_heartbeat
    problem = _too_small(after, name, minimum_heartbeat, least) or (window and after.problem(name))
    if problem:
        message = f"{name} is {number:g}: {problem}"
        raise DefinitionError(message)
    return number


def _known(values: KnobValues) -> str:
    known = f"its knobs: {', '.join(values.names) or 'none'}"
    if not values.steps:
        return known
    step, (first, *others) = values.steps[0].name, OPTIONS
    return f"{known}; and of each Step these, as {step}.{first}: {', '.join((first, *others))}"


def _too_small(values: KnobValues, name: str, minimum_heartbeat: float, least: float) -> str:
    """Say that a value would shorten a heartbeat_timeout too much; `least` is the knob's own."""
    for node in values.touched(name):
        heartbeat = values.option(node, "heartbeat_timeout")
        if heartbeat < minimum_heartbeat and values.moves(node, "heartbeat_timeout", name):
            option = f"{node.name}.heartbeat_timeout"
            would = "" if name == option else f"{option} would be {seconds_text(heartbeat)}; "
            rises = values.slope(node, "heartbeat_timeout", name) > 0
            return f"{would}give at least {least if rises else minimum_heartbeat:g} s"
    return ""


def _number(name: str, value: Any, *, count: bool) -> float:
    if isinstance(value, timedelta) and not count:
        value = value.total_seconds()
    if not is_number(value):
        message = f"{name} is {value!r}: give a finite number of {'tries' if count else 'seconds'}"
        raise DefinitionError(message)
    if count and (value < 0 or value != int(value)):
        message = f"{name} is {value!r}: give a whole number of at least 1, or 0 for no limit"
        raise DefinitionError(message)
    if not count and not 0 < value <= LONGEST:
        message = f"{name} is {value!r}: give more than 0 and at most {LONGEST:g} s"
        raise DefinitionError(message)
    return int(value) if count else float(value)


def _knob(values: KnobValues, name: str, allowed: Range) -> Knob:
    value = values.value(name)
    count = values.is_count(name)
    span = allowed.maximum - allowed.minimum
    problem = values.problem(name)
    return Knob(
        name=name,
        label=name,
        unit="count" if count else "s",
        value=value,
        default=values.default(name),
        minimum=allowed.minimum,
        maximum=allowed.maximum,
        step=1 if count else _fineness(span),
        note=allowed.note or _note(values, name),
        legal=not problem,
        error=problem,
    )


def _fineness(span: float) -> float:
    """Give a step of which a few hundred make up the range."""
    return next((step for least, step in ((100, 1), (1, 0.1)) if span > least), 0.01)


def _note(values: KnobValues, name: str) -> str:
    feeds = values.feeds(name)
    for node in values.touched(name):
        if "total_duration" in feeds or "execute_method_timeout" in feeds:
            longest = worst_case(
                values.option(node, "total_duration"), values.option(node, "execute_method_timeout")
            )
            return f"worst case {seconds_text(longest)}"
        if "maximum_attempts" in feeds and node.settings is not None:
            return _backoff(node, int(values.option(node, "maximum_attempts")))
    return ""


def _backoff(node: Node, attempts: int) -> str:
    """Write the delays between attempts: `1 s, 2 s backoff`."""
    settings = node.settings or {}
    retry = RetrySettings(**settings["retry"])
    count = min(attempts - 1, 3) if attempts else 3
    delays = [seconds_text(retry.delay_after(number)) for number in range(1, count + 1)]
    more = " …" if not attempts or attempts - 1 > count else ""
    return f"{', '.join(delays)}{more} backoff" if delays else "no retry"


def _place(values: KnobValues, name: str) -> tuple[int, str]:
    feeds = values.feeds(name)
    found = [place for place, feed in enumerate(_ORDER) if feed in feeds]
    return (min(found, default=len(_ORDER)), name)


__all__ = ["LONGEST", "OPTIONS", "check_knob", "find_budgets", "find_knobs"]
