"""Operators and plain functions on plain values, with bounds: no text may cost time or memory."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any, Final

MOST_BITS: Final = 1024
MOST_ITEMS: Final = 2000
MOST_CHARACTERS: Final = 20_000
_LARGEST_POWER: Final = 64

MOST_WEIGHT: Final = 50_000
DEEPEST: Final = 40
COLLECTIONS: Final = (list, tuple, dict, set, frozenset)
PLAIN: Final = (str, int, float, bool, bytes, type(None))
TIMES: Final = (timedelta, datetime, date, time)


class TooMuch(Exception):
    """A value would be larger than anything that a definition needs."""


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, two: one in two,
    ast.NotIn: lambda one, two: one not in two,
}
_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}


def combined(left: Any, sign: ast.operator, right: Any) -> Any:
    """Give the result of an operator on plain values.

    Raises:
        TooMuch: It would be too large.
        TypeError: The values are not plain, or do not go together.
        ArithmeticError: As Python raises it.
    """
    _check(left)
    _check(right)
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if isinstance(sign, ast.Pow | ast.LShift | ast.RShift):
        if not numbers or abs(right) > _LARGEST_POWER:
            raise TooMuch
    elif isinstance(sign, ast.Mult) and not numbers:
        _check_repetition(left, right)
    elif isinstance(sign, ast.Mod) and not (numbers or isinstance(left, timedelta)):
        raise TypeError("text is not formatted here")
    return bounded(_OPERATORS[type(sign)](left, right))


def compared(left: Any, sign: ast.cmpop, right: Any) -> bool:
    """Give the result of a comparison of plain values.

    Raises:
        TypeError: The values are not plain, or cannot be compared.
    """
    if isinstance(sign, ast.Is | ast.IsNot):
        return (left is right) is isinstance(sign, ast.Is)
    _check(left)
    _check(right)
    return bool(_COMPARISONS[type(sign)](left, right))


def unary(sign: ast.unaryop, value: Any) -> Any:
    """Give the result of a sign before a plain value.

    Raises:
        TypeError: The value is not plain, or has no such.
    """
    _check(value)
    return bounded(_UNARY[type(sign)](value))


def bounded(value: Any) -> Any:
    """Give a value that is not too large.

    Raises:
        TooMuch: It is.
    """
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise TooMuch
    if isinstance(value, str | bytes) and len(value) > MOST_CHARACTERS:
        raise TooMuch
    if type(value) in COLLECTIONS:
        weight(value)
    if isinstance(value, complex):
        raise TypeError("complex numbers are not worked out")
    return value


def weight(value: Any, depth: int = 0, seen: dict[int, int] | None = None) -> int:
    """Count what a value holds, over and over where it holds the same thing twice.

    Raises:
        TooMuch: It is more than any definition needs, or nested too deeply.
    """
    if type(value) not in COLLECTIONS:
        return len(value) + 1 if isinstance(value, str | bytes) else 1
    seen = {} if seen is None else seen
    if depth > DEEPEST or len(value) > MOST_ITEMS:
        raise TooMuch
    if id(value) not in seen:
        parts = (*value, *value.values()) if type(value) is dict else value
        seen[id(value)] = 1 + sum(weight(part, depth + 1, seen) for part in parts)
    if seen[id(value)] > MOST_WEIGHT:
        raise TooMuch
    return seen[id(value)]


def is_plain(value: Any) -> bool:
    """Tell a value of Python's own that holds nothing but such values."""
    kind = type(value)
    if kind in PLAIN or kind in TIMES:
        return True
    if kind in COLLECTIONS and kind is not dict:
        return all(map(is_plain, value))
    return kind is dict and all(map(is_plain, value)) and all(map(is_plain, value.values()))


def _check(value: Any) -> None:
    kind = type(value)
    if kind in COLLECTIONS:
        bounded(value)
        return
    if kind not in PLAIN and kind not in TIMES:
        raise TypeError("no plain value")
    bounded(value)


def _check_repetition(left: Any, right: Any) -> None:
    for many, times in ((left, right), (right, left)):
        if not isinstance(many, str | bytes | list | tuple):
            continue
        if not isinstance(times, int) or len(many) * abs(times) > MOST_ITEMS:
            raise TooMuch
