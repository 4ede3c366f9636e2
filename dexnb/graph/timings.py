"""Where a Step sleeps, bounds its calls and sets its options, and which constants feed those."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from dexnb.flow.options import RetryPolicy, StepOptions
from dexnb.graph.amounts import Amount, Amounts, amount_of
from dexnb.graph.frames import Frame, reachable
from dexnb.graph.scope import UNKNOWN
from dexnb.model.flow_graph import Constant, Timing

SLEEP = "sleep"
CALL_TIMEOUT = "call_timeout"

_SLEEPS = {
    ("asyncio", "sleep"): (0, "delay"),
    ("anyio", "sleep"): (0, "delay"),
    ("time", "sleep"): (0, ""),
    ("dexnb", "sleep_blocking"): (0, "seconds"),
}
_TIMEOUTS = {
    ("asyncio", "timeout"): (0, "delay"),
    ("asyncio", "wait_for"): (1, "timeout"),
    ("anyio", "fail_after"): (0, "delay"),
    ("anyio", "move_on_after"): (0, "delay"),
}
_OPTIONS = ("execute_method_timeout", "heartbeat_timeout")
_RETRY = (
    "initial_interval",
    "backoff_coefficient",
    "maximum_interval",
    "maximum_attempts",
    "total_duration",
)


@dataclass(frozen=True, slots=True)
class StepTimings:
    """What was found in one Step."""

    timings: tuple[Timing, ...]
    constants: tuple[Constant, ...]


def read_timings(execute: Frame | None, options: Frame | None) -> StepTimings:
    """Read a Step's two methods, either of which may be without a source."""
    running = [] if execute is None else list(reachable(execute))
    amounts = Amounts(frozenset(name for frame in running for name in _written(frame)))
    found: list[tuple[str, ast.expr, Amount]] = []
    for frame in running:
        found += _in_function(frame, amounts)
    for frame in () if options is None else reachable(options):
        found += _in_options(frame, amounts)
    timings = {
        Timing(
            feeds=feeds,
            value=None if amount.value is None else round(amount.value, 9),
            parts=tuple(sorted((name, round(by, 9)) for name, by in amount.parts.items() if by)),
            line=where.lineno,
            end_line=where.end_lineno or where.lineno,
        )
        for feeds, where, amount in found
    }
    ordered = sorted(timings, key=lambda timing: (timing.line, timing.feeds, timing.parts))
    return StepTimings(tuple(ordered), _constants(amounts, found))


def _constants(amounts: Amounts, found: list[tuple[str, ast.expr, Amount]]) -> tuple[Constant, ...]:
    feeds: dict[str, set[str]] = {}
    for what, _, amount in found:
        for name in amount.seen:
            feeds.setdefault(name, set()).add(what)
    return tuple(
        Constant(
            name=name,
            value=_plain(amounts.constants[name]),
            unit="s" if isinstance(amounts.constants[name], timedelta) else "number",
            feeds=tuple(sorted(feeds[name])),
        )
        for name in sorted(feeds)
    )


def _plain(value: Any) -> float | int | None:
    return value if isinstance(value, int | float) else amount_of(value)


def _in_function(frame: Frame, amounts: Amounts) -> Iterator[tuple[str, ast.expr, Amount]]:
    for call in frame.calls():
        key = _callee(call, frame)
        for feeds, table in ((SLEEP, _SLEEPS), (CALL_TIMEOUT, _TIMEOUTS)):
            if key in table:
                argument = _argument(call, *table[key])
                if argument is not None and not _is_none(argument):
                    yield feeds, call, amounts.of(argument, frame)


def _written(frame: Frame) -> Iterator[str]:
    """Give the attributes that a function stores into anything."""
    for statement in frame.tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield node.attr


def _callee(call: ast.Call, frame: Frame) -> tuple[str, str]:
    found = frame.scope.look(call.func)
    if found is UNKNOWN:
        return "", ""
    package = str(getattr(found, "__module__", "")).partition(".")[0]
    return package, str(getattr(found, "__name__", ""))


def _in_options(frame: Frame, amounts: Amounts) -> Iterator[tuple[str, ast.expr, Amount]]:
    for call in frame.calls():
        callee = frame.scope.look(call.func)
        names = _OPTIONS if callee is StepOptions else _RETRY if callee is RetryPolicy else ()
        for name in names:
            argument = _argument(call, _position(callee, name), name)
            if argument is not None and not _is_none(argument):
                yield name, argument, amounts.of(argument, frame)


def _position(kind: Any, name: str) -> int:
    return [field.name for field in fields(kind)].index(name)


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position < len(call.args) and not isinstance(call.args[position], ast.Starred):
        return call.args[position]
    return None


def _is_none(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Constant) and expression.value is None
