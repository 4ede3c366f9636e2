"""Tests that speak of success without a state: `exit_code == 0`, `progress >= 100`."""

from __future__ import annotations

import ast

from dexnb.lint.facts.states import Atom
from dexnb.lint.facts.words import FAILURE, SUCCESS, words, words_in

_CODES = words("exit exitcode rc returncode")
_SHARES = words("completion percent percentage pct progress")
_WHOLE = (1, 100)


def seems_success(atom: Atom) -> bool:
    """Tell a test that success alone seems to pass, as far as names and numbers say."""
    match atom.node:
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=value)]):
            return _is_of_success(words_in(left), op, value, passed=atom.among)
        case ast.Call(func=ast.Attribute(attr="startswith"), args=[ast.Constant(value=str(text))]):
            return atom.among and _begins_success(text)
        case _:
            return False


def _is_of_success(names: frozenset[str], op: ast.cmpop, value: object, *, passed: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    equal = isinstance(op, ast.Eq if passed else ast.NotEq)
    if names & _CODES:
        return equal and value == 0
    reaches = isinstance(op, ast.GtE if passed else ast.Lt)
    return bool(names & _SHARES) and (equal or reaches) and value in _WHOLE


def _begins_success(text: str) -> bool:
    start = text.lower()
    good = any(word.startswith(start) for word in SUCCESS)
    return bool(start) and good and not any(word.startswith(start) for word in FAILURE)
