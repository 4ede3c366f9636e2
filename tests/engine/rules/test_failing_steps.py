"""Retries of both methods, what follows when none is left, and recovery Steps."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Channel,
    RetryPolicy,
    StepDecision,
    StepMovement,
    StepOptions,
    Stream,
    Timer,
    Wait,
    WaitForFailurePolicy,
    force_fail,
    go_to_many,
    graceful_complete,
    retry_after,
)
from dexnb.engine import Runtime
from tests.engine.flows import failure_of, finished, history, with_runtime
from tests.engine.rules.made import (
    clock,
    flow_of,
    kinds,
    of_kind,
    on_stores,
    publish,
    started,
    waits,
)

NOTES = Channel("notes", str)
PROGRESS = Stream("Progress", str, 1 << 20)
THREE = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3)
TRIES = StepOptions(wait_for_retry=THREE, execute_retry=THREE)
PROCEEDS = replace(TRIES, wait_for_failure=WaitForFailurePolicy.PROCEED)


class Refused(Exception):
    """What a service says."""


async def skips(context: AsyncContext, input: Any) -> Wait:
    """Wait for nothing."""
    return Wait.skip_immediately()


async def never_waits(context: AsyncContext, input: Any) -> Wait:
    """Fail each time."""
    raise Refused("no table")


async def always_fails(context: AsyncContext, input: Any) -> StepDecision:
    """Fail each time."""
    await context.heartbeat("last status")
    PROGRESS.write(context, "last status")
    raise Refused("no answer")


async def tells(context: AsyncContext, input: Any) -> StepDecision:
    """End with what is known of a failure."""
    error = context.recovery_error
    return graceful_complete(
        {
            "input": input,
            "from": context.from_step_execution_id,
            "error": error and [error.error_type, error.detail],
            "last": error and error.last_error and error.last_error.detail,
            "wait failed": context.wait_for_method_failed(),
            "fired": context.has_timer_fired(),
            "notes": list(NOTES.results(context)),
            "checkpoint": context.has_last_heartbeat_value(),
        }
    )


@pytest.mark.rule("2.6/wait-fail-flow", "2.5/count", "2.5/delay")
@on_stores
async def test_a_wait_for_without_a_retry_left_fails_the_flow(runtime: Runtime) -> None:
    """After its own number of attempts and its own delays; execute never runs."""
    run = await started(
        runtime, flow_of(waits(tells, never_waits, options=TRIES), keeps=(NOTES,)), 1
    )
    result = await finished(run)
    assert (result.status, result.error_type) == ("FAILED", "WORKER_API_FAILED")
    assert result.error_message == "no table"
    assert clock() == pytest.approx(1 + 2)
    assert await kinds(run) == ["flow_started", "step_scheduled", "step_failed", "flow_closed"]


@pytest.mark.rule("2.6/wait-proceed")
@on_stores
async def test_with_proceed_execute_runs_and_is_told(runtime: Runtime) -> None:
    """By the flag and by recovery_error; no Timer has fired and nothing was taken."""
    made = flow_of(waits(tells, never_waits, options=PROCEEDS), keeps=(NOTES,))
    told = (await finished(await started(runtime, made, 1))).output
    assert told["wait failed"] is True
    assert told["error"] == [f"{__name__}.Refused", "no table"]
    assert (told["input"], told["fired"], told["notes"]) == (1, False, [])
    assert (told["from"], told["checkpoint"]) == ("", False)


@pytest.mark.rule("2.4/method-timeout-wait", "2.4/heartbeat-timeout", "2.4/timeout-texts")
@pytest.mark.parametrize(
    ("beats", "name", "detail"),
    [
        (True, "StartToClose", "the attempt ran longer than its wait_for_method_timeout"),
        (False, "Heartbeat", "the attempt was silent for longer than its heartbeat_timeout"),
    ],
)
@on_stores
async def test_a_wait_for_that_takes_too_long_is_named(
    runtime: Runtime, beats: bool, name: str, detail: str
) -> None:
    """Its method timeout and the heartbeat timeout hold for wait_for as for execute."""

    async def hangs(context: AsyncContext, input: Any) -> Wait:
        while beats:
            await asyncio.sleep(5)
            await context.heartbeat()
        await asyncio.sleep(1e6)
        return Wait.skip_immediately()

    options = replace(
        PROCEEDS,
        wait_for_method_timeout=timedelta(seconds=30),
        heartbeat_timeout=timedelta(seconds=20),
    )
    made = flow_of(waits(tells, hangs, options=options), keeps=(NOTES,))
    told = (await finished(await started(runtime, made))).output
    assert told["error"] == [name, detail]
    assert clock() == pytest.approx(3 * (30 if beats else 20) + 3)


@pytest.mark.rule("2.6/execute-fails")
@on_stores
async def test_an_execute_without_a_retry_left_fails_the_flow(runtime: Runtime) -> None:
    """The message of the Flow is the error's text."""
    made = flow_of(waits(always_fails, skips, options=TRIES), keeps=(PROGRESS,))
    result = await finished(await started(runtime, made))
    assert (result.status, result.error_type) == ("FAILED", "WORKER_API_FAILED")
    assert result.error_message == "no answer"


