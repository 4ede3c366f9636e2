"""`ChannelData`: the Channels as a method sees and changes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dexnb.errors import ChannelMessagesNotLoadedError, ContextCallError
from dexnb.flow.call_phase import CallPhase
from dexnb.flow.channel_map import ChannelMap
from dexnb.flow.codec import text_of
from dexnb.flow.definition import Definition
from dexnb.flow.persistence import Persistence
from dexnb.flow.physical import check_word, instance_of, whole_map
from dexnb.flow.typed import check, decode_kept
from dexnb.flow.wait_results import WaitResults


class ChannelData:
    """A snapshot of what is pending, what the wait took, and this method's own writes."""

    def __init__(
        self,
        persistence: Persistence,
        snapshot: Mapping[str, Any],
        results: WaitResults | None,
        phase: CallPhase,
    ) -> None:
        """Begin with the snapshot; the results are None where there can be no wait."""
        self._phase = phase
        self._persistence = persistence
        self._sizes: dict[str, int] = dict(snapshot.get("sizes", {}))
        self._messages: dict[str, Any] = snapshot.get("messages", {})
        self._loads = frozenset(snapshot.get("loads", {}).get("channels", ()))
        self._results = results
        self._published: list[list[Any]] = []
        self._removed: dict[tuple[str, str], None] = {}

    def publish(self, definition: Definition[Any], physical: str, value: Any) -> None:
        """Put a message behind the others.

        Raises:
            ContextCallError: The call has ended.
            DefinitionError: The Flow does not list the definition.
            ValueMappingError: The value is of another type or cannot be stored.
        """
        self._persistence.check(definition)
        operation = f"{definition.kind} {physical} publish"
        self._phase.check_open(operation)
        document = check(value, definition.value_type, operation)
        text_of(document, operation)
        self._published.append([physical, document])
        self._sizes[physical] = self._sizes.get(physical, 0) + 1

    def remove(self, definition: Definition[Any], physical: str, message_id: str) -> None:
        """Drop a pending message.

        Raises:
            ContextCallError: The call has ended.
            DefinitionError: The Flow does not list the definition, or the id is none.
        """
        self._persistence.check(definition)
        operation = f"{definition.kind} {physical} delete"
        self._phase.check_open(operation)
        key = (physical, check_word(f"{operation} message_id", message_id))
        if key in self._removed:
            return
        self._removed[key] = None
        if any(message_id == each for each, _ in self._messages.get(physical, ())):
            self._sizes[physical] = max(0, self._sizes.get(physical, 0) - 1)

    def size(self, definition: Definition[Any], physical: str) -> int:
        """Count what is pending, with own publishes and without own removals of loaded messages.

        Raises:
            ContextCallError: The call has ended.
            DefinitionError: The Flow does not list the definition.
        """
        self._persistence.check(definition)
        self._phase.check_open(f"{definition.kind} {physical} size")
        return self._sizes.get(physical, 0)

    def pending(
        self, definition: Definition[Any], physical: str, only: str | None = None
    ) -> list[tuple[str, Any]]:
        """Give the ids and values of the loaded messages, or of the one with the id `only`.

        Raises:
            ChannelMessagesNotLoadedError: They are not loaded.
            ContextCallError: The call has ended.
            DefinitionError: The Flow does not list the definition.
            ValueMappingError: A message is of another type.
        """
        self._persistence.check(definition)
        operation = f"{definition.kind} {physical} pending_messages"
        self._phase.check_open(operation)
        self._check_loaded(definition, physical)
        return [
            (message_id, decode_kept(document, definition.value_type, operation))
            for message_id, document in self._messages.get(physical, ())
            if only in (None, message_id) and (physical, message_id) not in self._removed
        ]

    def taken(self, definition: Definition[Any], physical: str) -> tuple[Any, ...]:
        """Give what the wait took.

        Raises:
            ContextCallError: There can be no wait here, or the call has ended.
            DefinitionError: The Flow does not list the definition.
            ValueMappingError: A message is of another type.
        """
        self._persistence.check(definition)
        operation = f"{definition.kind} {physical} results"
        self._phase.check_open(operation)
        if self._results is None:
            raise ContextCallError(operation, "only the wait of a Step takes messages")
        return tuple(
            decode_kept(document, definition.value_type, operation)
            for _, document in self._results.messages(physical)
        )

    def instances(self, definition: ChannelMap[Any]) -> tuple[str, ...]:
        """Give the instances of a map that have pending messages, in order.

        Raises:
            ContextCallError: The call has ended.
            DefinitionError: The Flow does not list the map.
        """
        self._persistence.check(definition)
        self._phase.check_open(f"{definition.kind} {definition.name} get_all_instance_keys")
        prefix = whole_map(definition.name)
        found = (
            instance_of(name)
            for name, count in self._sizes.items()
            if count and name.startswith(prefix)
        )
        return tuple(sorted(found))

    def writes(self) -> dict[str, Any]:
        """Give this part of the Writes document."""
        removed = [list(key) for key in self._removed]
        return {"published": list(self._published), "removed": removed}

    def _check_loaded(self, definition: Definition[Any], physical: str) -> None:
        if physical in self._loads:
            return
        if not isinstance(definition, ChannelMap):
            raise ChannelMessagesNotLoadedError(definition.name)
        if whole_map(definition.name) not in self._loads:
            raise ChannelMessagesNotLoadedError(definition.name, instance_of(physical))
