"""What a Step's options say, and where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, fields

from dexnb.flow.options import RetryPolicy, StepOptions
from dexnb.graph.alternatives import Alternatives
from dexnb.graph.frames import Frame, argument
from dexnb.lint.facts.step import StepSubject

_NAMES = {kind: tuple(each.name for each in fields(kind)) for kind in (StepOptions, RetryPolicy)}
_WHOLE = "get_step_options"


@dataclass(frozen=True, slots=True, eq=False)
class OptionSpot:
    """An argument of `StepOptions(...)` or `RetryPolicy(...)`.

    Args:
        name: The option's.
        value: What it is given.
        call: What it is given to.
        frame: The function that both are of.
    """

    name: str
    value: ast.expr
    call: ast.Call
    frame: Frame


def options_in(calls: Iterator[tuple[ast.Call, Frame]]) -> Iterator[OptionSpot]:
    """Give the options among calls, those that are given None left out."""
    for call, frame in calls:
        callee = frame.scope.look(call.func)
        kind = next((each for each in _NAMES if callee is each), None)
        for position, name in enumerate(_NAMES[kind] if kind else ()):
            value = argument(call, position, name)
            if value is not None and not _is_none(value):
                yield OptionSpot(name, value, call, frame)


def place_of_options(step: StepSubject, *names: str) -> tuple[ast.AST, Frame] | None:
    """Give where a Step sets one of these options, the first named first.

    Where it sets none of them that is the call of `StepOptions(...)`, or else the method.
    """
    found = {each.name: each for each in reversed(list(options_in(step.option_calls())))}
    for name in names:
        if name in found:
            return found[name].value, found[name].frame
    for call, frame in step.option_calls():
        if frame.scope.look(call.func) is StepOptions:
            return call, frame
    method = step.options or (None if step.execute is None else step.execute.frame)
    return None if method is None else (method.tree, method)


def place_in_policy(step: StepSubject, policy: str, name: str) -> tuple[ast.AST, Frame] | None:
    """Give where a Step sets an option of one of its retry policies.

    Where the policy comes from elsewhere that is where the Step is given it.
    """
    for given in options_in(step.option_calls()):
        if given.name == policy:
            leaves = list(Alternatives().of(given.value, given.frame))
            made = [
                (leaf.expression, leaf.frame)
                for leaf in leaves
                if isinstance(leaf.expression, ast.Call)
            ]
            own = [each for each in options_in(iter(made)) if each.name == name]
            return (own[0].value, own[0].frame) if own else (given.value, given.frame)
    return place_of_options(step, name)


def is_hidden(step: StepSubject, *names: str) -> bool:
    """Tell whether the source hides an option of a Step, or what its options are at all."""
    own = {step.step.step_type, type(step.step.step).__name__}
    return any(
        problem.kind == "cannot-tell" and problem.step in own and problem.field in (*names, _WHOLE)
        for problem in step.of.problems
    )


def _is_none(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Constant) and expression.value is None
