"""`Attempt`: one run of a Step method, and everything its threads and timers share about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from dexnb.errors import DocumentError
from dexnb.flow.flow import Flow
from dexnb.flow.handler import Handler
from dexnb.flow.registry import RegisteredFlow, RegisteredStep
from dexnb.flow.stream import Stream
from dexnb.model.decision import Failure, failure_from
from dexnb.model.json_text import from_text
from dexnb.model.message import Method
from dexnb.model.settings import RetrySettings, StepSettings
from dexnb.providers import StreamWrite, WorkItem

if TYPE_CHECKING:
    from dexnb.engine.outbox import Outbox
    from dexnb.engine.overrides import Binding
    from dexnb.engine.step_context import StepContext
    from dexnb.engine.telemetry import Telemetry

LONGEST_VALUE = 16_000
"""Letters of a checkpoint or a message that the telemetry keeps."""

EndKind = Literal["ended", "failed", "lost", "cancelled", "handed_back"]


@dataclass(frozen=True, slots=True)
class Closing:
    """Why an attempt is closed.

    Args:
        kind: `ended` by its Step, `failed` by a deadline, `lost` its lease, `cancelled` by a turn,
            or `handed_back` because the engine stops.
        failure: The error, for `failed`.
        retryable: Whether another attempt could help, for `failed`.
    """

    kind: EndKind
    failure: Failure | None = None
    retryable: bool = True


@dataclass(frozen=True, slots=True)
class Payload:
    """What a work item carries for its attempts, decoded; see `snapshot.payload_of`."""

    input: Any
    options: StepSettings | None
    from_step_execution_id: str
    recovery_error: Failure | None
    overrides: dict[str, Any]
    last_error: Failure | None
    method: Method = "execute"
    snapshot: dict[str, Any] = field(default_factory=dict)
    results: dict[str, Any] | None = None
    local_values: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    overrides_at: dict[str, int] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> Payload:
        """Read a work item's payload.

        Raises:
            DocumentError: The text is no payload: the item is poison.
        """
        document = from_text(text, "work item")
        try:
            options = document["options"]
            return cls(
                **{
                    **document,
                    "options": options and StepSettings.from_json(options),
                    "recovery_error": failure_from(document["recovery_error"]),
                    "last_error": failure_from(document["last_error"]),
                }
            )
        except (KeyError, TypeError, AttributeError) as error:
            message = f"work item cannot be read: {type(error).__name__} {error}"
            raise DocumentError(message) from error

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form that a work item carries."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Links:
    """What attempts reach of their engine, from any thread."""

    tick: Callable[[], float]
    wall: Callable[[], float]
    flow_of: Callable[[Flow[Any]], RegisteredFlow]
    telemetry: Telemetry
    outbox: Outbox
    observed: Callable[[Attempt, Any, dict[str, Any]], None] = lambda *_: None


class Attempt:
    """One run of a Step method.

    Beats and Stream writes come from the Step's thread; deadlines and the end from the control
    loop. `close` is the fence between them: what comes later is refused and logged.
    """

    def __init__(
        self,
        work: WorkItem,
        payload: Payload,
        flow: RegisteredFlow,
        step: RegisteredStep,
        links: Links,
    ) -> None:
        """Take over the newest checkpoint that earlier attempts left."""
        self.work = work
        self.item = work.item
        self.payload = payload
        self.flow = flow
        self.step = step
        self.settings = payload.options or step.settings
        self.links = links
        self.checkpoint = work.item.checkpoint
        self.context: StepContext | None = None
        self.started: float | None = None
        self.last_sign = 0.0
        self.closing: Closing | None = None
        self.ended = False
        self.settled = False
        self.streamed = False
        self.late_writes = 0
        self.timer: asyncio.TimerHandle | None = None
        self.binding: Binding | None = None
        self.turned = False

    @property
    def who(self) -> str:
        """Name the attempt for people."""
        item = self.item
        return f"{item.flow_type}.{item.step_execution_id} of {item.flow_id}"

    @property
    def names(self) -> dict[str, Any]:
        """Name the attempt for structured logs."""
        item = self.item
        return {
            "flow": item.flow_id,
            "flow_type": item.flow_type,
            "run": item.run_id,
            "step": item.step_execution_id,
            "attempt": item.attempt,
        }

    @property
    def method(self) -> Callable[..., Any]:
        """Give the Step's method that it runs."""
        method: Callable[..., Any] = getattr(self.step.step, self.payload.method)
        return method

    @property
    def handler(self) -> Handler:
        """Give what is known of that method."""
        waiting = self.step.wait_for
        return waiting if waiting and self.payload.method == "wait_for" else self.step.handler

    @property
    def method_timeout(self) -> float:
        """Give the seconds that its method may run."""
        settings = self.settings
        if self.payload.method == "wait_for":
            return settings.wait_for_method_timeout
        return settings.execute_method_timeout

    @property
    def retry(self) -> RetrySettings:
        """Give when its method is tried again."""
        settings = self.settings
        return settings.wait_for_retry if self.payload.method == "wait_for" else settings.retry

    @property
    def durable(self) -> bool:
        """Tell whether its acknowledgement waits for the disk."""
        payload = self.payload
        waits = payload.method == "wait_for"
        return self.settings.durability_under(payload.config, waits=waits) == "SYNC"

    @property
    def limits(self) -> dict[str, Any]:
        """Give what the attempt runs under, as the views show it."""
        return {
            "execute_method_timeout": self.method_timeout,
            "heartbeat_timeout": self.settings.heartbeat_timeout,
            "maximum_attempts": self.retry.maximum_attempts,
            "total_duration": self.retry.total_duration,
        }

    @property
    def token(self) -> str:
        """Give the lock token that fences it."""
        return self.work.token

    def begin(self) -> None:
        """Start the method's and the heartbeat's clocks: the Step starts now."""
        self.started = self.last_sign = self.links.tick()

    def close(self, closing: Closing) -> None:
        """Fence the attempt; the first reason stands."""
        if self.closing is None:
            self.closing = closing

    def beat(self, checkpoint: str | None) -> None:
        """Record a sign of life and the new checkpoint; None clears it.

        Raises:
            asyncio.CancelledError: The attempt is closed.
        """
        self._refuse_late("heartbeat")
        self.last_sign = self.links.tick()
        shown = _shown(checkpoint or "")
        payload = {"checkpoint": shown or None, "cleared": checkpoint is None}
        self.record("heartbeat", payload, len(shown))
        if checkpoint != self.checkpoint:
            self.checkpoint = checkpoint
            self.links.outbox.beat(self.token, checkpoint)

    def write_stream(self, stream: Stream[Any], text: str) -> None:
        """Record a sign of life and send a Stream message.

        Raises:
            asyncio.CancelledError: The attempt is closed.
        """
        self._refuse_late(f"Stream {stream.name}")
        self.last_sign = self.links.tick()
        self.streamed = True
        item = self.item
        shown = _shown(text)
        self.record("stream_message", {"stream": stream.name, "value": shown}, len(shown))
        self.links.outbox.message(
            StreamWrite(
                flow_type=item.flow_type,
                stream=stream.name,
                flow_id=item.flow_id,
                run_id=item.run_id,
                source=f"#{item.step_execution_id}",
                payload=text,
                wall=self.links.wall(),
                capacity=stream.stream_capacity_bytes,
                token=self.token,
            )
        )

    def record(self, kind: Any, payload: dict[str, Any], size: int = 0) -> None:
        """Keep a telemetry entry of this attempt."""
        item = self.item
        self.links.telemetry.record(
            item.run_id, item.flow_id, kind, item.step_execution_id, item.attempt, payload, size
        )
        self.links.observed(self, kind, payload)

    def note_late(self, what: str) -> None:
        """Tell, once for an attempt, that it wrote something behind its end."""
        self.late_writes += 1
        if self.late_writes == 1 and self.closing is not None:
            self.record("late_write", {"what": what, "reason": self.closing.kind})

    def _refuse_late(self, what: str) -> None:
        if self.closing is None:
            return
        self.note_late(what)
        message = f"{self.who}: the attempt is over ({self.closing.kind}); {what} is refused"
        raise asyncio.CancelledError(message)


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
