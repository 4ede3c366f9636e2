"""`AsyncRun`: a run as code on the engine's own loop handles it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from dexnb.clock import seconds_of
from dexnb.engine.engine import Engine
from dexnb.engine.knob_change import set_knob
from dexnb.engine.limit import LOOK_SECONDS
from dexnb.engine.lock_waits import lock_waits
from dexnb.engine.result import result_of
from dexnb.engine.rpc_call import invoke_rpc
from dexnb.engine.run_data import attribute_value, publish
from dexnb.engine.stream_calls import position_of
from dexnb.errors import DefinitionError, ProviderError, RunNotFound, WaitTimeout
from dexnb.flow.definition import Definition
from dexnb.flow.persistence import Persistence
from dexnb.flow.physical import definition_of
from dexnb.flow.result import FlowResult
from dexnb.flow.rpc import RPCInvokeOptions
from dexnb.flow.stream import Stream, StreamMessage, natural_value
from dexnb.flow.timeout_step import SYSTEM_PREFIX
from dexnb.model.arguments import of_type, one_of, whole
from dexnb.model.budget import MARGIN
from dexnb.model.decision import plan_fields
from dexnb.model.event import Event, merge
from dexnb.model.json_text import from_text
from dexnb.model.message import Stop, StopKind
from dexnb.model.run_state import RunState
from dexnb.model.shown import shown
from dexnb.model.step_execution import StepExecution
from dexnb.providers import RunRecord

STOP_KINDS = ("CANCEL", "TERMINATE", "FAIL")


class AsyncRun:
    """One run of a Flow; every method is awaited.

    Args:
        engine: Where it runs, or is watched from.
        flow_id: The Flow's id.
        run_id: The run.
        flow_type: The Flow's registered name.
    """

    def __init__(self, engine: Engine, flow_id: str, run_id: str, flow_type: str) -> None:
        """Handle a run that exists."""
        self._engine = engine
        self.flow_id = flow_id
        self.run_id = run_id
        self.flow_type = flow_type

    def __repr__(self) -> str:
        """Name the Flow and its id: the same in every session."""
        return f"<Run {self.flow_type} {self.flow_id}>"

    async def state(self) -> RunState:
        """Give what the run's history adds up to."""
        return RunState.from_text((await self._record()).state)

    async def _record(self) -> RunRecord:
        record = await self._engine.record(run_id=self.run_id)
        if record is None:
            message = f"run {self.run_id} of {self.flow_id} is not in the store any more"
            raise RunNotFound(message)
        return record

    async def status(self) -> str:
        """Give RUNNING, COMPLETED, FAILED, CANCELED or TERMINATED."""
        return (await self.state()).status

    async def waiting_for_code(self) -> str:
        """Say which code the run waits for, or give an empty text."""
        state = await self.state()
        return missing_code(state, self._engine)

    async def result(self) -> FlowResult | None:
        """Give how the run ended, or None while it runs."""
        state = await self.state()
        return result_of(state, self._engine.registry.codecs) if state.closed else None

    async def wait(self, timeout: float | timedelta | None = None) -> FlowResult:
        """Wait until the run has ended. Ending the wait leaves the run alone.

        Raises:
            WaitTimeout: It runs on after `timeout` seconds.
        """
        if timeout is None:
            ended = await self._engine.wait_closed(self.run_id)
            return result_of(ended, self._engine.registry.codecs)
        seconds = seconds_of(timeout, name="wait timeout")
        try:
            async with asyncio.timeout(seconds):
                ended = await self._engine.wait_closed(self.run_id)
        except TimeoutError:
            message = f"{self.flow_id} runs on after {seconds:g} s of the runtime's clock"
            raise WaitTimeout(f"{message}{await self._why()}; it was left alone") from None
        return result_of(ended, self._engine.registry.codecs)

    async def _why(self) -> str:
        """Say why a run may not have ended yet, or nothing; soon, whatever the store does."""
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                state = await self.state()
        except (TimeoutError, ProviderError):
            return ", as far as is known, for the store does not answer"
        locks = lock_waits(state)
        return f"{self._last_failure(state)}{locks and f'; {locks}'}"

    def _last_failure(self, state: RunState) -> str:
        """Say how an attempt of this engine failed last of which the Step goes on, or nothing."""
        open_steps = set(state.active)
        for event in reversed(self._engine.telemetry.events(self.run_id)):
            if event.kind != "attempt_ended" or event.step_execution_id not in open_steps:
                continue
            # Only its newest attempt counts: after a good one nothing is wrong any more.
            open_steps.remove(event.step_execution_id)
            failure = event.payload.get("failure")
            if failure is not None:
                error = f"{failure['error_type']}: {failure['detail']}"
                return f"; attempt {event.attempt} of {event.step_execution_id} failed with {error}"
        return ""

    async def events(self, after: int = 0) -> Sequence[Event]:
        """Give the run's log: durable events behind `after`, and all telemetry that is kept."""
        whole(after, "after")
        engine = self._engine
        durable = await engine.ask(lambda: engine.provider.read_events(self.run_id, after))
        in_memory = engine.telemetry.events(self.run_id)
        first = in_memory[0].seq if in_memory else None
        stored = [
            Event.from_json(from_text(line, "telemetry"))
            for chunk in await engine.ask(lambda: engine.provider.read_telemetry(self.run_id))
            if first is None or chunk.first_seq < first
            for line in chunk.text.split("\n")
        ]
        older = [event for event in stored if first is None or event.seq < first]
        return merge(durable, [*older, *in_memory])

    async def stream(self, stream: Stream[Any] | str, after: str = "") -> Sequence[StreamMessage]:
        """Give kept messages in order, behind the resume token `after`.

        With a Stream the values are of its type, with a name they are in their natural form.

        Raises:
            DefinitionError: The Flow is registered here and has no Stream of that name.
        """
        if not isinstance(stream, str):
            of_type(stream, Stream, "stream", "a Stream or its name")
        name = stream if isinstance(stream, str) else stream.name
        position, provider = position_of(after, "resume token"), self._engine.provider
        records = await self._engine.ask(
            lambda: provider.read_stream(self.flow_type, name, flow_id=self.flow_id, after=position)
        )
        self._check_stream(name)
        read = natural_value if isinstance(stream, str) else stream.decode
        with self._engine.registry.codecs.used():
            return tuple(
                StreamMessage(
                    read(record.payload), str(record.position), record.wall, record.source
                )
                for record in records
                if record.run_id == self.run_id
            )

    def _check_stream(self, name: str) -> None:
        flow = self._engine.registry.get(self.flow_type)
        if flow is not None and name not in flow.streams:
            known = ", ".join(sorted(flow.streams)) or "none"
            message = f"{self.flow_type} has no Stream {shown(name)}; its Streams: {known}"
            raise DefinitionError(message)

    async def set_knob(self, name: str, value: Any, *, margin: float = MARGIN) -> float:
        """Turn a knob of the run while it is open; a sleep that is too long by then ends.

        Args:
            name: A constant's name, or `StepType.option`.
            value: Seconds, or a whole number for counts.
            margin: Seconds that a round leaves free before the heartbeat deadline.

        Raises:
            DefinitionError: There is no such knob, the value breaks the window rule, or the run has
                ended; the old value stays.
        """
        return await set_knob(self._engine, self.run_id, name, value, margin=margin)

    async def attribute(self, attribute: Any, instance: str = "") -> Any:
        """Give what an Attribute, or an instance of a map, holds now.

        Args:
            attribute: The Attribute or AttributeMap, or its name.
            instance: Of an AttributeMap.

        Raises:
            DefinitionError: The Flow does not list it, or the instance does not fit.
            ValueMappingError: What is kept is of another type.
        """
        return attribute_value(self._engine, await self._record(), attribute, instance)

    async def publish(self, channel: Any, value: Any, instance: str = "") -> None:
        """Put a message into a Channel; returns once it is in the history.

        Args:
            channel: The Channel or ChannelMap, or its name.
            value: The message.
            instance: Of a ChannelMap.

        Raises:
            FlowNotActiveOrNotFoundError: The run has ended.
            DefinitionError: The Flow does not list the Channel, or the instance does not fit.
            ValueMappingError: The value is of another type or cannot be stored.
        """
        await publish(self._engine, await self._record(), channel, value, instance)

    async def rpc(
        self, rpc_method: Any, input: Any = None, *, options: RPCInvokeOptions | None = None
    ) -> Any:
        """Call an RPC of the run, by its method or its name; give its output.

        Raises:
            DexnbError: As `AsyncClient.invoke_rpc`.
            Exception: Whatever the method raises; nothing is written then.
        """
        return await invoke_rpc(
            self._engine, rpc_method, self.flow_id, input, run_id=self.run_id, options=options
        )

    async def stop(self, kind: StopKind = "CANCEL", reason: str = "") -> None:
        """End the run: CANCEL and TERMINATE stop it, FAIL fails it with the reason."""
        one_of(kind, STOP_KINDS, "stop kind")
        of_type(reason, str, "stop reason", "a text")
        await self._engine.send(self.run_id, Stop(kind, reason))


