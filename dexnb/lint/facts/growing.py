"""Works expressions out with the values that a loop's variables have in one round."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from dexnb.graph.frames import Frame
from dexnb.lint.facts.bindings import bindings_of, dotted
from dexnb.lint.facts.limits import Limits

DEEPEST = 12
"""Names and helpers that an expression is followed through."""

MOST_WORK = 50_000
"""Expressions after which nothing more is told: no code may stall the linter."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number of seconds.

    Args:
        number: It; None where the code does not tell.
        exact: False where it is only known not to be more.
    """

    number: float | None = None
    exact: bool = True


UNTOLD = Value()
_UNITS = {
    each: timedelta(**{each: 1}).total_seconds()
    for each in ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")
}
_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
    ast.Pow: lambda left, right: float(left**right),
    ast.LShift: lambda left, right: left * 2.0**right,
}


class Growing:
    """Evaluates expressions of a poll's function and of its helpers.

    Chance is taken at its longest.

    Args:
        home: The function that the poll is of.
        limits: Reads what does not change from round to round.
    """

    def __init__(self, home: Frame, limits: Limits) -> None:
        """Take the variables of this function."""
        self._home = home
        self._limits = limits
        self._work = 0

    def of(
        self, expression: ast.expr, frame: Frame, now: Mapping[str, Value], depth: int = 0
    ) -> Value:
        """Evaluate an expression.

        Args:
            expression: It.
            frame: The function that it is of.
            now: What the variables of the poll hold.
            depth: How many names and helpers lie between.
        """
        self._work += 1
        if depth > DEEPEST or self._work > MOST_WORK:
            return UNTOLD
        match expression:
            case ast.BinOp(left=left, op=op, right=right):
                sides = (self.of(each, frame, now, depth + 1) for each in (left, right))
                return _combined(type(op), *sides)
            case ast.Await(value=inner) | ast.NamedExpr(value=inner):
                return self.of(inner, frame, now, depth + 1)
            case ast.IfExp(body=body, orelse=orelse):
                return _any_of([self.of(each, frame, now, depth + 1) for each in (body, orelse)])
            case ast.Name() | ast.Attribute() if name := dotted(expression):
                return self._name(expression, name, frame, now, depth)
            case ast.Call():
                return self._call(expression, frame, now, depth)
            case _:
                return Value(self._limits.seconds(expression, frame))

    def _name(
        self, expression: ast.expr, name: str, frame: Frame, now: Mapping[str, Value], depth: int
    ) -> Value:
        if name in now and (frame is self._home or name.startswith("self.")):
            return now[name]
        if name in frame.arguments:
            given, caller = frame.arguments[name][:2]
            return self.of(given, caller, now, depth + 1)
        bound = [each.value for each in bindings_of(frame).of(name) if not each.effect]
        if bound and not name.startswith("self."):
            return _any_of([self.of(each, frame, now, depth + 1) for each in bound])
        return Value(self._limits.seconds(expression, frame))

    def _call(self, call: ast.Call, frame: Frame, now: Mapping[str, Value], depth: int) -> Value:
        def given(expressions: list[ast.expr]) -> list[Value]:
            return [self.of(each, frame, now, depth + 1) for each in expressions]

        match call.func:
            case ast.Attribute(value=base, attr="total_seconds"):
                return self.of(base, frame, now, depth + 1)
            case ast.Attribute(attr=name) | ast.Name(id=name):
                pass
            case _:
                return UNTOLD
        if call.args and name in _PICKS:
            return _PICKS[name](given(call.args))
        if name == "random" and not call.args:
            return Value(1.0)
        if name == "timedelta":
            return self._timedelta(call, frame, now, depth)
        helper = frame.follow(call)
        if helper is not None and helper.paths.returns:
            found = [each.expression for each in helper.paths.returns]
            return _any_of([self.of(each, helper, now, depth + 1) for each in found])
        return Value(self._limits.seconds(call, frame))

    def _timedelta(
        self, call: ast.Call, frame: Frame, now: Mapping[str, Value], depth: int
    ) -> Value:
        total = Value(0.0)
        pairs = list(zip(("days", "seconds"), call.args, strict=False))
        pairs += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
        for unit, argument in pairs:
            each = _combined(
                ast.Mult, self.of(argument, frame, now, depth + 1), Value(_UNITS.get(unit))
            )
            total = _combined(ast.Add, total, each)
        return total


def _combined(operator: type[ast.operator], left: Value, right: Value) -> Value:
    operation = _OPERATIONS.get(operator)
    if operation is None or left.number is None or right.number is None:
        return UNTOLD
    falls = operator in (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod) and not right.exact
    try:
        number = operation(left.number, right.number)
    except (ArithmeticError, ValueError, TypeError):
        return UNTOLD
    return UNTOLD if falls else Value(number, left.exact and right.exact)


def _any_of(values: list[Value]) -> Value:
    return values[0] if len(values) == 1 else Value(_most(values).number, exact=False)


def _least(values: list[Value]) -> Value:
    known = [each for each in values if each.number is not None]
    if not known:
        return UNTOLD
    number = min(each.number or 0.0 for each in known)
    return Value(number, all(each.exact for each in values) and len(known) == len(values))


def _most(values: list[Value]) -> Value:
    if any(each.number is None for each in values):
        return UNTOLD
    return Value(max(each.number or 0.0 for each in values), all(each.exact for each in values))


def _power(values: list[Value]) -> Value:
    return _combined(ast.Pow, values[0], values[1]) if len(values) > 1 else UNTOLD


def _upper(values: list[Value]) -> Value:
    return values[1] if len(values) > 1 else UNTOLD


_PICKS: dict[str, Callable[[list[Value]], Value]] = {
    "min": _least,
    "max": _most,
    "pow": _power,
    **dict.fromkeys(("uniform", "randint", "triangular"), _upper),
    **dict.fromkeys(("abs", "ceil", "float", "floor", "int", "round"), lambda values: values[0]),
}
