"""What callers ask of the store, ready to be put into a batch.

An operation is made where it is asked for, so that whatever cannot be stored fails in its own call.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dexnb.errors import ProviderError
from dexnb.providers.items import StreamWrite
from dexnb.providers.postgres.turn import Letter, Turn, Work

OfWork = "w"
OfRun = "r"


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
    """Whether its commit waits for the server's disk."""

    tells: ClassVar[bool] = False
    """Whether other engines hear that something has changed."""

    def waits(self) -> bool:
        """Tell whether this one's commit waits for the disk."""
        return self.durable

    def keys(self) -> Collection[str]:
        """Name what it changes: one batch holds one such operation for each."""
        return ()

    def targets(self) -> Collection[bytes]:
        """Name the runs that it sends something to."""
        return ()


@dataclass(slots=True, eq=False)
class StartRun(Operation):
    """Start a run unless its flow id has an open one."""

    turn: Turn
    durable: ClassVar[bool] = True
    tells: ClassVar[bool] = True

    def keys(self) -> Collection[str]:
        """Starts of one flow id follow each other."""
        return (f"flow {self.turn.flow_id!r}",)

    def targets(self) -> Collection[bytes]:
        """Messages and work of a first turn are for this run, or for others."""
        return self.turn.targets()


@dataclass(slots=True, eq=False)
class Fenced(Operation):
    """An operation that fails with `LeaseLost` unless its token is live."""

    token: str
    kind: ClassVar[str]

    def keys(self) -> Collection[str]:
        """What is locked is known by its token."""
        return (self.token,)


@dataclass(slots=True, eq=False)
class AckTurn(Fenced):
    """Apply a turn."""

    turn: Turn
    kind: ClassVar[str] = OfRun
    durable: ClassVar[bool] = True
    tells: ClassVar[bool] = True

    def targets(self) -> Collection[bytes]:
        """A turn may speak to other runs."""
        return self.turn.targets()


@dataclass(slots=True, eq=False)
class AbandonTurn(Fenced):
    """Give a run back."""

    delay: float
    take_back: bool
    kind: ClassVar[str] = OfRun


@dataclass(slots=True, eq=False)
class RenewTurn(Fenced):
    """Hold a run's lock longer."""

    extend_for: float
    kind: ClassVar[str] = OfRun


@dataclass(slots=True, eq=False)
class AckWork(Fenced):
    """Delete a work item, and send a message or enqueue a retry."""

    message: Letter | None
    retry: Work | None
    wait: bool = True
    kind: ClassVar[str] = OfWork
    tells: ClassVar[bool] = True

    def waits(self) -> bool:
        """Tell whether the Step asked for it."""
        return self.wait

    def targets(self) -> Collection[bytes]:
        """The run that is told, and the one that has the retry."""
        return [part.run_id for part in (self.message, self.retry) if part is not None]


@dataclass(slots=True, eq=False)
class AckWorkWithTurn(Fenced):
    """Delete a work item, and apply a turn if it fits its run, or else send a message."""

    message: Letter
    turn: Turn
    wait: bool
    kind: ClassVar[str] = OfWork
    tells: ClassVar[bool] = True

    def waits(self) -> bool:
        """Tell whether the Step asked for it, or the run ends."""
        return self.wait or self.turn.closes

    def keys(self) -> Collection[str]:
        """A run takes one turn after the other."""
        return (self.token, f"run {self.turn.run_id!r}")

    def targets(self) -> Collection[bytes]:
        """The run itself, which is not locked, and whom its turn speaks to."""
        return {*self.turn.targets(), self.turn.run_id, self.message.run_id}


@dataclass(slots=True, eq=False)
class AbandonWork(Fenced):
    """Give a work item back."""

    delay: float
    take_back: bool
    kind: ClassVar[str] = OfWork


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

    checkpoints: dict[str, bytes | None]

    def keys(self) -> Collection[str]:
        """Each item by its token."""
        return self.checkpoints


@dataclass(slots=True, eq=False)
class SendMessage(Operation):
    """Put a message into a run's queue."""

    message: Letter
    durable: ClassVar[bool] = True
    tells: ClassVar[bool] = True

    def targets(self) -> Collection[bytes]:
        """The one run."""
        return (self.message.run_id,)


@dataclass(slots=True, eq=False)
class WriteStream(Operation):
    """Append Stream messages; the result tells for each whether it was kept."""

    writes: Sequence[tuple[StreamWrite, bytes]]
    tells: ClassVar[bool] = True


@dataclass(slots=True, eq=False)
class AppendTelemetry(Operation):
    """Keep telemetry; a chunk is run id, first and last seq, and text."""

    chunks: Sequence[tuple[bytes, int, int, bytes]]


@dataclass(slots=True, eq=False)
class Fetch(Operation):
    """Lock what is ready; the result is the items and when more may be."""

    lock_timeout: float
    limit: int


@dataclass(slots=True, eq=False)
class FetchTurns(Fetch):
    """Lock runs with visible messages."""


@dataclass(slots=True, eq=False)
class FetchWork(Fetch):
    """Lock work items that these handlers run."""

    handlers: tuple[bytes, ...]
