"""What passes between an engine and a store: items, commits, records. Plain frozen values.

Stores treat every `text` and `payload` as opaque: they never look inside.
"""

from __future__ import annotations

from dataclasses import dataclass

from dexnb.model.event import Event


@dataclass(frozen=True, slots=True)
class NewWorkItem:
    """One attempt of a Step, to be put into the work queue.

    Args:
        run_id: The run that it belongs to.
        flow_id: The Flow's id.
        flow_type: The Flow's registered name.
        step_type: The Step's registered name.
        step_execution_id: `StepType-N`; unique within the run among live items.
        payload: JSON text for the engine (input, options and what a retry carries).
        attempt: The attempt's number if it is delivered once; a redelivery raises it by one.
        checkpoint: JSON text of the newest heartbeat's value, or None for none.
        first_attempt_at: Store time of the Step's first delivery, or None before it.
        visible_at: Store time from which it may be fetched; 0 means at once.
    """

    run_id: str
    flow_id: str
    flow_type: str
    step_type: str
    step_execution_id: str
    payload: str
    attempt: int = 1
    checkpoint: str | None = None
    first_attempt_at: float | None = None
    visible_at: float = 0.0

    @property
    def handler(self) -> str:
        """Name the code that runs it: `FlowType/StepType` (types hold no slash)."""
        return f"{self.flow_type}/{self.step_type}"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A fetched, locked work item.

    Args:
        token: The lock token that fences everything this attempt writes.
        item: What was enqueued, with `attempt`, `checkpoint` and `first_attempt_at` as of now:
            `attempt` counts this delivery, `first_attempt_at` is never None.
        deliveries: How often it was delivered, hand-backs not counted; from 1.
    """

    token: str
    item: NewWorkItem
    deliveries: int


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to a run, visible to turns from `visible_at` (store time, 0 = at once)."""

    run_id: str
    text: str
    visible_at: float = 0.0


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message as a turn gets it; `attempt_count` counts its deliveries from 1."""

    text: str
    attempt_count: int


@dataclass(frozen=True, slots=True)
class OrchestrationItem:
    """A run with new messages, locked for one turn.

    Args:
        token: The lock token of the run.
        run_id: The run.
        flow_id: The Flow's id.
        flow_type: The Flow's registered name.
        state: The stored text of its RunState.
        version: How many durable events the run has.
        messages: All messages that were visible at the fetch, oldest first.
    """

    token: str
    run_id: str
    flow_id: str
    flow_type: str
    state: str
    version: int
    messages: tuple[QueuedMessage, ...]

    @property
    def attempt_count(self) -> int:
        """Give the highest delivery count among the messages."""
        return max((message.attempt_count for message in self.messages), default=0)


@dataclass(frozen=True, slots=True)
class Commit:
    """What one turn writes, applied all or not at all.

    Args:
        run_id: The run.
        flow_id: The Flow's id.
        flow_type: The Flow's registered name.
        state: The new text of its RunState.
        status: RunState's status, for look-ups.
        events: New durable events; their `seq` go on from the run's version without a gap.
        work_items: Attempts to enqueue; inserted before `cancelled` is applied.
        cancelled: Step execution ids whose work items are deleted, locked ones too: their
            holder learns it by its next renewal or write.
        messages: Messages to runs, this one too.
    """

    run_id: str
    flow_id: str
    flow_type: str
    state: str
    status: str
    events: tuple[Event, ...] = ()
    work_items: tuple[NewWorkItem, ...] = ()
    cancelled: tuple[str, ...] = ()
    messages: tuple[NewMessage, ...] = ()

    @property
    def closes(self) -> bool:
        """Tell whether the run has ended with this turn: its queues are emptied then."""
        return self.status != "RUNNING"


@dataclass(frozen=True, slots=True)
class Started:
    """The answer to a start: the run under that flow id, and whether this call made it."""

    run_id: str
    created: bool


@dataclass(frozen=True, slots=True)
class Beat:
    """A checkpoint to record under a lock token; None clears it."""

    token: str
    checkpoint: str | None


@dataclass(frozen=True, slots=True)
class StreamWrite:
    """A Stream message to append, best effort.

    Args:
        flow_type: With `stream` the owner of the byte budget, shared by all runs.
        stream: The Stream's name.
        flow_id: Whose message it is.
        run_id: Of which run.
        source: `#StepType-N` for a Step's message, or the client's own word.
        payload: JSON text of the value.
        wall: Wall-clock stamp.
        capacity: The Stream's byte budget.
        token: The attempt's lock token: the message is refused when it is not live. None for
            a client's write.
    """

    flow_type: str
    stream: str
    flow_id: str
    run_id: str
    source: str
    payload: str
    wall: float
    capacity: int
    token: str | None = None


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """A kept Stream message; `position` grows by one for each message of the store."""

    position: int
    flow_type: str
    stream: str
    flow_id: str
    run_id: str
    source: str
    payload: str
    wall: float


@dataclass(frozen=True, slots=True)
class TelemetryChunk:
    """A piece of a run's telemetry log: JSON Lines of events `first_seq` to `last_seq`."""

    run_id: str
    first_seq: int
    last_seq: int
    text: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as a store knows it, without its history."""

    run_id: str
    flow_id: str
    flow_type: str
    status: str
    version: int
    state: str


@dataclass(frozen=True, slots=True)
class QueueDepths:
    """How much waits.

    Args:
        messages: Visible, delayed and fetched ones, until they are acknowledged.
        work_items: Free and delayed ones.
        leased: Work items under a live lock.
    """

    messages: int
    work_items: int
    leased: int
