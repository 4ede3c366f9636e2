"""A Step's method has one of three forms, fully annotated; anything else is named at once."""

from __future__ import annotations

import functools
import typing
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from types import SimpleNamespace
from typing import Any, Optional

import pytest

from dexnb import AsyncContext, Context, Step, StepDecision, StepOutput, Wait, dead_end, heartbeat
from dexnb.flow.handler import TIMEOUT, read_handler
from dexnb.flow.registry import read_flow
from tests.flow.flows import flow_of, problem_of, problems_of
from tests.flow.values import Client, Job, JobPage, Page, Row


def step_with(execute: Any) -> Step[Any]:
    """Give a Step with this method, as class `S`."""
    return type("S", (Step,), {"execute": execute})()  # type: ignore[no-any-return]  # made here


async def _asynchronous(self: Any, context: AsyncContext, input: str) -> StepDecision:
    return dead_end()


def _plain(self: Any, context: Context, input: Job | None) -> StepDecision:
    return dead_end()


def _generator(
    self: Any, context: Context, input: None
) -> Generator[StepOutput, None, StepDecision]:
    yield heartbeat()
    return dead_end()


def _typing_generator(
    self: Any, context: Context, input: Any
) -> typing.Generator[StepOutput, Any, StepDecision]:
    yield heartbeat()
    return dead_end()


@pytest.mark.parametrize(
    ("execute", "mode", "input_type"),
    [
        (_asynchronous, "async", str),
        (_plain, "sync", Optional[Job]),  # noqa: UP045 - the other spelling
        (_generator, "generator", type(None)),
        (_typing_generator, "generator", Any),
    ],
)
def test_each_form_is_read(execute: Any, mode: str, input_type: Any) -> None:
    """With the input's type, from annotations in text."""
    handler, problems = read_handler(step_with(execute).execute, "F.S.execute")
    assert problems == []
    assert handler.mode == mode
    assert handler.input_type == input_type


async def _async_generator(
    self: Any, context: AsyncContext, input: str
) -> AsyncGenerator[StepOutput, None]:
    yield heartbeat()


async def _async_with_sync_context(self: Any, context: Context, input: str) -> StepDecision:
    return dead_end()


def _sync_with_async_context(self: Any, context: AsyncContext, input: str) -> StepDecision:
    return dead_end()


def _generator_with_async_context(
    self: Any, context: AsyncContext, input: str
) -> Generator[StepOutput, None, StepDecision]:
    yield heartbeat()
    return dead_end()


def _wrong_context(self: Any, context: dict[str, Any], input: str) -> StepDecision:
    return dead_end()


def _no_context(self: Any, context, input: str) -> StepDecision:  # type: ignore[no-untyped-def]  # noqa: ANN001 - the mistake
    return dead_end()


def _no_input(self: Any, context: Context, input) -> StepDecision:  # type: ignore[no-untyped-def]  # noqa: ANN001 - the mistake
    return dead_end()


