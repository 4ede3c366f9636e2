"""`invoke_rpc`: a call of a Flow's RPC on an open run, from its locks to its commit.

The method runs in the process that calls it; only what it writes goes to the run, in one turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import uuid
from typing import TYPE_CHECKING, Any

from dexnb.engine.addressing import answer, check_active, open_run
from dexnb.engine.patience import patiently
from dexnb.engine.rpc_context import RpcContext
from dexnb.engine.rpc_handler import run_handler
from dexnb.engine.rpc_lease import RpcLease
from dexnb.engine.rpc_visits import Visit
from dexnb.engine.snapshot import snapshot_of
from dexnb.errors import (
    ChannelMessageNotFoundError,
    DefinitionError,
    DexnbError,
    FlowNotActiveOrNotFoundError,
    RequestTimeoutError,
    RpcLockConflictError,
)
from dexnb.flow.data import FlowData
from dexnb.flow.flow import Flow
from dexnb.flow.registry import RegisteredFlow
from dexnb.flow.rpc import RPCInvokeOptions, rpc_name
from dexnb.flow.rpc_mapping import (
    RpcOutcome,
    RpcPlan,
    map_rpc_input,
    map_rpc_plan,
    map_rpc_result,
)
from dexnb.flow.rpc_reader import RegisteredRpc
from dexnb.flow.typed import decode
from dexnb.model.event import Event
from dexnb.model.message import RpcDone, RpcExpired, RpcVisit, encode_message
from dexnb.model.run_state import RunState
from dexnb.model.shown import shown
from dexnb.providers import NewMessage, RunRecord

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine

TRIES = 5
"""How often a transactional RPC is run before it gives up against a run that goes on changing."""

OUTRUN = 3
"""Of these tries, those that let the run go on; then it stands still for the call."""

PAUSE = 0.025
"""Seconds of the longest pause behind the first of these tries; each later one may last twice."""

GIVEN_UP = "given up: it was cancelled, ran longer than its timeout, or its runtime was closed"


async def invoke_rpc(
    engine: Engine,
    rpc_method: Any,
    flow_id: str,
    input: Any = None,
    *,
    run_id: str = "",
    options: RPCInvokeOptions | None = None,
) -> Any:
    """Call an RPC of an open run; give the output of its method.

    Raises:
        FlowNotActiveOrNotFoundError: There is no open run, or it ended meanwhile.
        DefinitionError: The method is no RPC of the run's Flow, or that is not registered here.
        ValueMappingError: The input does not fit.
        RpcLockConflictError: What it locks is held, or the run changed under a transactional one.
        RequestTimeoutError: It took longer than its timeout.
        RuntimeClosed: The engine was stopped meanwhile.
        ChannelMessageNotFoundError: A transactional one deleted a message that is not pending.
        Exception: What the method itself raises.
    """
    name = rpc_name(rpc_method)
    record = await open_run(engine, flow_id, run_id)
    flow = _flow_of(engine, rpc_method, record)
    rpc = flow.rpcs.get(name)
    if rpc is None:
        known = ", ".join(sorted(flow.rpcs)) or "none"
        raise DefinitionError(f"{flow.flow_type} has no RPC {shown(name)}; its RPCs: {known}")
    plan = map_rpc_plan(rpc, flow, options)
    with engine.registry.codecs.used():
        call = RpcCall(engine, record, flow, rpc, plan, map_rpc_input(input, rpc, flow))
        output = await call.run()
        what = f"output of {flow.flow_type}.{rpc.method}"
        return None if output is None else decode(output, rpc.output_type, what)


def _flow_of(engine: Engine, rpc_method: Any, record: RunRecord) -> RegisteredFlow:
    """Give the code of a run's Flow; a bound method brings it along."""
    owner = getattr(rpc_method, "__self__", None)
    if isinstance(owner, Flow):
        flow_type = owner.get_flow_type()
        if flow_type != record.flow_type:
            raise DefinitionError(
                f"{record.flow_id} is a run of {record.flow_type}, and {rpc_method.__name__} is an "
                f"RPC of {flow_type}: call one of {record.flow_type}"
            )
        if engine.registry.get(flow_type) is None:
            engine.register(owner)
    flow = engine.registry.get(record.flow_type)
    if flow is None:
        raise DefinitionError(
            f"no Flow named {record.flow_type} is registered here: register its code, or call the "
            "method of an instance"
        )
    return flow


