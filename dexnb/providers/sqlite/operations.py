"""What callers ask of the store, ready to be put into a batch.

An operation is made on the loop, where its rows are built, so that whatever cannot be stored fails
in its own call. It is answered by the thread that runs the batch, in `result` or `failure`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dexnb.errors import ProviderError
from dexnb.providers.items import StreamWrite, WorkItem
from dexnb.providers.parking import Queue
from dexnb.providers.sqlite.turn_rows import TurnRows

Row = list[Any]


@dataclass(slots=True, eq=False)
class Operation:
    """One call of the contract; subclasses hold its arguments.

    Args:
        name: The contract's method, for errors.
        result: What the method returns, once the batch is committed.
        failure: What it raises instead.
    """

    name: str
    result: Any = field(init=False, default=None)
    failure: ProviderError | None = field(init=False, default=None)

    durable: ClassVar[bool] = False
    """Whether its commit waits for the disk where the user asked for that."""

    def waits(self) -> bool:
        """Tell whether this one's commit does."""
        return self.durable

    def keys(self) -> Collection[str]:
        """Name what it changes: one batch holds one such operation for each."""
        return ()

    def hints(self) -> Sequence[Queue]:
        """Name the queues that may have something to fetch after it."""
        return ()

    def enqueues(self) -> TurnRows | None:
        """Give the turn that it carries, if it does."""
        return None

    def taken(self) -> Sequence[WorkItem]:
        """Give what it has locked for this engine, once it is answered."""
        turn = self.enqueues()
        return turn.taken if turn is not None and self.applied() else ()

    def applied(self) -> bool:
        """Tell whether it has changed what it was asked to, once it is answered."""
        return self.failure is None


@dataclass(slots=True, eq=False)
class StartRun(Operation):
    """Start a run unless its flow id has an open one."""

    flow_id: str
    row: Row
    turn: TurnRows
    durable: ClassVar[bool] = True

    def keys(self) -> Collection[str]:
        """Starts of one flow id follow each other."""
        return ("flow " + self.flow_id,)

    def hints(self) -> Sequence[Queue]:
        """What the first turn has enqueued is there, unless the run was there before."""
        return self.turn.hints() if self.result.created else ()

    def enqueues(self) -> TurnRows:
        """Its first turn."""
        return self.turn

    def applied(self) -> bool:
        """Not if there was an open run."""
        return self.failure is None and self.result.created


@dataclass(slots=True, eq=False)
class FencedOperation(Operation):
    """An operation that fails with `LeaseLost` unless its token is live."""

    token: str

    def keys(self) -> Collection[str]:
        """What is locked is known by its token."""
        return (self.token,)


@dataclass(slots=True, eq=False)
class TurnOperation(FencedOperation):
    """What the holder of a run's lock asks."""

    def hints(self) -> Sequence[Queue]:
        """The run is free: its other messages can be fetched."""
        return ("messages",)


@dataclass(slots=True, eq=False)
class AckTurn(TurnOperation):
    """Apply a turn."""

    turn: TurnRows
    durable: ClassVar[bool] = True

    def hints(self) -> Sequence[Queue]:
        """The run is free, and what the turn has enqueued is there."""
        return ("messages", *self.turn.hints())

    def enqueues(self) -> TurnRows:
        """Its turn."""
        return self.turn


@dataclass(slots=True, eq=False)
class AbandonTurn(TurnOperation):
    """Give a run back."""

    delay: float
    take_back: bool


@dataclass(slots=True, eq=False)
class RenewTurn(TurnOperation):
    """Hold a run's lock longer."""

    extend_for: float

    def hints(self) -> Sequence[Queue]:
        """Nothing new to fetch."""
        return ()


@dataclass(slots=True, eq=False)
class AckWork(FencedOperation):
    """Delete a work item, and send a message or enqueue a retry."""

    message: Row | None
    retry: Row | None
    wait: bool = True
    durable: ClassVar[bool] = True

    def waits(self) -> bool:
        """Tell whether the Step asked for it."""
        return self.wait

    def hints(self) -> Sequence[Queue]:
        """A message or a retry is there to be fetched."""
        found: list[Queue] = ["messages"] if self.message is not None else []
        return [*found, "work"] if self.retry is not None else found


@dataclass(slots=True, eq=False)
class AckWorkWithTurn(FencedOperation):
    """Delete a work item, and apply a turn if it fits its run, or else send a message."""

    message: Row
    turn: TurnRows
    wait: bool
    durable: ClassVar[bool] = True

    def waits(self) -> bool:
        """Tell whether the Step asked for it, or the run ends."""
        return self.wait or self.turn.closes

    def keys(self) -> Collection[str]:
        """A run takes one turn after the other."""
        return (self.token, "run " + self.turn.run_id)

    def hints(self) -> Sequence[Queue]:
        """What the turn has enqueued is there, or the message."""
        return self.turn.hints() if self.result else ("messages",)

    def enqueues(self) -> TurnRows:
        """Its turn."""
        return self.turn

    def applied(self) -> bool:
        """Not if the message was sent instead."""
        return self.failure is None and bool(self.result)


@dataclass(slots=True, eq=False)
class AbandonWork(FencedOperation):
    """Give a work item back."""

    delay: float
    take_back: bool

    def hints(self) -> Sequence[Queue]:
        """It can be fetched again."""
        return ("work",)


OF_TURNS: tuple[type[FencedOperation], ...] = (AckTurn, AbandonTurn, RenewTurn)
"""What the holder of a run's lock asks."""

OF_WORK: tuple[type[FencedOperation], ...] = (AckWork, AckWorkWithTurn, AbandonWork)
"""What the holder of a work item's lock asks."""


@dataclass(slots=True, eq=False)
class RenewWork(Operation):
    """Hold locks of work items longer; the result is the tokens that are not live."""

    tokens: Sequence[str]
    extend_for: float

    def keys(self) -> Collection[str]:
        """Each lock by its token."""
        return self.tokens


@dataclass(slots=True, eq=False)
class RecordBeats(Operation):
    """Store checkpoints by token; the result is the tokens that are not live."""

    checkpoints: dict[str, str | None]

    def keys(self) -> Collection[str]:
        """Each item by its token."""
        return self.checkpoints


@dataclass(slots=True, eq=False)
class SendMessage(Operation):
    """Put a message into a run's queue."""

    row: Row
    durable: ClassVar[bool] = True

    def hints(self) -> Sequence[Queue]:
        """It is there to be fetched."""
        return ("messages",)


@dataclass(slots=True, eq=False)
class WriteStream(Operation):
    """Append Stream messages; the result tells for each whether it was kept."""

    writes: Sequence[StreamWrite]


@dataclass(slots=True, eq=False)
class AppendTelemetry(Operation):
    """Keep telemetry; a row is run id, first and last seq, size and text."""

    rows: Sequence[Row]


@dataclass(slots=True, eq=False)
class Fetch(Operation):
    """Lock what is ready; the result is the items and when the next one is due."""

    lock_timeout: float
    limit: int


@dataclass(slots=True, eq=False)
class FetchTurns(Fetch):
    """Lock runs with visible messages."""


@dataclass(slots=True, eq=False)
class FetchWork(Fetch):
    """Lock work items that these handlers run."""

    handlers: frozenset[str]


@dataclass(slots=True, eq=False)
class Read(Operation):
    """Run one statement that gives at most one row, and decode what it aggregated."""

    statement: str
    parameters: dict[str, Any]
    decode: Callable[[Any], Any]
