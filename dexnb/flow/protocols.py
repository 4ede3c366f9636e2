"""What every runtime gives, embedded or distant, to the code that starts and watches Flows."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import timedelta
from typing import Any, Protocol

from dexnb.flow.flow import Flow
from dexnb.flow.start_options import StartFlowOptions
from dexnb.flow.stream import Stream, StreamMessage
from dexnb.model.event import Event
from dexnb.model.message import StopKind
from dexnb.model.run_state import RunState


class RunProtocol(Protocol):
    """One run of a Flow, seen from a notebook or a script."""

    @property
    def flow_id(self) -> str:
        """The Flow's id."""

    @property
    def run_id(self) -> str:
        """This run of it."""

    @property
    def status(self) -> str:
        """RUNNING, COMPLETED, FAILED, CANCELED or TERMINATED."""

    def state(self) -> RunState:
        """Give what the history adds up to."""

    def events(self, after: int = 0) -> Sequence[Event]:
        """Give the log: durable events and telemetry in one order."""

    def stream(self, stream: Stream[Any] | str, after: str = "") -> Sequence[StreamMessage]:
        """Give kept Stream messages in order, behind a resume token."""

    def attribute(self, attribute: Any, instance: str = "") -> Any:
        """Give what an Attribute, or an instance of a map, holds now."""

    def publish(self, channel: Any, value: Any, instance: str = "") -> None:
        """Put a message into a Channel, or into an instance of a map."""

    def rpc(self, rpc_method: Any, input: Any = None) -> Any:
        """Call an RPC of the run; give its output."""

    def wait(self, timeout: float | timedelta | None = None) -> Awaitable[Any]:
        """Wait until the run has ended; await it in a cell or on any loop."""

    def wait_sync(self, timeout: float | timedelta | None = None) -> Any:
        """Wait until the run has ended; for scripts."""

    def stop(self, kind: StopKind = "CANCEL", reason: str = "") -> None:
        """End the run."""


class RuntimeProtocol(Protocol):
    """Something that runs Flows."""

    def register(self, *flows: Flow[Any]) -> None:
        """Make Flows' code known, so that their open runs go on."""

    def start(
        self,
        flow: Flow[Any],
        flow_id: str,
        input: Any = None,
        *,
        options: StartFlowOptions | None = None,
    ) -> RunProtocol:
        """Start a run, or attach to the open one of that flow id."""

    def close(self) -> None:
        """Stop in order; open runs go on when the store is opened again."""
