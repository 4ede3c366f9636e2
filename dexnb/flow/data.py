"""`FlowData`: what a method sees of its Flow's data, and what it writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from dexnb.errors import ContextCallError
from dexnb.flow.attribute_data import AttributeData
from dexnb.flow.call_phase import CallPhase
from dexnb.flow.channel_data import ChannelData
from dexnb.flow.codec import text_of
from dexnb.flow.persistence import Persistence
from dexnb.flow.physical import check_word
from dexnb.flow.typed import check_own, decode
from dexnb.flow.wait_results import WaitResults

ValueT = TypeVar("ValueT")


class FlowData:
    """One call's view: a snapshot that all retries share, with the call's own writes over it.

    Every value is checked and encoded when it is given, so that what cannot be stored fails the
    call that gave it. Nothing is the Flow's until a turn has applied `writes()`.

    Args:
        persistence: What the Flow lists.
        snapshot: `attributes`, `sizes`, `messages` and `loads` as documents.
        results: What the wait gave; None without a wait.
        local_values: What the same Step execution has set before, encoded.
        in_step: False for an RPC, which has neither a wait nor locals.
    """

    def __init__(
        self,
        persistence: Persistence,
        snapshot: Mapping[str, Any],
        *,
        results: dict[str, Any] | None = None,
        local_values: Mapping[str, Any] | None = None,
        in_step: bool = True,
    ) -> None:
        """Begin without writes."""
        self.persistence = persistence
        self._in_step = in_step
        self._results = WaitResults(results)
        loads = snapshot.get("loads", {}).get("attributes", ())
        self._phase = phase = CallPhase()
        values, taken = snapshot.get("attributes", {}), self._results if in_step else None
        self.attributes = AttributeData(persistence, values, loads, phase)
        self.channels = ChannelData(persistence, snapshot, taken, phase)
        self._locals = dict(local_values or {})
        self._locals_set: dict[str, Any] = {}
        self._recorded: dict[str, Any] = {}

    def wait_results(self, operation: str) -> WaitResults:
        """Give what the wait gave.

        Raises:
            ContextCallError: There can be no wait here, or the call has ended.
        """
        self._check_in_step(operation)
        self._phase.check_open(operation)
        return self._results

    def set_local(self, key: str, value: Any) -> None:
        """Keep a value for this Step execution alone.

        Raises:
            ContextCallError: This is no Step, or the call has ended.
            DefinitionError: The key is no printable, non-empty str.
            ValueMappingError: The value cannot be stored.
        """
        operation = "set_step_execution_local"
        self._check_in_step(operation)
        self._phase.check_open(operation)
        key = check_word(f"{operation} key", key)
        self._locals[key] = self._locals_set[key] = _encoded(value, f"{operation} {key}")

    def get_local(self, key: str, value_type: type[ValueT]) -> ValueT | None:
        """Give a value that this Step execution has set, or None.

        Raises:
            ContextCallError: This is no Step, or the call has ended.
            ValueMappingError: The value is no `value_type`.
        """
        operation = "get_step_execution_local"
        self._check_in_step(operation)
        self._phase.check_open(operation)
        document = self._locals.get(key)
        if document is None:
            return None
        value: ValueT = decode(document, value_type, f"{operation} {key}")
        return value

    def record_event(self, name: str, value: Any) -> None:
        """Put an event of the user's into the Flow's history.

        Raises:
            ContextCallError: This call has recorded one of that name, or has ended.
            DefinitionError: The name is no printable, non-empty str.
            ValueMappingError: The value cannot be stored.
        """
        self._phase.check_open("record_event")
        name = check_word("record_event name", name)
        if name in self._recorded:
            raise ContextCallError(
                "record_event", f"{name!r} was recorded before in this call: give another name"
            )
        self._recorded[name] = _encoded(value, f"record_event {name}")

    def writes(self) -> dict[str, Any]:
        """Give the Writes document; keys of what was not written are left out."""
        document = {
            **self.attributes.writes(),
            **self.channels.writes(),
            "recorded": dict(self._recorded),
            "locals": dict(self._locals_set),
        }
        return {key: part for key, part in document.items() if part}

    def close(self) -> None:
        """Refuse every later call: nobody would take its writes."""
        self._phase.ended = True

    def _check_in_step(self, operation: str) -> None:
        if not self._in_step:
            raise ContextCallError(operation, "needs the context of a Step")


def _encoded(value: Any, operation: str) -> Any:
    document = check_own(value, operation)
    text_of(document, operation)
    return document