class RpcCall:
    """One call of an RPC.

    Args:
        engine: Where the run is.
        record: The run.
        flow: Its code.
        rpc: What is called.
        plan: What the call locks and loads.
        input: Encoded.
    """

    def __init__(
        self,
        engine: Engine,
        record: RunRecord,
        flow: RegisteredFlow,
        rpc: RegisteredRpc,
        plan: RpcPlan,
        input: Any,
    ) -> None:
        """Prepare."""
        self._engine = engine
        self._run_id = record.run_id
        self._flow = flow
        self._rpc = rpc
        self._plan = plan
        self._input = input
        self._who = f"RPC {flow.flow_type}.{rpc.method} of {record.flow_id}"
        self._began_at = engine.provider.clock.lease()

    async def run(self) -> Any:
        """Make the call within its timeout; give the encoded output."""
        limit: asyncio.Timeout | None = None
        try:
            async with self._engine.calls.within(self._rpc.timeout) as limit:
                for attempt in range(1, TRIES + 1):
                    if attempt > 1:
                        await _pause(attempt)
                    outcome = await self._try(attempt, uuid.uuid4().hex)
                    if outcome is not None:
                        return outcome.output
        except TimeoutError:
            # One of the method's own is the caller's.
            if limit is None or not limit.expired():
                raise
            raise RequestTimeoutError(
                f"{self._who} was not done after its timeout of {self._rpc.timeout:g} s and has "
                "changed nothing, unless its commit was under way"
            ) from None
        raise RpcLockConflictError(
            f"{self._who} is transactional, and the run changed under each of its {TRIES} tries: "
            "call again, or let it and the Steps that write lock the same Attributes instead"
        )

    async def _try(self, attempt: int, request_id: str) -> RpcOutcome | None:
        """Run the method once; None if the run changed under it."""
        if not self._plan.locks:
            return await self._apply(attempt, request_id)
        try:
            lease = await self._lock(request_id)
            return await self._apply(attempt, request_id, lease)
        except BaseException as error:
            given_up = isinstance(error, asyncio.CancelledError) and _is_cancelled()
            reason = GIVEN_UP if given_up else f"failed with {type(error).__name__}"
            await asyncio.shield(self._unlock(RpcExpired(request_id, reason)))
            raise

    async def _lock(self, request_id: str) -> RpcLease:
        record = await self._record()
        locks, timeout = self._plan.locks, self._rpc.timeout
        lease = RpcLease(self._engine, self._run_id, request_id, locks, timeout, self._answer)
        await self._engine.send(self._run_id, lease.asks)
        event = await self._answer(record, request_id, "rpc_started")
        if event.kind == "rpc_refused":
            fix = "call again when the other is done"
            raise RpcLockConflictError(f"{self._who}: {event.payload['reason']}; {fix}")
        return lease

    async def _unlock(self, message: RpcExpired) -> None:
        sent, provider = NewMessage(self._run_id, encode_message(message)), self._engine.provider
        # A run that has ended holds no locks for anybody. Past the engine, which may be stopping.
        with contextlib.suppress(DexnbError):
            await patiently(lambda: provider.enqueue_for_orchestrator(sent))

    async def _apply(
        self, attempt: int, request_id: str, lease: RpcLease | None = None
    ) -> RpcOutcome | None:
        record = await self._record()
        if self._rpc.is_transactional and attempt > OUTRUN:
            with self._engine.orchestrator.visits.open(request_id) as visit:
                return await self._visit(visit, record, attempt, request_id, lease)
        state = RunState.from_text(record.state)
        outcome, done = await self._call(state, attempt, request_id, lease)
        if done is None:
            return outcome
        await self._engine.send(self._run_id, done)
        return self._outcome(outcome, await self._answer(record, request_id, "rpc_completed"))

    async def _visit(
        self,
        visit: Visit,
        record: RunRecord,
        attempt: int,
        request_id: str,
        lease: RpcLease | None,
    ) -> RpcOutcome | None:
        """Run the method while its run stands still; None if nobody let it in, or it took long."""
        answer = asyncio.create_task(self._answer(record, request_id, "rpc_completed"))
        try:
            await self._engine.send(self._run_id, RpcVisit(request_id))
            either: list[asyncio.Future[Any]] = [answer, visit.state]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not visit.state.done():
                # Another engine had that turn, or the run has ended.
                await answer
                return None
            outcome, done = await self._call(visit.state.result(), attempt, request_id, lease)
            visit.end(done)
            return outcome if done is None else self._outcome(outcome, await answer)
        finally:
            answer.cancel()
            await asyncio.gather(answer, return_exceptions=True)

    async def _call(
        self, state: RunState, attempt: int, request_id: str, lease: RpcLease | None
    ) -> tuple[RpcOutcome, RpcDone | None]:
        """Run the method; give what it says, and what the run is told if that must change."""
        snapshot = snapshot_of(state, self._plan.loads)
        data = FlowData(self._flow.persistence, snapshot, in_step=False)
        context = RpcContext(state, data, attempt, self._began_at)
        method = getattr(self._flow.flow, self._rpc.method)
        try:
            async with contextlib.nullcontext() if lease is None else lease.kept():
                result = await run_handler(
                    self._engine, method, self._rpc.mode, context, self._arguments()
                )
        finally:
            context.end()
        outcome = map_rpc_result(result, self._rpc, self._flow)
        version = state.events if lease is None else lease.version_after(state.events)
        return outcome, self._done(state, request_id, outcome, data.writes(), version)

    def _done(
        self,
        state: RunState,
        request_id: str,
        outcome: RpcOutcome,
        writes: dict[str, Any],
        version: int,
    ) -> RpcDone | None:
        locked, transactional = bool(self._plan.locks), self._rpc.is_transactional
        if transactional:
            _check_removed(state, writes, self._who)
        if not (locked or writes or outcome.movements or outcome.canceling_steps):
            # What only reads leaves no trace, so that asking often costs no history.
            return None
        return RpcDone(
            request_id,
            self._rpc.name,
            writes,
            outcome.movements,
            list(outcome.canceling_steps),
            locked=locked,
            version=version if transactional else None,
        )

    def _outcome(self, outcome: RpcOutcome, event: Event) -> RpcOutcome | None:
        """Give what the method said if it counts, and None if the run has changed under it."""
        if event.kind == "rpc_completed":
            return outcome
        if self._rpc.is_transactional and event.payload["reason"].startswith("changed"):
            return None
        raise RequestTimeoutError(f"{self._who}: {event.payload['reason']}; nothing was changed")

    def _arguments(self) -> tuple[Any, ...]:
        if not self._rpc.takes_input:
            return ()
        what = f"input of {self._flow.flow_type}.{self._rpc.method}"
        return (decode(self._input, self._rpc.input_type, what),)

    async def _record(self) -> RunRecord:
        record = await self._engine.record(run_id=self._run_id)
        if record is None:
            raise FlowNotActiveOrNotFoundError(f"{self._who}: the run is not in the store any more")
        check_active(record)
        return record

    async def _answer(self, record: RunRecord, request_id: str, kind: str) -> Event:
        def fits(event: Event) -> bool:
            wanted = event.kind in (kind, "rpc_refused")
            return wanted and event.payload["request_id"] == request_id

        return await answer(self._engine, record, fits)


async def _pause(attempt: int) -> None:
    """Let a burst of changes pass, each time for longer and never in step with another call."""
    longest = PAUSE * 2.0 ** (attempt - 2)
    await asyncio.sleep(random.uniform(longest / 2, longest))


def _is_cancelled() -> bool:
    """Tell whether this task is cancelled; a method may raise CancelledError by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _check_removed(state: RunState, writes: dict[str, Any], who: str) -> None:
    """Refuse a transaction that deletes what is not there."""
    for channel, message_id in writes.get("removed", ()):
        if all(each != message_id for each, _ in state.channels.get(channel, ())):
            raise ChannelMessageNotFoundError(
                f"{who}: Channel {channel} has no pending message {message_id}"
            )
