"""`Run`: a run as plain code and cells handle it, in a session."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from dexnb.engine.run import AsyncRun
from dexnb.flow.result import FlowResult
from dexnb.flow.rpc import RPCInvokeOptions
from dexnb.flow.stream import Stream, StreamMessage
from dexnb.model.budget import MARGIN
from dexnb.model.event import Event
from dexnb.model.message import StopKind
from dexnb.model.run_state import RunState

if TYPE_CHECKING:
    from dexnb.engine.session import Session

T = TypeVar("T")


class Run:
    """One run of a Flow in a session."""

    def __init__(self, session: Session, run: AsyncRun) -> None:
        """Handle a run that exists."""
        self._session = session
        self._run = run

    def __repr__(self) -> str:
        """Name the Flow and its id: the same in every session."""
        return repr(self._run)

    @property
    def flow_id(self) -> str:
        """The Flow's id."""
        return self._run.flow_id

    @property
    def run_id(self) -> str:
        """This run of it."""
        return self._run.run_id

    @property
    def status(self) -> str:
        """RUNNING, COMPLETED, FAILED, CANCELED or TERMINATED."""
        return self._call(self._run.status())

    @property
    def waiting_for_code(self) -> str:
        """Which code the run waits for; empty when it has all."""
        return self._call(self._run.waiting_for_code())

    @property
    def result(self) -> FlowResult | None:
        """How the run ended; None while it runs."""
        return self._call(self._run.result())

    def state(self) -> RunState:
        """Give what the run's history adds up to."""
        return self._call(self._run.state())

    def events(self, after: int = 0) -> Sequence[Event]:
        """Give the run's log: durable events behind `after`, and all telemetry that is kept.

        Durable kinds: flow_started, step_scheduled, delay_over, locks_taken, wait_started,
        timer_fired, subflow_changed, wait_ended, wait_failed, step_completed, step_failed,
        step_cancelled, channel_published, rpc_started, rpc_completed, rpc_refused, parent_added,
        config_changed, flow_timed_out, time_travelled, stop_requested, knobs_changed, flow_closed.
        Kinds of telemetry: attempt_started, attempt_ended, limits_changed, retry_scheduled,
        round_call, round_sleep, heartbeat, stream_message, late_write, lock_renewed,
        dispatcher_cycle, stall, suspended, clock_stepped, engine_error, log.
        """
        return self._call(self._run.events(after))

    def stream(self, stream: Stream[Any] | str, after: str = "") -> Sequence[StreamMessage]:
        """Give kept messages in order, behind the resume token `after`.

        Raises:
            DefinitionError: The Flow is registered here and has no Stream of that name.
        """
        return self._call(self._run.stream(stream, after))

    def set_knob(self, name: str, value: Any, *, margin: float = MARGIN) -> float:
        """Turn a knob of the run while it is open; a sleep that is too long by then ends.

        Args:
            name: A constant's name, or `StepType.option`.
            value: Seconds, or a whole number for counts.
            margin: Seconds that a round leaves free before the heartbeat deadline.

        Raises:
            DefinitionError: There is no such knob, the value breaks the window rule, or the run has
                ended; the old value stays.
        """
        return self._call(self._run.set_knob(name, value, margin=margin))

    def attribute(self, attribute: Any, instance: str = "") -> Any:
        """Give what an Attribute, or an instance of a map, holds now.

        Args:
            attribute: The Attribute or AttributeMap, or its name.
            instance: Of an AttributeMap.

        Raises:
            DefinitionError: The Flow does not list it, or the instance does not fit.
            ValueMappingError: What is kept is of another type.
        """
        return self._call(self._run.attribute(attribute, instance))

    def publish(self, channel: Any, value: Any, instance: str = "") -> None:
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
        self._call(self._run.publish(channel, value, instance))

    def rpc(
        self, rpc_method: Any, input: Any = None, *, options: RPCInvokeOptions | None = None
    ) -> Any:
        """Call an RPC of the run, by its method or its name; give its output.

        Raises:
            DexnbError: As `AsyncClient.invoke_rpc`.
            Exception: Whatever the method raises; nothing is written then.
        """
        return self._call(self._run.rpc(rpc_method, input, options=options))

    def stop(self, kind: StopKind = "CANCEL", reason: str = "") -> None:
        """End the run: CANCEL and TERMINATE stop it, FAIL fails it with the reason."""
        self._call(self._run.stop(kind, reason))

    async def wait(self, timeout: float | timedelta | None = None) -> FlowResult:
        """Wait until the run has ended, on any loop. Interrupting leaves the run alone.

        Raises:
            WaitTimeout: It runs on after `timeout` seconds of the session's clock.
            RuntimeClosed: The session was closed meanwhile.
        """
        try:
            return await self._session.wait(self._run.wait(timeout))
        except asyncio.CancelledError:
            # Anew, so that an interrupted cell shows these few lines and not the loop's.
            message = f"the wait was interrupted; {self.flow_id} runs on"
            raise asyncio.CancelledError(message) from None

    def wait_sync(self, timeout: float | timedelta | None = None) -> FlowResult:
        """Wait until the run has ended; for scripts. Interrupting leaves the run alone.

        Raises:
            WaitTimeout: It runs on after `timeout` seconds of the session's clock.
            RuntimeClosed: The session was closed meanwhile.
        """
        return self._call(self._run.wait(timeout))

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._session.call(coroutine)
