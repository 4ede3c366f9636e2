"""What a user writes, as type checkers see it: right code passes, and each mistake is an error.

Nothing here runs. `make check` type-checks it; a mistake that a checker stopped to see shows as an
unused `type: ignore`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, assert_type

import dexnb as dex
from dexnb import (
    AsyncContext,
    Clock,
    CodecRegistry,
    Context,
    DexnbError,
    Flow,
    FlowAlreadyStartedError,
    FlowDefinitionError,
    InvalidStepResultError,
    JsonCodec,
    PersistenceSchema,
    RecoveryErrorInfo,
    Registry,
    RetryPolicy,
    Step,
    StepDecision,
    StepDurability,
    StepList,
    StepMovement,
    StepOptions,
    StepOutput,
    Stream,
    StreamMessage,
    ValueMappingError,
    dead_end,
    force_complete,
    force_fail,
    go_to,
    graceful_complete,
    heartbeat,
)


class Cents:
    """A codec that is a class of its own."""

    type_name = "Money"
    wire_kind = dex.INT64

    def encode(self, value: Money, /) -> int:
        """Give a whole number."""
        return value.cents

    def decode(self, document: Any, /) -> Money:
        """Read one."""
        return Money(document)


@dataclass
class Money:
    """What is stored by it."""

    cents: int


def codecs_are_handed_over_where_a_store_is_opened() -> None:
    """In a list, or by class; what is no codec is seen."""
    by_functions = JsonCodec("Money", Money, lambda value: value.cents, Money)
    assert_type(by_functions, JsonCodec[Money])
    registry = CodecRegistry([Cents(), by_functions])
    CodecRegistry({Money: Cents()})
    dex.open(codecs=registry)
    dex.Runtime("memory:", codecs=registry)
    dex.Client("memory:", codecs=registry)
    CodecRegistry([Money(1)])  # type: ignore[list-item]
    dex.open(codecs=[Cents()])  # type: ignore[arg-type]


class JobState(StrEnum):
    """States of a job."""

    QUEUED = "QUEUED"
    DONE = "DONE"


@dataclass
class JobStatus:
    """What the polled system tells."""

    state: JobState
    result: str = ""


PROGRESS = Stream("Progress", JobStatus, 1 << 20)
assert_type(PROGRESS, Stream[JobStatus])
STATES: Stream[list[JobState]] = Stream("States", list[JobState], 1 << 20)


class StartJob(Step[None]):
    """An async Step."""

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Go on with the right input, and with wrong ones."""
        if context.attempt > 1:
            return go_to(StartJob, None)
        go_to(AwaitJob, 5)  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
        go_to(AwaitJob("x"), "id")  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]
        go_to("AwaitJob", "id")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        return go_to(AwaitJob, context.flow_id)


class AwaitJob(Step[str]):
    """An async Step that polls."""

    def get_step_options(self) -> StepOptions:
        """Bound the wait."""
        policy = RetryPolicy(
            initial_interval=timedelta(seconds=1), backoff_coefficient=2, maximum_attempts=3
        )
        options = StepOptions(
            execute_method_timeout=timedelta(minutes=10),
            heartbeat_timeout=timedelta(minutes=1),
            execute_retry=policy,
            execute_durability=StepDurability.ASYNC,
        )
        StepOptions(heartbeat_timeout=60)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        StepOptions(execute_durability="async")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        options.on_execute_failure_proceed_to(Record())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        assert_type(options.on_execute_failure_proceed_to(Record, StepOptions()), StepOptions)
        return options.on_execute_failure_proceed_to(Record)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Poll, beat and report."""
        last = context.get_last_heartbeat_value(JobState)
        assert_type(last, JobState | None)
        assert_type(context.get_last_heartbeat_value(dict[str, int]), dict[str, int] | None)
        assert_type(context.has_last_heartbeat_value(), bool)
        status = JobStatus(last or JobState.QUEUED)
        PROGRESS.write(context, status)
        PROGRESS.write(context, JobState.DONE)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        STATES.write(context, [JobState.DONE])
        STATES.write(context, ["DONE"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
        await context.heartbeat(status.state)
        await context.heartbeat()
        async with asyncio.timeout(1):
            await asyncio.sleep(1)
        if context.is_cancellation_requested():
            return dead_end()
        return graceful_complete(status)


class Record(Step[str]):
    """A plain sync Step."""

    def execute(self, context: Context, input: str) -> StepDecision:
        """Say why the wait ended."""
        assert_type(context.recovery_error, RecoveryErrorInfo | None)
        error = context.recovery_error
        context.heartbeat()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        force_fail(None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        return force_fail(error.detail if error else input)


class Count(Step[int]):
    """A generator Step."""

    def execute(self, context: Context, input: int) -> Generator[StepOutput, None, StepDecision]:
        """Beat by yielding."""
        yield heartbeat(input)
        yield heartbeat()
        output = PROGRESS.write(context, JobStatus(JobState.DONE))
        assert_type(output, StepOutput | None)
        if output is not None:
            yield output
        movement = StepMovement.of(Count, input + 1, options=StepOptions())
        StepMovement.of(Count, "1")  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
        if input > 3:
            return force_complete()
        return StepDecision("next", (movement,))


class Polling(Flow[None]):
    """A Flow."""

    def get_steps(self) -> StepList[None]:
        """List the Steps: instances, the start Step first."""
        assert_type(StepList.start_step(AwaitJob()), StepList[str])
        StepList.start_step(AwaitJob)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        return StepList.start_step(StartJob()).other_steps(AwaitJob(), Record(), Count())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Keep the progress."""
        return PersistenceSchema.of(PROGRESS, STATES)


class Wrong(Flow[int]):
    """A Flow whose start Step takes something else."""

    def get_steps(self) -> StepList[int]:
        """List a Step that takes a str."""
        return StepList.start_step(AwaitJob())  # type: ignore[arg-type]  # pyright: ignore[reportReturnType]


def register() -> None:
    """Register Flows."""
    registry = Registry()
    registry.register(Polling())
    registry.register(Polling)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    for flow in registry:
        assert_type(flow.flow_type, str)


async def run_in_a_script() -> None:
    """Run a Flow on the caller's loop."""
    async with dex.Runtime(":memory:") as runtime:
        run = await runtime.start(Polling(), "job-1")
        result = await run.wait()
        assert_type(result, dex.FlowResult)
        messages = await run.stream(PROGRESS)
        for message in messages:
            assert_type(message, StreamMessage)


def run_in_a_notebook() -> None:
    """Run a Flow on the engine's own threads."""
    runtime = dex.open()
    assert_type(runtime, dex.Session)
    try:
        run = runtime.start(Polling(), "job-1", None)
        assert_type(run, dex.Run)
        assert_type(run.wait_sync(10), dex.FlowResult)
    except (FlowDefinitionError, ValueMappingError, FlowAlreadyStartedError) as error:
        assert_type(str(error), str)
    except InvalidStepResultError as error:
        assert_type(error.step_type, str)
    except DexnbError:
        raise


def look() -> None:
    """Look at a Flow's graph."""
    shown = dex.flow_graph(Polling())
    assert_type(shown.to_svg(theme="dark"), str)
    assert_type(shown.to_png(), bytes)
    dex.flow_graph(Polling)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def virtual() -> None:
    """Run a coroutine on the virtual clock."""
    Clock.virtual().run(run_in_a_script())
    anything: Any = Clock.scaled(10)
    assert isinstance(anything, Clock)
