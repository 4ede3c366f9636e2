"""Every error that dexnb raises on purpose; each docstring says what happened and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class DexnbError(Exception):
    """Root of all errors of dexnb. Catch it to tell dexnb's own complaints from other failures."""


class DefinitionError(DexnbError):
    """A value that defines something (an option, a name, a duration) cannot hold.

    The text names the thing, the field, the value and the fix. Correct the definition.
    """


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a Flow's definition.

    Args:
        where: The Flow, Step or field, for example `PollingFlow.AwaitJob.heartbeat_timeout`.
        value: What stands there, as text.
        fix: What to write instead.
    """

    where: str
    value: str
    fix: str

    def __str__(self) -> str:
        """Give the one line that stands in the error."""
        shown = f" is {self.value}" if self.value else ""
        return f"{self.where}{shown}: {self.fix}"


class FlowDefinitionError(DefinitionError):
    """A Flow cannot be registered; all its mistakes are listed at once in `problems`."""

    def __init__(self, flow_type: str, problems: Sequence[Problem]) -> None:
        """Keep the list and build the text from it."""
        self.flow_type = flow_type
        self.problems = tuple(problems)
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        count = len(self.problems)
        noun = "problem" if count == 1 else "problems"
        super().__init__(f"Flow {flow_type} registration failed, {count} {noun}:\n{lines}")


class InvalidStepResultError(DefinitionError):
    """A Step method gave something that is not a decision, or left an output unused.

    The attempt fails and is not retried: the same code would give the same result.
    """

    def __init__(self, flow_type: str, step_type: str, method: str, detail: str) -> None:
        """Name the method and what was wrong with its result."""
        self.flow_type = flow_type
        self.step_type = step_type
        self.method = method
        self.detail = detail
        super().__init__(f"Flow {flow_type} Step {step_type} {method}: {detail}")


class ValueMappingError(DefinitionError):
    """A value cannot be stored, or stored text cannot be read as the type that was asked for.

    `operation` says what was being done, `detail` the type, the path inside the value and the fix.
    """

    def __init__(self, operation: str, detail: str) -> None:
        """Build the text from what was being done and what was wrong."""
        self.operation = operation
        self.detail = detail
        super().__init__(f"{operation}: {detail}")


class DocumentError(DexnbError):
    """A document (event log, state, stored item) cannot be decoded; the text says where."""


class ProviderError(DexnbError):
    """A store could not do what was asked.

    `retryable` tells whether the same call may succeed later (busy, connection, timeout) or never
    will (bad token, duplicate, undecodable).
    """

    def __init__(self, operation: str, message: str, *, retryable: bool) -> None:
        """Keep the operation and the verdict beside the text."""
        self.operation = operation
        self.message = message
        self.retryable = retryable
        super().__init__(f"{operation}: {message}")


class LeaseLost(ProviderError):
    """A lock token is unknown, expired or was taken over: what its holder writes is refused.

    For a running attempt this is the sign to stop: somebody else owns the item now, or it was
    cancelled.
    """

    def __init__(self, operation: str, token: str) -> None:
        """Name the operation and the token."""
        self.token = token
        super().__init__(operation, f"lock token {token} is not live any more", retryable=False)


class ClockMismatch(ProviderError):
    """The store belongs to another clock (real, scaled or virtual time do not share a file).

    Open a file of its own for the other clock, or use the memory provider.
    """

    def __init__(self, path: str, stored: str, given: str) -> None:
        """Name the store and both clocks."""
        super().__init__(
            "open",
            f"{path} was written on the {stored} clock and cannot be opened on the {given} clock; "
            "give this clock a file of its own, or use memory",
            retryable=False,
        )


class RunNotFound(DexnbError):
    """No run is known under that flow id or run id in this store."""


class FlowAlreadyStartedError(DexnbError):
    """The flow id is taken: an open run, or a closed one that the reuse policy protects."""


class FlowFailed(DexnbError):
    """The Flow ended without success; `status`, `error_type` and `error_message` say how."""

    def __init__(self, flow_id: str, status: str, error_type: str, error_message: str) -> None:
        """Keep the outcome beside the text."""
        self.flow_id = flow_id
        self.status = status
        self.error_type = error_type
        self.error_message = error_message
        reason = ": ".join(part for part in (error_type, error_message) if part)
        super().__init__(f"Flow {flow_id} ended {status}" + (f": {reason}" if reason else ""))


class RuntimeClosed(DexnbError):
    """The runtime is closed, or its loop has ended; open a new one on the same file to go on."""


class WaitTimeout(DexnbError, TimeoutError):
    """A wait ended by its own timeout; what was waited for goes on."""


class LoopBoundError(DexnbError):
    """An object belongs to another event loop than the one it is used from.

    Create such objects (clients, locks, queues) inside the Step that uses them.
    """
