"""Durations and counts in a Step's code, as affine functions of the constants that make them."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from dexnb.graph.alternatives import Alternatives, Leaf
from dexnb.graph.frames import Frame


@dataclass(frozen=True, slots=True)
class Amount:
    """A number or a duration.

    Args:
        value: Seconds or the number itself; None where the code does not tell.
        parts: By how much it grows with each constant.
        seen: Every constant that has a part in it, also where the value is not known.
    """

    value: float | None
    parts: dict[str, float] = field(default_factory=dict)
    seen: frozenset[str] = frozenset()

    def scaled(self, factor: float) -> Amount:
        """Give this amount `factor` times."""
        value = None if self.value is None else self.value * factor
        return Amount(value, {name: by * factor for name, by in self.parts.items()}, self.seen)

    def __add__(self, other: Amount) -> Amount:
        """Give the sum."""
        seen = self.seen | other.seen
        if self.value is None or other.value is None:
            return Amount(None, seen=seen)
        names = dict.fromkeys((*self.parts, *other.parts))
        parts = {name: self.parts.get(name, 0.0) + other.parts.get(name, 0.0) for name in names}
        return Amount(self.value + other.value, parts, seen)


NOTHING = Amount(None)
MOST = 2000
"""Expressions that one is worked out from: variables that feed each other make them double."""
_UNITS = {
    "days": 86400.0,
    "seconds": 1.0,
    "microseconds": 1e-6,
    "milliseconds": 1e-3,
    "minutes": 60.0,
    "hours": 3600.0,
    "weeks": 604800.0,
}


class Amounts:
    """Evaluates expressions, and collects the constants that it comes upon.

    Where several values are possible the largest is taken, so that what is reported is the
    longest sleep or call.

    Args:
        written: Attributes that the Step itself changes while it runs: no constants.
    """

    def __init__(self, written: frozenset[str] = frozenset()) -> None:
        """Start with no constants."""
        self.constants: dict[str, Any] = {}
        self._written = written
        self._under_way: set[int] = set()
        self._looked_at = 0

    def of(self, expression: ast.expr, frame: Frame) -> Amount:
        """Evaluate an expression of a function; too tangled a one is not known."""
        if not self._under_way:
            self._looked_at = 0
        self._looked_at += 1
        if id(expression) in self._under_way or self._looked_at > MOST:
            return NOTHING
        self._under_way.add(id(expression))
        try:
            amount = self._evaluate(expression, frame)
        finally:
            self._under_way.discard(id(expression))
        # What was worked out of a part only may be too small.
        return amount if self._looked_at <= MOST else Amount(None, seen=amount.seen)

    def _evaluate(self, expression: ast.expr, frame: Frame) -> Amount:
        match expression:
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.of(operand, frame).scaled(-1)
            case ast.BinOp(left=left, op=op, right=right):
                return _combined(self.of(left, frame), op, self.of(right, frame))
            case ast.Call():
                return self._call(expression, frame)
            case _:
                leaves = list(Alternatives().of(expression, frame))
                if len(leaves) == 1 and leaves[0].expression is expression:
                    return self._known(leaves[0])
                return _largest([self._leaf(leaf) for leaf in leaves])

    def _leaf(self, leaf: Leaf) -> Amount:
        known = self._known(leaf)
        return known if known.value is not None else self.of(leaf.expression, leaf.frame)

    def _known(self, leaf: Leaf) -> Amount:
        value = amount_of(leaf.value)
        if value is None:
            return NOTHING
        name = leaf.frame.scope.constant_name(leaf.expression)
        if not name:
            return Amount(value)
        if isinstance(leaf.expression, ast.Attribute) and name in self._written:
            return NOTHING
        self.constants.setdefault(name, leaf.value)
        return Amount(value, {name: 1.0}, frozenset({name}))

    def _call(self, call: ast.Call, frame: Frame) -> Amount:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "total_seconds":
            return self.of(call.func.value, frame)
        callee = frame.scope.look(call.func)
        if callee is timedelta:
            return self._timedelta(call, frame)
        pick = _PICKS.get(callee) if callable(callee) else None
        if pick is not None:
            return pick([self.of(argument, frame) for argument in call.args])
        helper = frame.follow(call)
        if helper is not None:
            return _largest([self.of(each.expression, helper) for each in helper.paths.returns])
        return self._given(call, frame)

    def _given(self, call: ast.Call, frame: Frame) -> Amount:
        """Take note of the constants that go into a call whose result is not known."""
        given = [self.of(argument, frame) for argument in call.args]
        given += [self.of(keyword.value, frame) for keyword in call.keywords]
        return Amount(None, seen=_seen(given))

    def _timedelta(self, call: ast.Call, frame: Frame) -> Amount:
        total = Amount(0.0)
        pairs = list(zip(_UNITS, call.args, strict=False))
        pairs += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
        for unit, argument in pairs:
            amount = self.of(argument, frame)
            total += amount.scaled(_UNITS[unit]) if unit in _UNITS else NOTHING
        return total


def amount_of(value: Any) -> float | None:
    """Give a live number or duration in seconds; None for anything else."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if math.isfinite(value) else None
    return None


def _combined(left: Amount, op: ast.operator, right: Amount) -> Amount:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left + right.scaled(-1)
        case ast.Mult():
            return _product(left, right)
        case ast.Div() if right.value:
            return _product(left, Amount(1 / right.value, seen=right.seen))
        case ast.FloorDiv() | ast.Mod() | ast.Pow() if None not in (left.value, right.value):
            return Amount(_rounded(left.value, op, right.value), seen=left.seen | right.seen)
        case _:
            return Amount(None, seen=left.seen | right.seen)


def _rounded(left: Any, op: ast.operator, right: Any) -> float | None:
    try:
        if isinstance(op, ast.Pow):
            return float(left**right)
        return float(left // right if isinstance(op, ast.FloorDiv) else left % right)
    except (ArithmeticError, TypeError):
        return None


def _product(left: Amount, right: Amount) -> Amount:
    seen = left.seen | right.seen
    if left.value is None or right.value is None:
        return Amount(None, seen=seen)
    # The slope at the values as they are; exact where one factor has no constant in it.
    parts = left.scaled(right.value).parts
    for name, by in right.scaled(left.value).parts.items():
        parts[name] = parts.get(name, 0.0) + by
    return Amount(left.value * right.value, parts, seen)


def _largest(amounts: list[Amount]) -> Amount:
    if not amounts or any(amount.value is None for amount in amounts):
        return Amount(None, seen=_seen(amounts))
    best = max(amounts, key=lambda amount: amount.value or 0.0)
    return Amount(best.value, best.parts, _seen(amounts))


def _smallest(amounts: list[Amount]) -> Amount:
    known = [amount for amount in amounts if amount.value is not None]
    if not known:
        return Amount(None, seen=_seen(amounts))
    best = min(known, key=lambda amount: amount.value or 0.0)
    return Amount(best.value, best.parts, _seen(amounts))


def _seen(amounts: list[Amount]) -> frozenset[str]:
    return frozenset().union(*(amount.seen for amount in amounts))


_PICKS: dict[Any, Callable[[list[Amount]], Amount]] = {
    min: _smallest,
    max: _largest,
    float: _largest,
    int: _largest,
    round: lambda amounts: _largest(amounts[:1]),
    abs: _largest,
}