def _no_return(self: Any, context: Context, input: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - the mistake
    return dead_end()


def _returns_none(self: Any, context: Context, input: str) -> None:
    return None


def _returns_maybe(self: Any, context: Context, input: str) -> StepDecision | None:
    return None


def _sync_returns_generator(
    self: Any, context: Context, input: str
) -> Generator[StepOutput, None, StepDecision]:
    raise NotImplementedError


def _generator_returns_decision(self: Any, context: Context, input: str) -> StepDecision:  # type: ignore[misc]  # the mistake
    yield heartbeat()
    return dead_end()


def _generator_returns_iterator(self: Any, context: Context, input: str) -> Iterator[StepOutput]:
    yield heartbeat()


def _generator_of_something(
    self: Any, context: Context, input: str
) -> Generator[int, None, StepDecision]:
    yield 1
    return dead_end()


def _bare_generator(self: Any, context: Context, input: str) -> typing.Generator:  # type: ignore[type-arg]  # the mistake
    yield heartbeat()


def _no_parameter(self: Any) -> StepDecision:
    return dead_end()


def _one_parameter(self: Any, context: Context) -> StepDecision:
    return dead_end()


def _three_parameters(self: Any, context: Context, input: str, extra: int = 0) -> StepDecision:
    return dead_end()


def _keyword_input(self: Any, context: Context, *, input: str) -> StepDecision:
    return dead_end()


def _starred(self: Any, context: Context, *input: str) -> StepDecision:
    return dead_end()


def _client_input(self: Any, context: Context, input: Client) -> StepDecision:
    return dead_end()


def _deep_client_input(self: Any, context: Context, input: list[Page[Client]]) -> StepDecision:
    return dead_end()


def _set_input(self: Any, context: Context, input: set[int]) -> StepDecision:
    return dead_end()


def sync_wrapper(method: Callable[..., Coroutine[Any, Any, Any]]) -> Any:
    """Decorate as one does who forgets that the method is async."""

    @functools.wraps(method)
    def wrapper(self: Any, context: Any, input: Any) -> Any:
        return method(self, context, input)

    return wrapper


CONTEXT = "F.S.execute context is annotated as"
RETURN = "F.S.execute return is"
ARITY = "take (self, context, input), nothing else"
WRONG: list[tuple[Any, str]] = [
    (_async_generator, "F.S.execute is an async generator: use async def without yield: await c"),
    (
        _async_with_sync_context,
        f"{CONTEXT} Context: annotate it as AsyncContext in a method of the",
    ),
    (
        _sync_with_async_context,
        f"{CONTEXT} AsyncContext: annotate it as Context in a method of the",
    ),
    (
        _generator_with_async_context,
        f"{CONTEXT} AsyncContext: annotate it as Context in a method of",
    ),
    (
        _wrong_context,
        f"{CONTEXT} dict[str, typing.Any]: annotate it as Context in a method of the fo",
    ),
    (
        _no_context,
        "F.S.execute context is not annotated: annotate it as Context in a method of the",
    ),
    (_no_input, "F.S.execute input is not annotated: annotate the input's type, None for no input"),
    (_no_return, f"{RETURN} not annotated: annotate it as StepDecision"),
    (_returns_none, f"{RETURN} annotated as None: annotate it as StepDecision"),
    (_returns_maybe, f"{RETURN} annotated as StepDecision | None: annotate it as StepDecision"),
    (_sync_returns_generator, f"{RETURN} annotated as collections.abc.Generator"),
    (
        _generator_returns_decision,
        f"{RETURN} annotated as StepDecision: annotate it as Generator[S",
    ),
    (_generator_returns_iterator, f"{RETURN} annotated as collections.abc.Iterator"),
    (_generator_of_something, f"{RETURN} annotated as collections.abc.Generator[int"),
    (_bare_generator, f"{RETURN} annotated as typing.Generator: annotate it as Generator[StepOutp"),
    (_no_parameter, f"F.S.execute is execute() -> 'StepDecision': {ARITY}"),
    (_one_parameter, "F.S.execute is execute(context: 'Context') -> 'StepDecision': take (self,"),
    (_three_parameters, "F.S.execute is execute(context: 'Context', input: 'str', extra: 'int' = "),
    (_keyword_input, "F.S.execute is execute(context: 'Context', *, input: 'str')"),
    (_starred, "F.S.execute is execute(context: 'Context', *input: 'str')"),
    (
        _client_input,
        "F.S.execute input is annotated as Client: Client cannot be stored: make it a ",
    ),
    (
        _deep_client_input,
        "F.S.execute input is annotated as list[tests.flow.values.Page[tests.flow",
    ),
    (
        _set_input,
        "F.S.execute input is annotated as set[int]: set cannot be stored: declare a list",
    ),
    (
        sync_wrapper(_asynchronous),
        "F.S.execute is an async def behind a decorator that is not: mak",
    ),
    (5, "F.S.execute is 5: write a method"),
]


@pytest.mark.parametrize(
    ("execute", "text"), WRONG, ids=[getattr(case[0], "__name__", "no method") for case in WRONG]
)
def test_each_wrong_form_is_named_with_its_fix(execute: Any, text: str) -> None:
    """One problem, which says where, what stands there and what to write."""
    assert problem_of(flow_of(step_with(execute))).startswith(text)


def test_all_mistakes_of_one_method_are_listed_together() -> None:
    """Nothing is found out one run at a time."""

    def execute(self, context, input):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - the mistakes
        return dead_end()

    fields = {problem.where for problem in problems_of(flow_of(step_with(execute)))}
    assert fields == {f"F.S.execute {name}" for name in ("context", "input", "return")}


async def _waits(self: Any, context: AsyncContext, input: str) -> Wait:
    return Wait.skip_immediately()


def _waits_plainly(self: Any, context: Context, input: str) -> Wait:
    return Wait.skip_immediately()


def _waits_yielding(self: Any, context: Context, input: str) -> Generator[StepOutput, None, Wait]:
    yield heartbeat()
    return Wait.skip_immediately()


@pytest.mark.parametrize(
    ("wait_for", "mode"),
    [(_waits, "async"), (_waits_plainly, "sync"), (_waits_yielding, "generator")],
)
def test_a_wait_for_has_the_forms_of_an_execute(wait_for: Any, mode: str) -> None:
    """In any mixture; a Step without one has none."""
    kind = type("S", (Step,), {"execute": _asynchronous, "wait_for": wait_for})
    step = read_flow(flow_of(kind())).steps["S"]
    assert step.wait_for is not None
    assert (step.wait_for.mode, step.wait_for.input_type, step.handler.mode) == (mode, str, "async")
    assert read_flow(flow_of(step_with(_asynchronous))).steps["S"].wait_for is None


@pytest.mark.parametrize(
    ("wait_for", "text"),
    [
        (_asynchronous, "F.S.wait_for return is annotated as StepDecision: annotate it as Wait"),
        (
            _generator,
            "F.S.wait_for return is annotated as collections.abc.Generator[dexnb.flow.out",
        ),
        (_async_generator, "F.S.wait_for is an async generator: use async def without yield"),
        (_plain, "F.S.wait_for return is annotated as StepDecision"),
        (
            _one_parameter,
            "F.S.wait_for is wait_for(context: 'Context') -> 'StepDecision': take (se",
        ),
    ],
)
def test_a_wrong_wait_for_is_named_with_its_fix(wait_for: Any, text: str) -> None:
    """By its own name; what execute takes is compared only with what holds."""
    kind = type("S", (Step,), {"execute": _asynchronous, "wait_for": wait_for})
    assert problem_of(flow_of(kind())).startswith(text)


async def _on_timeout(self: Any, context: AsyncContext) -> StepDecision:
    return dead_end()


def _on_timeout_yielding(self: Any, context: Context) -> Generator[StepOutput, None, StepDecision]:
    yield heartbeat()
    return dead_end()


@pytest.mark.parametrize(
    ("method", "mode"), [(_on_timeout, "async"), (_on_timeout_yielding, "generator")]
)
def test_a_handle_timeout_has_the_forms_of_an_execute_without_an_input(
    method: Any, mode: str
) -> None:
    """It is read like one."""
    handler, problems = read_handler(step_with(method).execute, "F.handle_timeout", TIMEOUT)
    assert problems == []
    assert (handler.mode, handler.input_type) == (mode, type(None))


@pytest.mark.parametrize(
    "type_",
    [
        *(None, Any, object, str, Job, JobPage, Row, Page[Job], list[Job], dict[str, Row]),
        *(tuple[Job, ...], Job | None, Optional[Page[int]], list, dict, tuple),  # noqa: UP045
    ],
)
def test_what_can_be_stored_may_be_an_input(type_: Any) -> None:
    """Recursive, generic and bare types among them."""

    def execute(self: Any, context: Context, input: Any) -> StepDecision:
        return dead_end()

    execute.__annotations__["input"] = type_
    handler, problems = read_handler(step_with(execute).execute, "F.S.execute")
    assert problems == []
    assert handler.input_type == (type(None) if type_ is None else type_)


def test_an_input_that_differs_from_the_class_of_the_step_is_named() -> None:
    """`go_to` is checked against the one, the stored value against the other."""

    class S(Step[int]):
        def execute(self, context: Context, input: str) -> StepDecision:
            return dead_end()

    class Open(Step[Any]):
        def execute(self, context: Context, input: str) -> StepDecision:
            return dead_end()

    assert problem_of(flow_of(S())) == (
        "F.S.execute input is str in a Step[int]: annotate it as Step[int] says, or make it "
        "Step[str]"
    )
    assert read_handler(Open().execute, "F.Open.execute")[1] == []


@pytest.mark.parametrize(
    "written", ["Order", "'Order'", "list['Order']", "'list[Order] | None'", "'shop.Order'"]
)
def test_a_method_is_read_again_when_its_annotations_mean_something_else(written: str) -> None:
    """A cell that is run again makes another class of the name that the method has in quotes."""
    names: dict[str, Any] = {"Context": Context, "StepDecision": StepDecision, "Order": int}
    shop = names["shop"] = SimpleNamespace(Order=int)
    exec(f"def execute(self, context: Context, input: {written}) -> StepDecision: ...", names)  # noqa: S102 - as a cell's
    step = step_with(names["execute"])
    readings = []
    for meaning in (int, int, str):
        names["Order"] = shop.Order = meaning
        handler, problems = read_handler(step.execute, "F.S.execute")
        assert problems == []
        readings.append(str(handler.input_type))
    assert readings[0] == readings[1] == readings[2].replace("str", "int")
    assert "str" in readings[2]
    names["Order"] = shop.Order = Client
    assert read_handler(step.execute, "F.S.execute")[1]
    del names["Order"], shop.Order
    assert read_handler(step.execute, "F.S.execute")[1]
    names["Order"] = shop.Order = int
    assert not read_handler(step.execute, "F.S.execute")[1]
    step.execute.__func__.__code__ = (lambda self: self).__code__  # type: ignore[attr-defined]  # it is bound
    assert read_handler(step.execute, "F.S.execute")[1]
