"""What the form of a user's method says: how it is run, what input it takes, what it gives."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Generator
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal
from weakref import WeakKeyDictionary

from dexnb.errors import Problem
from dexnb.flow.codecs import CODECS, NO_CODECS
from dexnb.flow.context import AsyncContext, Context
from dexnb.flow.decision import StepDecision
from dexnb.flow.declared import type_problem
from dexnb.flow.output import StepOutput
from dexnb.flow.shape import is_any, name_of
from dexnb.flow.step import Step
from dexnb.flow.wait import Wait
from dexnb.model.shown import shown

Mode = Literal["async", "sync", "generator"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
MISSING: Any = object()
"""Stands for an annotation that is not there."""


@dataclass(frozen=True, slots=True)
class Handler:
    """A Step method that can be run."""

    mode: Mode
    input_type: Any


@dataclass(frozen=True, slots=True)
class Form:
    """What a kind of method must look like.

    Args:
        parameters: What it takes beside self, as an error shows it.
        counts: How many parameters that are, at least and at most.
        result: What it returns; None where its reader asks for itself.
    """

    parameters: str
    counts: tuple[int, ...]
    result: type | None


EXECUTE = Form("(self, context, input)", (2,), StepDecision)
WAIT_FOR = Form("(self, context, input)", (2,), Wait)
TIMEOUT = Form("(self, context)", (1,), StepDecision)


@dataclass(frozen=True, slots=True)
class Signature:
    """A method's form, with what is wrong in it.

    Args:
        mode: How it is run.
        names: Its parameters, without self; empty if they do not fit.
        hints: Its annotations, resolved.
        problems: What does not fit.
    """

    mode: Mode
    names: tuple[str, ...]
    hints: dict[str, Any]
    problems: list[Problem]

    def hint(self, index: int) -> Any:
        """Give a parameter's annotation; `MISSING` without one."""
        return self.hints.get(self.names[index], MISSING)

    @property
    def result(self) -> Any:
        """The return's annotation; `MISSING` without one."""
        return self.hints.get("return", MISSING)


def read_handler(
    method: Callable[..., Any], where: str, form: Form = EXECUTE
) -> tuple[Handler, list[Problem]]:
    """Read a method's form and annotations; problems say what does not fit.

    A method that was found good is not read again while its annotations stand for the same: a
    Flow is registered with every start.

    Args:
        method: The bound method.
        where: `Flow.Step.execute`, for the problems.
        form: What it must look like.
    """
    function = getattr(method, "__func__", None)
    meaning = _meaning(method, function, form)
    known = None if meaning is None else _good.get(function)
    if known is not None and known[0] == meaning:
        return known[1], []
    handler, problems = _read_handler(method, where, form)
    if meaning is not None and not problems:
        _good[function] = meaning, handler
    return handler, problems


_good: WeakKeyDictionary[Any, tuple[list[Any], Handler]] = WeakKeyDictionary()
"""What was read of functions that have no problems, and of which meaning."""


def _meaning(method: Callable[..., Any], function: Any, form: Form) -> list[Any] | None:
    """Give all that the reading of a plain method depends on, or None if that cannot be told."""
    if type(function) is not FunctionType or hasattr(function, "__wrapped__"):
        return None
    annotations = list(function.__annotations__.values())
    written = [each for each in annotations if isinstance(each, str)]
    if len(written) < len(annotations) and any(
        _has_quotes(each) for each in annotations if not isinstance(each, str)
    ):
        return None
    arguments = _step_arguments(method)
    places = _names_around(function, arguments), function.__globals__
    named = [_look_up(name, *places) for annotation in written for name in _names_in(annotation)]
    codecs = CODECS.get(NO_CODECS)
    own = [function.__code__, function.__defaults__, annotations, arguments]
    return [form, codecs, own, named]


def _has_quotes(annotation: Any) -> bool:
    """Tell whether an annotation that is an object has names in it, as `list["Order"]` has."""
    return any(
        isinstance(each, str | typing.ForwardRef) or _has_quotes(each)
        for each in typing.get_args(annotation)
    )


@functools.lru_cache(1024)
def _names_in(annotation: str) -> tuple[tuple[str, ...], ...]:
    """Give every name of an annotation, dotted ones in parts, those in quotes too."""
    return tuple(tuple(name.split(".")) for name in _NAME.findall(annotation))


_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def _look_up(name: tuple[str, ...], *places: dict[str, Any]) -> Any:
    value = next((place[name[0]] for place in places if name[0] in place), MISSING)
    for part in name[1:]:
        value = getattr(value, part, MISSING)
    return value