@pytest.mark.rule(
    "2.6/recovery-input",
    "2.6/recovery-from",
    "2.6/recovery-error",
    "2.6/recovery-waits",
    "2.6/no-last-status",
)
@on_stores
async def test_a_recovery_step_waits_and_knows_why_it_runs(runtime: Runtime) -> None:
    """Same input, the failed execution's id, its error; the last status is in the Stream."""

    async def waits_too(context: AsyncContext, input: Any) -> Wait:
        assert context.recovery_error is not None
        return Wait.all_of(NOTES.for_one(), Timer.by_duration(timedelta(seconds=10)))

    recovery = waits(tells, waits_too)
    failing = waits(always_fails, options=TRIES.on_execute_failure_proceed_to(recovery))
    run = await started(runtime, flow_of(failing, recovery, keeps=(NOTES, PROGRESS)), {"n": 1})
    await asyncio.sleep(5)
    assert list((await run.state()).active) == ["Tells-1"]
    await publish(runtime, run, "notes", "go on")
    told = (await finished(run)).output
    assert told == {
        "input": {"n": 1},
        "from": "AlwaysFails-1",
        "error": [f"{__name__}.Refused", "no answer"],
        "last": None,
        "wait failed": False,
        "fired": True,
        "notes": ["go on"],
        "checkpoint": False,
    }
    assert [message.value for message in await run.stream(PROGRESS)] == ["last status"] * 3


@pytest.mark.rule("2.6/recovery-options")
@pytest.mark.parametrize(("given", "tries"), [(None, 2), (1, 1)])
@on_stores
async def test_a_recovery_step_runs_under_given_options_or_its_own(
    runtime: Runtime, given: int | None, tries: int
) -> None:
    """Here: how often it is tried."""
    seen: list[int] = []

    async def counts(context: AsyncContext, input: Any) -> StepDecision:
        seen.append(context.attempt)
        raise Refused

    def attempts(count: int) -> StepOptions:
        return StepOptions(execute_retry=RetryPolicy(maximum_attempts=count))

    recovery = waits(counts, options=attempts(2))
    chosen = None if given is None else attempts(given)
    options = TRIES.on_execute_failure_proceed_to(recovery, chosen)
    made = flow_of(waits(always_fails, options=options), recovery, keeps=(PROGRESS,))
    result = await finished(await started(runtime, made))
    assert (result.error_message, len(seen)) == ("Refused", tries)


@pytest.mark.rule("2.6/recovery-from", "2.6/recovery-error")
@on_stores
async def test_a_chain_of_recoveries_leads_from_one_to_the_next(runtime: Runtime) -> None:
    """Each is told of the one before it; only the last may fail the Flow."""
    seen: list[tuple[str, str]] = []

    async def middle(context: AsyncContext, input: Any) -> StepDecision:
        assert context.recovery_error is not None
        seen.append((context.from_step_execution_id, context.recovery_error.detail))
        raise Refused("again")

    async def last(context: AsyncContext, input: Any) -> StepDecision:
        assert context.recovery_error is not None
        seen.append((context.from_step_execution_id, context.recovery_error.detail))
        return force_fail(f"{input}: gave up")

    end = waits(last)
    second = waits(middle, options=TRIES.on_execute_failure_proceed_to(end))
    first = waits(always_fails, options=TRIES.on_execute_failure_proceed_to(second))
    run = await started(runtime, flow_of(first, second, end, keeps=(PROGRESS,)), "job")
    result = await finished(run)
    assert (result.error_type, result.error_message) == ("STEP_DECISION_FAILED", "job: gave up")
    assert seen == [("AlwaysFails-1", "no answer")] * 3 + [("Middle-1", "again")]


@pytest.mark.rule("2.6/wait-fail-flow")
@on_stores
async def test_a_failing_wait_for_leads_to_no_recovery_of_execute(runtime: Runtime) -> None:
    """The recovery of a Step is execute's; other branches are cancelled with the Flow."""
    recovery = waits(tells)

    async def splits(context: AsyncContext, input: Any) -> StepDecision:
        return go_to_many(StepMovement.of(failing, None), StepMovement.of(other, None))

    async def sleeps(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(1000)
        return graceful_complete()

    other = waits(sleeps)
    options = TRIES.on_execute_failure_proceed_to(recovery)
    failing = waits(always_fails, never_waits, options=options)
    made = flow_of(waits(splits), failing, other, recovery, keeps=(NOTES, PROGRESS))
    run = await started(runtime, made)
    assert (await finished(run)).error_message == "no table"
    assert (await kinds(run))[-3:] == ["step_failed", "step_cancelled", "flow_closed"]


@pytest.mark.rule("2.5/retry-after")
@pytest.mark.parametrize("method", ["wait_for", "execute"])
@on_stores
async def test_retry_after_replaces_the_next_delay_only(runtime: Runtime, method: str) -> None:
    """Then the policy goes on where it was, as if nothing had been said."""
    began: list[float] = []

    def try_again(context: AsyncContext) -> None:
        began.append(clock())
        if context.attempt == 2:
            raise retry_after(7, Refused("busy"))
        if context.attempt < 5:
            raise Refused

    async def waiting(context: AsyncContext, input: Any) -> Wait:
        if method == "wait_for":
            try_again(context)
        return Wait.skip_immediately()

    async def acts(context: AsyncContext, input: Any) -> StepDecision:
        if method == "execute":
            try_again(context)
        return graceful_complete()

    await finished(await started(runtime, flow_of(waits(acts, waiting))))
    assert began == pytest.approx([0, 1, 1 + 7, 8 + 4, 12 + 8])


@pytest.mark.rule("2.5/last-failure", "2.5/ends")
@with_runtime
async def test_the_history_keeps_the_last_attempt_and_its_failure(runtime: Runtime) -> None:
    """Its number, its error and where it leads."""
    recovery = waits(tells)
    options = TRIES.on_execute_failure_proceed_to(recovery)
    made = flow_of(waits(always_fails, options=options), recovery, keeps=(NOTES, PROGRESS))
    run = await started(runtime, made)
    await finished(run)
    (event,) = await of_kind(run, "step_failed")
    assert (event.attempt, event.payload["recovery"]) == (3, "Tells")
    assert failure_of(await history(run))["error_type"] == f"{__name__}.Refused"
