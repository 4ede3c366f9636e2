"""A Flow's own timeout and its handler, start delays, and starts under ids that were used."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    Flow,
    FlowAlreadyStartedError,
    FlowDefinitionError,
    FlowTimeoutHandlerOptions,
    FlowTimeoutPolicy,
    IdReusePolicy,
    RetryPolicy,
    StartFlowOptions,
    StepDecision,
    StepOptions,
    Timer,
    Wait,
    dead_end,
    force_complete,
    force_fail,
    graceful_complete,
)
from dexnb.engine import Runtime
from tests.engine.flows import finished, telemetry
from tests.engine.rules.made import clock, flow_of, kinds, on_stores, started, waits

COUNT = Attribute("count", int)
HOUR, MINUTE = timedelta(hours=1), timedelta(seconds=60)


async def an_hour(context: AsyncContext, input: Any) -> Wait:
    """Wait for an hour."""
    return Wait.until(Timer.by_duration(HOUR))


async def ends(context: AsyncContext, input: Any) -> StepDecision:
    """Complete after a second."""
    await asyncio.sleep(1)
    return graceful_complete(input)


async def handles(context: AsyncContext) -> StepDecision:
    """Complete with what the handler is told."""
    return force_complete([context.step_execution_id, COUNT.get(context), context.attempt])


async def fails(context: AsyncContext) -> StepDecision:
    """Fail each time."""
    raise ConnectionError("no way out")


async def told(context: AsyncContext, input: Any) -> StepDecision:
    """Fail the Flow with what a failure Step is told."""
    error = context.recovery_error
    return force_fail(f"{input} {context.from_step_execution_id} {error and error.detail}")


FAILURE = waits(told)


def waiting(timeout: Any = None) -> Flow[Any]:
    """Make a Flow that waits for an hour."""
    return flow_of(waits(ends, an_hour), FAILURE, keeps=(COUNT,), timeout=timeout)


def limited(policy: FlowTimeoutPolicy = FlowTimeoutPolicy.DEFAULT, **more: Any) -> Any:
    """Make options with a timeout of a minute."""
    return StartFlowOptions(timeout=MINUTE, timeout_policy=policy, **more)


@pytest.mark.rule("2.11/fail", "2.11/cancel", "2.11/default")
@pytest.mark.parametrize(
    ("policy", "status"),
    [
        (FlowTimeoutPolicy.FAIL, "FAILED"),
        (FlowTimeoutPolicy.CANCEL, "CANCELED"),
        (FlowTimeoutPolicy.DEFAULT, "FAILED"),
    ],
)
@on_stores
async def test_a_flow_that_takes_too_long_ends_by_its_policy(
    runtime: Runtime, policy: FlowTimeoutPolicy, status: str
) -> None:
    """Without a handler DEFAULT is FAIL."""
    run = await started(runtime, waiting(), options=limited(policy))
    result = await finished(run)
    assert (result.status, result.error_type) == (status, "FLOW_TIMEOUT")
    assert clock() == pytest.approx(60)
    assert (await kinds(run))[-3:] == ["flow_timed_out", "step_cancelled", "flow_closed"]


@pytest.mark.rule("2.11/fail", "2.11/default")
@on_stores
async def test_a_flow_with_a_handler_may_still_just_fail(runtime: Runtime) -> None:
    """The policy says so; the handler is not asked."""
    options = limited(FlowTimeoutPolicy.FAIL)
    result = await finished(await started(runtime, waiting(handles), options=options))
    assert (result.status, result.completions) == ("FAILED", ())


@pytest.mark.rule("2.11/handler", "2.11/default")
@pytest.mark.parametrize("policy", [FlowTimeoutPolicy.HANDLER, FlowTimeoutPolicy.DEFAULT])
@on_stores
async def test_a_handler_runs_as_a_step_and_decides(
    runtime: Runtime, policy: FlowTimeoutPolicy
) -> None:
    """It sees the Flow's data; where it is overridden it is the default."""
    options = limited(policy).with_attribute(COUNT, 5)
    result = await finished(await started(runtime, waiting(handles), options=options))
    assert result.output == ["sys:timeout_handler-1", 5, 1]
    assert clock() == pytest.approx(60)