def _read_handler(
    method: Callable[..., Any], where: str, form: Form
) -> tuple[Handler, list[Problem]]:
    signature = read_signature(method, where, form)
    mode, problems = signature.mode, signature.problems
    if not signature.names:
        return Handler(mode, Any), problems
    if not problems:
        problems += _check_return(signature.result, mode, form, f"{where} return")
    problems += check_context(signature, where)
    if len(signature.names) == 1:
        return Handler(mode, type(None)), problems
    value = signature.hint(1)
    problems += check_input(value, method, f"{where} {signature.names[1]}")
    return Handler(mode, Any if value is MISSING else value), problems


def read_signature(method: Callable[..., Any], where: str, form: Form) -> Signature:
    """Read a method's parameters and annotations; without names where they cannot be used."""
    if not callable(method):
        return Signature("sync", (), {}, [Problem(where, shown(method), "write a method")])
    mode, problems = _mode(method, where)
    try:
        names = _parameters(method)
    except ValueError:
        return Signature(mode, (), {}, [*problems, _without_self(method, where, form)])
    if names is None or len(names) not in form.counts:
        written = f"{where.rpartition('.')[2]}{inspect.signature(method)}"
        problems.append(Problem(where, written, f"take {form.parameters}, nothing else"))
        return Signature(mode, (), {}, problems)
    try:
        hints = typing.get_type_hints(method, localns=_local_names(method))
    except Exception as error:  # noqa: BLE001 - an annotation in quotes may be any expression
        return Signature(mode, (), {}, [*problems, _unresolved(error, where)])
    return Signature(mode, names, hints, problems)


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


def _without_self(method: Callable[..., Any], where: str, form: Form) -> Problem:
    name = where.rpartition(".")[2]
    written = f"{getattr(method, '__name__', name)}(), which takes no self"
    return Problem(where, written, f"write def {name}{form.parameters}")


def _parameters(method: Callable[..., Any]) -> tuple[str, ...] | None:
    """Give the names of the parameters, or None if some are not given by their place.

    Raises:
        ValueError: It is bound, and has no parameter for self.
    """
    parameters = list(inspect.signature(method).parameters.values())
    names = tuple(each.name for each in parameters if each.kind in _POSITIONAL)
    return names if len(parameters) == len(names) else None


def _local_names(method: Callable[..., Any]) -> dict[str, Any]:
    """Give what annotations in quotes may name beside globals, in a class made in a function.

    Python forgets the names of that function, but for those that the method's body uses and the
    class in `Step[...]`.
    """
    function: Any = inspect.unwrap(method)
    function = getattr(function, "__func__", function)
    return _names_around(function, _step_arguments(method))


def _names_around(function: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for base in arguments:
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


def check_context(signature: Signature, where: str) -> list[Problem]:
    """Check the first parameter's annotation against how the method is run."""
    annotation, mode = signature.hint(0), signature.mode
    expected = AsyncContext if mode == "async" else Context
    if annotation is expected:
        return []
    fix = f"annotate it as {expected.__name__} in a method of the form {_FORMS[mode]}"
    return [Problem(f"{where} {signature.names[0]}", annotated(annotation), fix)]


def _check_return(annotation: Any, mode: Mode, form: Form, where: str) -> list[Problem]:
    result = name_of(form.result)
    if mode != "generator":
        if annotation is form.result:
            return []
        return [Problem(where, annotated(annotation), f"annotate it as {result}")]
    arguments = typing.get_args(annotation)
    yields = (*arguments[:1], *arguments[-1:]) == (StepOutput, form.result)
    if yields and typing.get_origin(annotation) is Generator:
        return []
    fix = f"annotate it as Generator[StepOutput, None, {result}]"
    return [Problem(where, annotated(annotation), fix)]


def check_input(annotation: Any, method: Callable[..., Any], where: str) -> list[Problem]:
    """Check the input's annotation: it can be stored, and a Step's class says the same."""
    if annotation is MISSING:
        return [Problem(where, "not annotated", "annotate the input's type, None for no input")]
    problem = type_problem(annotation)
    if problem:
        return [Problem(where, annotated(annotation), problem)]
    arguments = _step_arguments(method) or (annotation,)
    both = {*arguments, annotation}
    if len(both) > 1 and all(isinstance(each, type) and not is_any(each) for each in both):
        said = f"Step[{name_of(arguments[0])}]"
        fix = f"annotate it as {said} says, or make it Step[{name_of(annotation)}]"
        return [Problem(where, f"{name_of(annotation)} in a {said}", fix)]
    return []


def annotated(annotation: Any) -> str:
    """Give an annotation as an error shows it."""
    return "not annotated" if annotation is MISSING else f"annotated as {name_of(annotation)}"


_FORMS: dict[Mode, str] = {
    "async": "async def",
    "sync": "def",
    "generator": "def with yield",
}
