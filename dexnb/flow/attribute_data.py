"""`AttributeData`: the Attributes as a method sees and changes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from dexnb.errors import AttributeMapNotLoadedError, ValueMappingError
from dexnb.flow.attribute import AttributeMap
from dexnb.flow.call_phase import CallPhase
from dexnb.flow.codec import text_of
from dexnb.flow.kept_value import KeptValue
from dexnb.flow.persistence import Persistence
from dexnb.flow.physical import instance_of, whole_map
from dexnb.flow.typed import check
from dexnb.model.shown import shown


class AttributeData:
    """A snapshot of the values, and this method's own writes over it, by physical name."""

    def __init__(
        self,
        persistence: Persistence,
        values: Mapping[str, Any],
        loads: Collection[str],
        phase: CallPhase,
    ) -> None:
        """Begin with the snapshot."""
        self._phase = phase
        self._persistence = persistence
        self._values = dict(values)
        self._loads = frozenset(loads)
        self._written: dict[str, Any] = {}
        self._deleted: dict[str, None] = {}

    def get(self, definition: KeptValue[Any], physical: str) -> Any:
        """Give the value, or what stands for a missing one.

        Raises:
            AttributeMapNotLoadedError: It belongs to a map that is not loaded.
            ContextCallError: The call has ended.
            DefinitionError: The Flow does not list the definition.
            ValueMappingError: What is kept is of another type.
        """
        self._persistence.check(definition)
        operation = f"{definition.kind} {physical} get"
        self._phase.check_open(operation)
        if isinstance(definition, AttributeMap):
            self._check_loaded(definition, physical)
        return definition.decode(self._values.get(physical), operation)

    def set(self, definition: KeptValue[Any], physical: str, value: Any) -> None:
        """Keep a value; None deletes it.

        Raises:
            ContextCallError: The call has ended.
            DefinitionError: The Flow does not list the definition.
            ValueMappingError: The value is of another type or cannot be stored.
        """
        if value is None:
            self.delete(definition, physical)
            return
        self._persistence.check(definition)
        operation = f"{definition.kind} {physical} set"
        self._phase.check_open(operation)
        document = check(value, definition.value_type, operation)
        text_of(document, operation)
        if document is None:
            detail = f"{shown(value)} is stored as None, which is no value: give another one"
            raise ValueMappingError(operation, detail)
        self._deleted.pop(physical, None)
        self._written[physical] = self._values[physical] = document

    def delete(self, definition: KeptValue[Any], physical: str) -> None:
        """Keep no value.

        Raises:
            ContextCallError: The call has ended.
            DefinitionError: The Flow does not list the definition.
        """
        self._persistence.check(definition)
        self._phase.check_open(f"{definition.kind} {physical} delete")
        self._values.pop(physical, None)
        self._written.pop(physical, None)
        self._deleted[physical] = None

    def instances(self, definition: AttributeMap[Any]) -> tuple[str, ...]:
        """Give the instances of a map that have a value, in order.

        Raises:
            AttributeMapNotLoadedError: The whole map is not loaded.
            ContextCallError: The call has ended.
            DefinitionError: The Flow does not list the map.
        """
        self._persistence.check(definition)
        self._phase.check_open(f"{definition.kind} {definition.name} get_all_instance_keys")
        prefix = whole_map(definition.name)
        self._check_loaded(definition, prefix)
        found = (instance_of(name) for name in self._values if name.startswith(prefix))
        return tuple(sorted(found))

    def writes(self) -> dict[str, Any]:
        """Give this part of the Writes document."""
        return {"attributes": dict(self._written), "deleted": list(self._deleted)}

    def _check_loaded(self, definition: AttributeMap[Any], entry: str) -> None:
        prefix = whole_map(definition.name)
        if prefix in self._loads or entry in self._loads:
            return
        instance = "" if entry == prefix else instance_of(entry)
        raise AttributeMapNotLoadedError(definition.name, instance)