@pytest.mark.rule("2.11/handler")
@on_stores
async def test_a_handler_that_ends_its_branch_lets_the_others_go_on(runtime: Runtime) -> None:
    """The timeout is soft: it fires once, and the wait of an hour is waited."""

    async def shrugs(context: AsyncContext) -> StepDecision:
        return dead_end()

    run = await started(runtime, waiting(shrugs), "in", limited())
    assert (await finished(run)).output == "in"
    assert clock() == pytest.approx(3601)
    assert (await kinds(run)).count("flow_timed_out") == 1


@pytest.mark.rule("2.11/handler-options", "2.11/handler-failure")
@on_stores
async def test_a_failing_handler_leads_to_its_failure_step(runtime: Runtime) -> None:
    """After its own retries; the failure Step's input is None."""
    handler = FlowTimeoutHandlerOptions(
        method_timeout=timedelta(seconds=7),
        retry=RetryPolicy(initial_interval=timedelta(seconds=3), maximum_attempts=2),
    ).on_failure_proceed_to(FAILURE)
    options = limited(timeout_handler_options=handler)
    run = await started(runtime, waiting(fails), "input", options)
    result = await finished(run)
    assert result.error_message == "None sys:timeout_handler-1 no way out"
    assert clock() == pytest.approx(63)
    begun = [
        event.payload["execute_method_timeout"]
        for event in await telemetry(run, "attempt_started")
        if event.step_execution_id == "sys:timeout_handler-1"
    ]
    assert begun == [7, 7]


@pytest.mark.rule("2.11/timer")
@on_stores
async def test_a_flow_that_ends_in_time_hears_nothing_of_its_timeout(runtime: Runtime) -> None:
    """The timer finds a closed run."""
    run = await started(runtime, flow_of(waits(ends)), options=limited())
    await finished(run)
    await asyncio.sleep(100)
    assert "flow_timed_out" not in await kinds(run)


@pytest.mark.rule("2.11/policy-needs-timeout")
@pytest.mark.parametrize("policy", list(FlowTimeoutPolicy)[1:])
@pytest.mark.parametrize("timeout", [None, timedelta(0)])
@on_stores
async def test_a_policy_without_a_timeout_is_refused(
    runtime: Runtime, policy: FlowTimeoutPolicy, timeout: timedelta | None
) -> None:
    """Before anything is stored."""
    options = StartFlowOptions(timeout=timeout, timeout_policy=policy)
    with pytest.raises(FlowDefinitionError, match="give a timeout above 0 s too"):
        await started(runtime, waiting(handles), options=options)
    assert await runtime.runs() == []


@pytest.mark.rule("2.1/flow-retry", "2.12/flow-retry")
@on_stores
async def test_a_retry_policy_for_a_whole_flow_is_refused(runtime: Runtime) -> None:
    """With what to do instead."""
    with pytest.raises(FlowDefinitionError, match="a Flow is not retried, its Steps are"):
        await started(runtime, waiting(), options=StartFlowOptions(retry_policy=RetryPolicy()))
    assert await runtime.runs() == []


@pytest.mark.rule("2.11/start-delay", "2.4/budget-start")
@on_stores
async def test_a_start_delay_holds_back_the_first_step_alone(runtime: Runtime) -> None:
    """The run is open meanwhile, and the delay counts against the timeout, not the budget."""
    seen: list[float] = []

    async def notes(context: AsyncContext, input: Any) -> StepDecision:
        seen.append(clock())
        return graceful_complete()

    made = flow_of(waits(notes))
    run = await started(runtime, made, options=StartFlowOptions(start_delay=MINUTE))
    await asyncio.sleep(30)
    assert (await run.status(), seen) == ("RUNNING", [])
    await finished(run)
    assert seen == pytest.approx([60])
    begin = StartFlowOptions(start_delay=HOUR, timeout=MINUTE)
    late = await started(runtime, made, options=begin, flow_id="late")
    assert (await finished(late)).error_type == "FLOW_TIMEOUT"
    assert clock() == pytest.approx(120)