def missing_code(state: RunState, engine: Engine) -> str:
    """Say what of a run no registered code has: a Step, or what one waits for; or nothing."""
    flow = engine.registry.get(state.flow_type)
    for key, step in state.active.items():
        step_type = step.movement.step_type
        if flow is None:
            return f"waits for code: no Flow named {state.flow_type} is registered in this process"
        if step_type not in flow.steps:
            own = (name for name in flow.steps if not name.startswith(SYSTEM_PREFIX))
            names = ", ".join(sorted(own))
            return f"waits for code: no Step named {step_type}; registered: {names}"
        unlisted = _unlisted(step, flow.persistence)
        if unlisted:
            return f"waits for code: {key} {unlisted}; list it in get_persistence_schema()"
    return ""


def _unlisted(step: StepExecution, kept: Persistence) -> str:
    """Say what a Step that does not run yet waits for or locks, and its Flow does not list."""
    for verb, part, physical in _needs(step):
        listed: Mapping[str, Definition[Any]] = getattr(kept, part)
        noun = part.removesuffix("s").title()
        kind = f"{noun}Map" if "/" in physical else noun
        known = listed.get(definition_of(physical))
        if known is None or known.kind != kind:
            names = ", ".join(sorted(listed)) or "none"
            how = "not listed" if known is None else f"listed as {known.kind}"
            flow = f"by Flow {kept.flow_type}; its {noun}s: {names}"
            return f"{verb} {kind} {physical}, which is {how} {flow}"
    return ""


def _needs(step: StepExecution) -> Iterator[tuple[str, str, str]]:
    if step.phase == "running":
        return
    if step.phase == "waiting" and step.wait is not None:
        for condition in step.wait["conditions"]:
            if condition["kind"] == "channel":
                yield "waits for", "channels", condition["channel"]
    for method in ("wait_for", "execute") if step.method == "wait_for" else ("execute",):
        for attribute in plan_fields(step.movement.plan, method)[0]:
            yield "locks", "attributes", attribute
