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
from dexnb.flow.declared import type_problem
from dexnb.flow.output import StepOutput
from dexnb.flow.shape import is_any, name_of
from dexnb.flow.step import Step
from dexnb.model.shown import shown

Mode = Literal["async", "sync", "generator"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_MISSING = object()


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
    if not callable(method):
        return Handler("sync", Any), [Problem(where, shown(method), "write a method")]
    mode, problems = _mode(method, where)
    names = _parameters(method)
    if names is None:
        form = f"execute{inspect.signature(method)}"
        problems.append(Problem(where, form, "take (self, context, input), nothing else"))
        return Handler(mode, Any), problems
    try:
        hints = typing.get_type_hints(method, localns=_local_names(method))
    except Exception as error:  # noqa: BLE001 - an annotation in quotes may be any expression
        problems.append(_unresolved(error, where))
        return Handler(mode, Any), problems
    context, value = (hints.get(name, _MISSING) for name in names)
    if not problems:
        problems += _check_return(hints.get("return", _MISSING), mode, f"{where} return")
    problems += _check_context(context, mode, f"{where} {names[0]}")
    problems += _check_input(value, method, f"{where} {names[1]}")
    return Handler(mode, Any if value is _MISSING else value), problems


def _mode(method: Callable[..., Any], where: str) -> tuple[Mode, list[Problem]]:
    if inspect.isasyncgenfunction(method):
        fix = "use async def without yield: await context.heartbeat(...) and Stream.write(...)"
        return "async", [Problem(where, "an async generator", fix)]
    if inspect.iscoroutinefunction(method):
        return "async", []
    if inspect.iscoroutinefunction(inspect.unwrap(method)):
        fix = "make the decorator's wrapper async def too, and await the method in it"
        return "async", [Problem(where, "an async def behind a decorator that is not", fix)]
    return ("generator" if inspect.isgeneratorfunction(method) else "sync"), []


def _parameters(method: Callable[..., Any]) -> tuple[str, str] | None:
    """Give the names of the two parameters, or None if the method cannot be called with two."""
    parameters = list(inspect.signature(method).parameters.values())
    names = tuple(each.name for each in parameters if each.kind in _POSITIONAL)
    match names:
        case (context, value) if len(parameters) == len(names):
            return context, value
    return None


def _local_names(method: Callable[..., Any]) -> dict[str, Any]:
    """Give what annotations in quotes may name beside globals, in a class made in a function.

    Python forgets the names of that function, but for those that the method's body uses and the
    class in `Step[...]`.
    """
    function: Any = inspect.unwrap(method)
    function = getattr(function, "__func__", function)
    names: dict[str, Any] = {}
    for base in _step_arguments(method):
        if isinstance(base, type):
            names[base.__name__] = base
    code = getattr(function, "__code__", None)
    cells = getattr(function, "__closure__", None) or ()
    for name, cell in zip(code.co_freevars if code else (), cells, strict=False):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return names


def _step_arguments(method: Callable[..., Any]) -> tuple[Any, ...]:
    """Give the `X` of `class S(Step[X])`, in a tuple."""
    class_ = type(getattr(method, "__self__", None))
    for each in class_.__mro__:
        for base in vars(each).get("__orig_bases__", ()):
            if typing.get_origin(base) is Step:
                return typing.get_args(base)
    return ()


def _unresolved(error: Exception, where: str) -> Problem:
    if isinstance(error, NameError):
        fix = (
            f"define or import {error.name} before the Flow is registered, at the top level of the "
            "module or of a cell, and not under `if TYPE_CHECKING`"
        )
        return Problem(f"{where} annotations", f"using {error.name}, which is not defined", fix)
    return Problem(f"{where} annotations", f"not readable ({error})", "write them as types")


def _check_context(annotation: Any, mode: Mode, where: str) -> list[Problem]:
    expected = AsyncContext if mode == "async" else Context
    if annotation is expected:
        return []
    fix = f"annotate it as {expected.__name__} in a Step of the form {_FORMS[mode]}"
    return [Problem(where, _shown(annotation), fix)]


def _check_return(annotation: Any, mode: Mode, where: str) -> list[Problem]:
    if mode != "generator":
        if annotation is StepDecision:
            return []
        return [Problem(where, _shown(annotation), "annotate it as StepDecision")]
    arguments = typing.get_args(annotation)
    yields = (*arguments[:1], *arguments[-1:]) == (StepOutput, StepDecision)
    if yields and typing.get_origin(annotation) is Generator:
        return []
    fix = "annotate it as Generator[StepOutput, None, StepDecision]"
    return [Problem(where, _shown(annotation), fix)]


def _check_input(annotation: Any, method: Callable[..., Any], where: str) -> list[Problem]:
    if annotation is _MISSING:
        return [Problem(where, "not annotated", "annotate the input's type, None for no input")]
    problem = type_problem(annotation)
    if problem:
        return [Problem(where, _shown(annotation), problem)]
    arguments = _step_arguments(method) or (annotation,)
    both = {*arguments, annotation}
    if len(both) > 1 and all(isinstance(each, type) and not is_any(each) for each in both):
        said = f"Step[{name_of(arguments[0])}]"
        fix = f"annotate it as {said} says, or make it Step[{name_of(annotation)}]"
        return [Problem(where, f"{name_of(annotation)} in a {said}", fix)]
    return []


def _shown(annotation: Any) -> str:
    return "not annotated" if annotation is _MISSING else f"annotated as {name_of(annotation)}"


_FORMS: dict[Mode, str] = {
    "async": "async def",
    "sync": "def",
    "generator": "def with yield",
}
