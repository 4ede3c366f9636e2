"""Starting runs: whether a flow id may be used again, and what makes way for a new run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from dexnb.engine.first_turn import begin_run
from dexnb.engine.knob_change import checked_overrides
from dexnb.errors import FlowAlreadyStartedError, ProviderError, RuntimeClosed
from dexnb.flow.flow import Flow
from dexnb.flow.mapping import map_start
from dexnb.flow.start_options import IdReusePolicy, StartFlowOptions
from dexnb.model.message import Start, Stop
from dexnb.model.run_state import RunState
from dexnb.providers import RunRecord, Started

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine


async def start_flow(
    engine: Engine,
    flow: Flow[Any],
    flow_id: str,
    input: Any,
    *,
    overrides: dict[str, Any] | None,
    options: StartFlowOptions | None,
    attach: bool,
) -> Started:
    """Register a Flow and start a run of it.

    Args:
        engine: Where it runs.
        flow: The Flow.
        flow_id: Its id.
        input: For the start Step.
        overrides: Knob values of this run.
        options: What the start says beside the input.
        attach: What the DEFAULT policy means: to go on with an open run and to follow a closed one,
            as a session does, or to refuse every id that was used before, as a client does.

    Raises:
        FlowDefinitionError: The Flow, the id or an option cannot be used.
        ValueMappingError: The input or an initial value does not fit.
        FlowAlreadyStartedError: The policy protects a run of that id, or the open one is of another
            Flow.
        DefinitionError: An override names no knob, or cannot be its value.
        ProviderError: The store cannot do it. If the policy had an open run terminated by then, the
            text says so, and that calling again works.
    """
    engine.check_open()
    registered = engine.register(flow)
    checked = checked_overrides(registered, overrides, engine.minimum_heartbeat)
    options = StartFlowOptions() if options is None else options
    start = engine.registry.codecs.call(map_start, registered, flow_id, input, checked, options)
    follows = attach and options.id_reuse_policy is IdReusePolicy.DEFAULT
    if follows and not options.ignore_already_started:
        return await _begin(engine, start, follows=True)
    return await _begin_behind(engine, start, options, follows=follows)


async def _begin(engine: Engine, start: Start, *, follows: bool) -> Started:
    started = await begin_run(engine, start)
    if follows and not started.created:
        await _check_type(engine, started.run_id, start)
    return started


async def _begin_behind(
    engine: Engine, start: Start, options: StartFlowOptions, *, follows: bool
) -> Started:
    """Start a run with regard to the one that the flow id has had before."""
    while True:
        gone: AbstractContextManager[None] = nullcontext()
        previous = await engine.record(flow_id=start.flow_id)
        if previous is not None:
            if _is_repeated(previous, options):
                _check_same(previous, start)
                return Started(previous.run_id, created=False)
            if not follows and await _make_way(engine, previous, options.id_reuse_policy):
                gone = made_way(previous)
        with gone:
            started = await _begin(engine, start, follows=follows)
        if started.created or follows:
            return started
        # Somebody else's start has come between: it is the previous run now.


def _is_repeated(previous: RunRecord, options: StartFlowOptions) -> bool:
    if not options.ignore_already_started or not options.request_id:
        return False
    return RunState.from_text(previous.state).request_id == options.request_id


def _check_same(previous: RunRecord, start: Start) -> None:
    """Refuse a request id that has started a run of another Flow."""
    if previous.flow_type == start.flow_type:
        return
    running = previous.status == "RUNNING"
    state = "has an open run" if running else "was used by a run"
    raise FlowAlreadyStartedError(
        f"flow id {start.flow_id} {state} of {previous.flow_type} with request_id "
        f"{start.request_id}, not of {start.flow_type}: use another flow id and request_id"
    )


async def _make_way(engine: Engine, previous: RunRecord, policy: IdReusePolicy) -> bool:
    """Tell whether a previous run had to be ended, or refuse the start because of it."""
    if previous.status == "RUNNING":
        if policy is IdReusePolicy.ALLOW_TERMINATE_IF_RUNNING:
            await terminate(engine, previous.run_id, "another run was started under its flow id")
            return True
        fix = "use another flow id, stop that run, or IdReusePolicy.ALLOW_TERMINATE_IF_RUNNING"
        raise FlowAlreadyStartedError(
            f"flow id {previous.flow_id} has an open run of {previous.flow_type}: {fix}"
        )
    if policy in _FOLLOW_ANY:
        return False
    if policy is IdReusePolicy.ALLOW_IF_PREVIOUS_FAILED and previous.status != "COMPLETED":
        return False
    fix = "use another flow id, or another id_reuse_policy such as ALLOW_IF_NOT_RUNNING"
    raise FlowAlreadyStartedError(
        f"flow id {previous.flow_id} was used by a run of {previous.flow_type} that ended "
        f"{previous.status}, and id_reuse_policy is {policy.name}: {fix}"
    )


_FOLLOW_ANY = (IdReusePolicy.ALLOW_IF_NOT_RUNNING, IdReusePolicy.ALLOW_TERMINATE_IF_RUNNING)


async def terminate(engine: Engine, run_id: str, reason: str, *, makes_way: bool = False) -> None:
    """Terminate a run, and wait until that is so; `makes_way` is as in `Stop`."""
    await engine.send(run_id, Stop("TERMINATE", reason, makes_way))
    await engine.wait_closed(run_id)


@contextmanager
def made_way(previous: RunRecord) -> Iterator[None]:
    """Say of a start that fails inside that the run before it has ended already.

    Raises:
        ProviderError: The store could not do it; calling again works once the store does.
        RuntimeClosed: The engine was closed meanwhile; calling again on another one works.
    """
    told = (
        f"run {previous.run_id} of flow id {previous.flow_id} was terminated to make way, and no "
        "new one was started: call again, which works"
    )
    try:
        yield
    except ProviderError as error:
        message = f"{error.message}; {told}"
        raise ProviderError(error.operation, message, retryable=error.retryable) from error
    except RuntimeClosed as error:
        raise RuntimeClosed(f"{error}; {told}") from error


async def _check_type(engine: Engine, run_id: str, start: Start) -> None:
    record = await engine.record(run_id=run_id)
    if record is not None and record.flow_type != start.flow_type:
        message = (
            f"flow id {start.flow_id} has an open run of {record.flow_type}, not of "
            f"{start.flow_type}: use another flow id, or stop that run"
        )
        raise FlowAlreadyStartedError(message)