@pytest.mark.rule("2.11/start-delay")
@pytest.mark.parametrize("method", ["wait_for", "execute"])
@on_stores
async def test_a_start_delay_holds_back_a_first_step_that_locks(
    runtime: Runtime, method: str
) -> None:
    """Its locks are free at the start, and that does not make it begin at once."""
    seen: list[float] = []

    async def notes(context: AsyncContext, input: Any) -> Wait:
        seen.append(clock())
        return Wait.skip_immediately()

    locks = (COUNT.lock(),)
    options = (
        StepOptions(wait_for_lock_attributes=locks)
        if method == "wait_for"
        else StepOptions(execute_lock_attributes=locks)
    )
    made = flow_of(waits(ends, notes, options=options), keeps=(COUNT,))
    run = await started(runtime, made, options=StartFlowOptions(start_delay=MINUTE))
    await finished(run)
    assert seen == pytest.approx([60])
    assert clock() == pytest.approx(61)


async def start_strictly(runtime: Runtime, flow_id: str = "flow", **options: Any) -> str:
    """Start as a client does; give the run id."""
    begin = StartFlowOptions(**options)
    begun = await runtime.engine.start_flow(
        flow_of(waits(ends)), flow_id, None, options=begin, attach=False
    )
    return begun.run_id


@pytest.mark.rule("2.11/reuse")
@on_stores
async def test_a_client_cannot_start_under_an_id_that_was_used(runtime: Runtime) -> None:
    """Neither while that run is open nor afterwards, unless the policy says so."""
    first = await start_strictly(runtime)
    with pytest.raises(FlowAlreadyStartedError, match="has an open run"):
        await start_strictly(runtime)
    await finished(await runtime.get("flow"))
    with pytest.raises(FlowAlreadyStartedError, match="was used by a run"):
        await start_strictly(runtime)
    again = await start_strictly(runtime, id_reuse_policy=IdReusePolicy.ALLOW_IF_NOT_RUNNING)
    assert again != first


@pytest.mark.rule("2.11/request", "2.11/request-other")
@on_stores
async def test_a_repeated_start_of_one_request_gives_the_run_that_is_there(
    runtime: Runtime,
) -> None:
    """While it runs and afterwards; another request, or none, is refused."""
    first = await start_strictly(runtime, request_id="r1")
    again: dict[str, Any] = {"request_id": "r1", "ignore_already_started": True}
    assert await start_strictly(runtime, **again) == first
    await finished(await runtime.get("flow"))
    assert await start_strictly(runtime, **again) == first
    others: list[dict[str, Any]] = [
        {"request_id": "r1"},
        {"request_id": "r2", "ignore_already_started": True},
        {"ignore_already_started": True},
    ]
    for other in others:
        with pytest.raises(FlowAlreadyStartedError):
            await start_strictly(runtime, **other)
    assert len(await runtime.runs()) == 1


@pytest.mark.rule("2.11/flow-ids")
@pytest.mark.parametrize("letter", ["/", "$", ":"])
@on_stores
async def test_reserved_letters_are_refused_in_flow_ids_and_step_types(
    runtime: Runtime, letter: str
) -> None:
    """They divide the names that the runtime makes itself."""
    with pytest.raises(FlowDefinitionError, match="leave out"):
        await started(runtime, waiting(), flow_id=f"a{letter}b")
    named = waits(ends)
    type.__setattr__(named, "get_step_type", lambda _: f"a{letter}b")
    with pytest.raises(FlowDefinitionError, match="leave out"):
        runtime.register(flow_of(named))
