"""What a Step may raise, and what a recovery Step is told of it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

import pytest

from dexnb import (
    Context,
    RecoveryErrorInfo,
    StepDecision,
    StepOutput,
    force_complete,
    force_fail,
    go_to,
    graceful_complete,
    heartbeat,
)
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from tests.engine.flows import (
    failure_of,
    finished,
    flow,
    history,
    step,
    telemetry,
    with_runtime,
)


class Quiet(Exception):
    """An error without a text."""


class Broken(Exception):
    """An error whose text cannot be made."""

    def __str__(self) -> str:
        raise LookupError("no text")


async def ok(context: AsyncContext, input: Any) -> StepDecision:
    """Complete with the input."""
    return graceful_complete(input)


def raising(error: BaseException, form: str) -> Any:
    """Make a Step function of a form that raises."""

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        raise error

    def fails_sync(context: Context, input: Any) -> StepDecision:
        raise error

    def fails_generating(context: Context, input: Any) -> Generator[StepOutput, None, StepDecision]:
        yield heartbeat(1)
        raise error

    return {"async": fails, "sync": fails_sync, "generator": fails_generating}[form]


@pytest.mark.parametrize("form", ["async", "sync", "generator"])
@pytest.mark.parametrize(
    ("error", "name"),
    [
        (SystemExit(3), "builtins.SystemExit"),
        (KeyboardInterrupt(), "builtins.KeyboardInterrupt"),
        (asyncio.CancelledError(), "asyncio.exceptions.CancelledError"),
        (GeneratorExit(), "builtins.GeneratorExit"),
        (StopIteration(4), None),
        (StopAsyncIteration(), None),
        (BaseException("base"), "builtins.BaseException"),
        (MemoryError(), "builtins.MemoryError"),
        (RecursionError("deep"), "builtins.RecursionError"),
        (ExceptionGroup("many", [ValueError("one")]), "builtins.ExceptionGroup"),
    ],
    ids=lambda value: type(value).__name__,
)
@with_runtime
async def test_whatever_a_step_raises_is_its_failure_and_never_ends_the_engine(
    runtime: Runtime, error: BaseException, name: str | None, form: str
) -> None:
    """The attempt fails, is retried, and other Flows run on."""
    run = await runtime.start(flow(step(raising(error, form), attempts=2), name="Failing"), "flow")
    assert (await finished(run)).status == "FAILED"
    failure = failure_of(await history(run))
    assert name is None or failure["error_type"] == name
    assert len(await telemetry(run, "attempt_started")) == 2

    other = await runtime.start(flow(ok, name="Other"), "other", 5)
    assert (await finished(other)).output == 5


@pytest.mark.rule("2.4/exception")
@pytest.mark.parametrize(
    ("error", "name", "detail"),
    [
        (ValueError("boom"), "builtins.ValueError", "boom"),
        (Quiet(), f"{__name__}.Quiet", "Quiet"),
        (Broken(), f"{__name__}.Broken", "Broken whose text raised LookupError"),
        (KeyError("k"), "builtins.KeyError", "'k'"),
    ],
    ids=lambda value: str(type(value).__name__),
)
@with_runtime
async def test_an_error_is_named_by_module_and_text(
    runtime: Runtime, error: Exception, name: str, detail: str
) -> None:
    """`module.QualName` and `str(exc)`; an error without a text is named by its class."""
    run = await runtime.start(flow(step(raising(error, "async"), attempts=1)), "flow")
    await finished(run)
    failure = failure_of(await history(run))
    assert (failure["error_type"], failure["detail"]) == (name, detail)


@pytest.mark.rule("2.4/exception-limits")
@with_runtime
async def test_a_text_of_two_megabytes_is_cut(runtime: Runtime) -> None:
    """Neither history nor telemetry grows with what a server once answered."""
    error = ValueError("x" * 2_000_000)
    run = await runtime.start(flow(step(raising(error, "async"), attempts=3)), "flow")
    await finished(run)
    assert len(failure_of(await history(run))["detail"]) == 1024
    assert runtime.engine.telemetry.bytes < 50_000


@pytest.mark.rule("2.6/recovery-error", "2.4/budget-text")
@with_runtime
async def test_a_recovery_step_gets_type_detail_and_last_error(runtime: Runtime) -> None:
    """And the same input; an ordinary Step has no recovery error."""
    seen: list[Any] = []

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        seen.append(context.recovery_error)
        if context.attempt == 1:
            raise ValueError("boom")
        await asyncio.sleep(1000)
        return graceful_complete()

    def recovers(context: Context, input: Any) -> StepDecision:
        seen.append(context.recovery_error)
        seen.append(context.from_step_execution_id)
        return force_complete(input)

    recovery = step(recovers)
    made = flow(step(fails, heartbeat=10, attempts=2, recovery=recovery), recovery)
    assert (await finished(await runtime.start(made, "flow", {"job": 1}))).output == {"job": 1}
    assert seen == [
        None,
        None,
        RecoveryErrorInfo(
            "the attempt was silent for longer than its heartbeat_timeout",
            "Heartbeat",
            RecoveryErrorInfo("boom", "builtins.ValueError"),
        ),
        "Fails-1",
    ]


@with_runtime
async def test_a_recovery_step_that_fails_fails_the_flow(runtime: Runtime) -> None:
    """It has retries of its own, and no second recovery."""

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        raise ValueError("first")

    async def fails_too(context: AsyncContext, input: Any) -> StepDecision:
        raise KeyError("second")

    recovery = step(fails_too, attempts=2)
    made = flow(step(fails, attempts=1, recovery=recovery), recovery)
    run = await runtime.start(made, "flow")
    assert (await finished(run)).error_message == "'second'"
    kinds = [event.kind for event in await history(run)]
    assert kinds.count("step_failed") == 2


async def wrong_type(context: AsyncContext, input: Any) -> StepDecision:
    """Return no decision."""
    return "done"  # type: ignore[return-value]  # the mistake under test


async def unknown_step(context: AsyncContext, input: Any) -> StepDecision:
    """Go to a Step that the Flow does not have."""
    return go_to(step(ok, name="Stranger"), None)


async def step_instance(context: AsyncContext, input: Any) -> StepDecision:
    """Go to an instance instead of a class."""
    return go_to(step(ok)(), None)  # type: ignore[arg-type]  # the mistake under test


async def unstorable_output(context: AsyncContext, input: Any) -> StepDecision:
    """Complete with what cannot be stored."""
    return graceful_complete({"client": object()})


async def huge_output(context: AsyncContext, input: Any) -> StepDecision:
    """Complete with more than a value may weigh."""
    return graceful_complete("x" * 2_000_000)


async def deep_output(context: AsyncContext, input: Any) -> StepDecision:
    """Complete with lists in lists in lists."""
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    return graceful_complete(value)


async def no_reason(context: AsyncContext, input: Any) -> StepDecision:
    """Fail without a text."""
    return force_fail(None)  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.rule("2.4/invalid-result", "2.10/refuse-reason")
@pytest.mark.parametrize(
    ("mistaken", "words"),
    [
        (wrong_type, "execute must return StepDecision, got str"),
        (unknown_step, "Step class is not registered: Stranger"),
        (step_instance, "not an instance"),
        (unstorable_output, "value['client'] is a builtins.object"),
        (huge_output, "over the limit of 1,048,576"),
        (deep_output, "nested"),
        (no_reason, "force_fail reason is None: give a str"),
    ],
)
@with_runtime
async def test_a_decision_that_cannot_hold_is_not_retried(
    runtime: Runtime, mistaken: Any, words: str
) -> None:
    """The same code would give the same result: one attempt, and a text that names the fix."""
    run = await runtime.start(flow(step(mistaken, name="Wrong")), "flow")
    result = await finished(run)
    failure = failure_of(await history(run))
    assert failure["error_type"] == "dexnb.errors.InvalidStepResultError"
    assert words in failure["detail"]
    assert "Flow TestFlow Step Wrong execute" in result.error_message
    assert len(await telemetry(run, "attempt_started")) == 1


@pytest.mark.parametrize("depth", [10, 60, 62, 64, 66, 100, 300, 900])
@with_runtime
async def test_an_output_of_any_depth_ends_its_flow(runtime: Runtime, depth: int) -> None:
    """Between what can be stored and what is refused there is no depth that is swallowed."""

    async def nests(context: AsyncContext, input: Any) -> StepDecision:
        value: list[Any] = []
        for _ in range(depth):
            value = [value]
        return graceful_complete(value)

    run = await runtime.start(flow(nests), "flow")
    result = await run.wait(100)
    assert result.status == "COMPLETED" or "nested" in result.error_message


@with_runtime
async def test_an_input_that_no_longer_fits_the_step_is_not_retried(runtime: Runtime) -> None:
    """A Step that changed its input type says so at its first attempt."""

    async def first(context: AsyncContext, input: Any) -> StepDecision:
        # Registered again, with another input type, between the decision and the attempt.
        runtime.register(flow(first, new, name="Changing"))
        return go_to(old, "text")

    async def takes_str(context: AsyncContext, input: str) -> StepDecision:
        return graceful_complete()

    async def takes_int(context: AsyncContext, input: int) -> StepDecision:
        return graceful_complete()

    old, new = step(takes_str, name="Takes"), step(takes_int, name="Takes")
    run = await runtime.start(flow(first, old, name="Changing"), "flow")
    result = await finished(run)
    assert result.status == "FAILED"
    assert "input of Changing.Takes-1 of flow: value must be int" in result.error_message
    assert len(await telemetry(run, "attempt_started")) == 2
