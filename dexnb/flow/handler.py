"""What the form of a Step's `execute` says: how it is run and what input it takes."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Literal

from dexnb.errors import Problem
from dexnb.flow.context import AsyncContext, Context
from dexnb.flow.decision import StepDecision
from dexnb.flow.output import StepOutput

Mode = Literal["async", "sync", "generator"]


@dataclass(frozen=True, slots=True)
class Handler:
    """A Step method that can be run."""

    mode: Mode
    input_type: Any


def read_handler(method: Callable[..., Any], where: str) -> tuple[Handler, list[Problem]]:
    """Read a Step method's form and annotations; problems say what does not fit.

    Args:
        method: The bound method.
        where: `Flow.Step.execute`, for the problems.
    """
    mode, problems = _mode(method, where)
    parameters = list(inspect.signature(method).parameters.values())
    if len(parameters) != 2:
        shown = ", ".join(parameter.name for parameter in parameters)
        problems.append(Problem(where, f"execute(self, {shown})", "take (self, context, input)"))
        return Handler(mode, Any), problems
    try:
        hints = typing.get_type_hints(method)
    except (NameError, TypeError, AttributeError) as error:
        problems.append(Problem(where, "", f"an annotation cannot be resolved: {error}"))
        return Handler(mode, Any), problems
    context, value = (parameter.name for parameter in parameters)
    problems += _check_context(hints.get(context), mode, where)
    problems += _check_return(hints.get("return"), mode, where)
    if value not in hints:
        problems.append(Problem(f"{where} {value}", "", "annotate the input's type"))
    return Handler(mode, hints.get(value, Any)), problems


def _mode(method: Callable[..., Any], where: str) -> tuple[Mode, list[Problem]]:
    if inspect.isasyncgenfunction(method):
        fix = "use async def without yield: await context.heartbeat(...) and Stream.write(...)"
        return "async", [Problem(where, "an async generator", fix)]
    if inspect.iscoroutinefunction(method):
        return "async", []
    return ("generator" if inspect.isgeneratorfunction(method) else "sync"), []


def _check_context(annotation: Any, mode: Mode, where: str) -> list[Problem]:
    expected = AsyncContext if mode == "async" else Context
    if annotation is expected:
        return []
    shown = getattr(annotation, "__name__", "not annotated" if annotation is None else "wrong")
    fix = f"annotate the context as {expected.__name__} in a Step of the form {_FORMS[mode]}"
    return [Problem(f"{where} context", shown, fix)]


def _check_return(annotation: Any, mode: Mode, where: str) -> list[Problem]:
    if mode != "generator":
        if annotation is StepDecision:
            return []
        return [Problem(f"{where} return", _shown(annotation), "annotate it as StepDecision")]
    arguments = typing.get_args(annotation)
    origin = typing.get_origin(annotation)
    if origin is Generator and arguments[0] is StepOutput and arguments[-1] is StepDecision:
        return []
    fix = "annotate it as Generator[StepOutput, None, StepDecision]"
    return [Problem(f"{where} return", _shown(annotation), fix)]


def _shown(annotation: Any) -> str:
    if annotation is None:
        return "not annotated"
    return getattr(annotation, "__name__", None) or str(annotation)


_FORMS: dict[Mode, str] = {
    "async": "async def",
    "sync": "def",
    "generator": "def with yield",
}
