"""Every error that dexnb raises on purpose; each docstring says what happened and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class DexnbError(Exception):
    """Root of all errors of dexnb. Catch it to tell dexnb's own complaints from other failures."""


class DexnbWarning(UserWarning):
    """Something was done otherwise than it was asked for; the text says what, and what to do."""


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
    """A Flow cannot be registered or started; all mistakes are listed at once in `problems`."""

    def __init__(
        self, flow_type: str, problems: Sequence[Problem], operation: str = "registration"
    ) -> None:
        """Keep the list and build the text from it and from what was being done."""
        self.flow_type = flow_type
        self.problems = tuple(problems)
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        count = len(self.problems)
        noun = "problem" if count == 1 else "problems"
        super().__init__(f"Flow {flow_type} {operation} failed, {count} {noun}:\n{lines}")


class InvalidStepResultError(DefinitionError):
    """A Step method gave something that is not a decision, or left an output unused.

    The attempt fails and is not retried: the same code would give the same result. Of an RPC,
    which is no Step, `step_type` is empty.
    """

    def __init__(self, flow_type: str, step_type: str, method: str, detail: str) -> None:
        """Name the method and what was wrong with its result."""
        self.flow_type = flow_type
        self.step_type = step_type
        self.method = method
        self.detail = detail
        who = f"Step {step_type} {method}" if step_type else f"RPC {method}"
        super().__init__(f"Flow {flow_type} {who}: {detail}")


class ValueMappingError(DefinitionError):
    """A value cannot be stored, or stored text cannot be read as the type that was asked for.

    `operation` says what was being done, `detail` the type, the path inside the value and the fix.
    """

    def __init__(self, operation: str, detail: str) -> None:
        """Build the text from what was being done and what was wrong."""
        self.operation = operation
        self.detail = detail
        super().__init__(f"{operation}: {detail}")


_LOAD_OPTIONS = "of this method's options (in a Step's, after wait_for_ or execute_)"


class AttributeMapNotLoadedError(DefinitionError):
    """A method read an AttributeMap, or an instance of one, that its options do not load.

    Name the map in `..._load_attribute_maps`, or the instance in
    `..._load_attribute_map_instances`.
    """

    def __init__(self, name: str, instance: str = "") -> None:
        """Name the map and the instance; without one, the whole map was needed."""
        self.name = name
        self.instance = instance
        part = f" instance {instance!r}" if instance else ""
        fix = f"name it in load_attribute_maps {_LOAD_OPTIONS}"
        if instance:
            fix += f", or .load({instance!r}) of it in load_attribute_map_instances"
        super().__init__(f"AttributeMap {name}{part} is not loaded: {fix}")


class ChannelMessagesNotLoadedError(DefinitionError):
    """A method read pending messages that its options do not load.

    Name the Channel in `..._load_channels`, a ChannelMap in `..._load_channel_maps`, or one
    instance in `..._load_channel_map_instances`.
    """

    def __init__(self, name: str, instance: str = "") -> None:
        """Name the Channel, or the ChannelMap and the instance."""
        self.name = name
        self.instance = instance
        what, fix = f"Channel {name}", f"name it in load_channels {_LOAD_OPTIONS}"
        if instance:
            what = f"ChannelMap {name} instance {instance!r}"
            fix = (
                f"name it in load_channel_maps {_LOAD_OPTIONS}, or .load_messages({instance!r}) "
                "of it in load_channel_map_instances"
            )
        super().__init__(f"messages of {what} are not loaded: {fix}")


class ContextCallError(DexnbError, ValueError):
    """A call of a Context that cannot be made here, or not again.

    `operation` names the call, `detail` says why and what to do.
    """

    def __init__(self, operation: str, detail: str) -> None:
        """Build the text from what was called and what was wrong."""
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


class FlowNotFoundError(RunNotFound):
    """No run was ever started under that flow id in this store."""


class FlowNotActiveOrNotFoundError(DexnbError):
    """The call needs an open run, and the flow id has none; the text says how it ended, if it did.

    Start it again, or read what it left with `wait_for_flow` and `describe_flow`.
    """


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


class LongPollTimeoutError(WaitTimeout):
    """Nothing came while a call waited for it; call again with the same token to wait on."""


class RequestTimeoutError(WaitTimeout):
    """A call was not done in its time; what it had begun changes nothing, or goes on by itself."""


class RpcLockConflictError(DexnbError):
    """An RPC could not have what it locks, or the run changed under a transactional one.

    It has changed nothing; call it again.
    """


class ChannelMessageNotFoundError(DexnbError):
    """A transactional RPC deleted a message that is not pending any more; nothing was changed."""


class LoopBoundError(DexnbError):
    """An object belongs to another event loop than the one it is used from.

    Create such objects (clients, locks, queues) inside the Step that uses them.
    """


class RetryAfterError(DexnbError):
    """Raised by a Step that knows when to try again; the attempt failed with `cause`.

    Made by `retry_after(...)`. Only the next delay is replaced; attempts and budget count on.
    """

    def __init__(self, after_seconds: float, cause: BaseException) -> None:
        """Keep the delay and what went wrong.

        Raises:
            DefinitionError: The delay is not above zero and at most 100 years, or the cause is no
                exception.
        """
        self.after_seconds = _delay(after_seconds)
        if not isinstance(cause, BaseException):
            fix = "give the exception that was caught, or ValueError('why')"
            raise DefinitionError(f"retry_after cause is {type(cause).__name__}: {fix}")
        self.cause = cause
        super().__init__(str(cause) or type(cause).__name__)
        self.__cause__ = cause


def retry_after(after_seconds: float, cause: BaseException) -> RetryAfterError:
    """Make an error that a Step raises to be tried again in so many seconds.

    Raises:
        DefinitionError: As `RetryAfterError`.
    """
    return RetryAfterError(after_seconds, cause)


_PRINTED_BITS = 256
_LONGEST_DELAY = 100 * 365.25 * 86400.0


def _delay(given: Any) -> float:
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number or not 0 < given <= _LONGEST_DELAY:  # what NaN does not hold either
        printed = number and (isinstance(given, float) or given.bit_length() < _PRINTED_BITS)
        shown = repr(given) if printed else f"of type {type(given).__name__}"
        fix = "give a number of seconds above 0 and at most 100 years"
        raise DefinitionError(f"retry_after after_seconds is {shown}: {fix}")
    return float(given)
