"""The conditions under which a line of a function is reached, as text."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from dexnb.graph.redact import code_text

LONGEST_CONDITION = 240
EXCEPTION = "exception"
OTHERWISE = "otherwise"


@dataclass(frozen=True, slots=True)
class Guard:
    """One test on the way, and whether it was passed or failed."""

    text: str
    passed: bool = True
    loose: bool = False

    @property
    def failed(self) -> Guard:
        """The same test, failed."""
        return replace(self, passed=not self.passed)


Guards = tuple[Guard, ...]
IN_HANDLER = Guard(EXCEPTION)


def guard_of(test: ast.expr) -> Guard:
    """Make the guard of a test; `not x` is x, failed."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return guard_of(test.operand).failed
    loose = isinstance(test, ast.BoolOp | ast.IfExp | ast.NamedExpr | ast.Lambda)
    return Guard(code_text(test), loose=loose)


def case_guard(subject: ast.expr, case: ast.match_case) -> Guard | None:
    """Make the guard of one case of a match; None for one that takes all."""
    text = _pattern(code_text(subject), case.pattern)
    if case.guard is not None:
        own = code_text(case.guard)
        text = f"{text} and {own}" if text else own
        return Guard(text, loose=True)
    return Guard(text) if text else None


def _pattern(subject: str, pattern: ast.pattern) -> str:
    match pattern:
        case ast.MatchAs(pattern=None):
            return ""
        case ast.MatchAs(pattern=inner) if inner is not None:
            return _pattern(subject, inner)
        case ast.MatchValue(value=value):
            return f"{subject} == {code_text(value, about=subject)}"
        case ast.MatchSingleton(value=single):
            return f"{subject} is {single}"
        case ast.MatchOr(patterns=options) if all(isinstance(o, ast.MatchValue) for o in options):
            values = [o.value for o in options if isinstance(o, ast.MatchValue)]
            return f"{subject} in ({', '.join(code_text(o, about=subject) for o in values)})"
        case _:
            return f"{subject} matches {code_text(pattern, LONGEST_CONDITION, about=subject)}"


def condition_text(guards: Guards) -> str:
    """Write what leads to a place: `not (a) and b`, `otherwise`, `exception`; empty for always."""
    unique = tuple(dict.fromkeys(guards))
    if unique and not any(guard.passed for guard in unique):
        return OTHERWISE
    text = " and ".join(_one(guard, alone=len(unique) == 1) for guard in unique)
    return _bounded(text)


def either(conditions: list[str]) -> str:
    """Write that one of several conditions leads there; empty when one of them always holds."""
    unique = list(dict.fromkeys(conditions))
    return "" if "" in unique else _bounded(" or ".join(unique))


def _one(guard: Guard, *, alone: bool) -> str:
    if not guard.passed:
        return f"not ({guard.text})"
    return f"({guard.text})" if guard.loose and not alone else guard.text


def _bounded(text: str) -> str:
    return text if len(text) <= LONGEST_CONDITION else f"{text[: LONGEST_CONDITION - 1]}…"
