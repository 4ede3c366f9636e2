"""`PersistenceSchema`: the named things that a Flow keeps beside its Steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dexnb.errors import DefinitionError, Problem
from dexnb.flow.attribute import Attribute, AttributeMap
from dexnb.flow.attribute_index import AttributeIndex, index_problem
from dexnb.flow.channel import Channel
from dexnb.flow.channel_map import ChannelMap
from dexnb.flow.condition import ChannelCondition
from dexnb.flow.declared import type_problem
from dexnb.flow.definition import Definition, are_alike
from dexnb.flow.physical import definition_of
from dexnb.flow.shape import name_of, unwrap
from dexnb.flow.stream import Stream
from dexnb.model.shown import shown

ATTRIBUTES = (Attribute, AttributeMap)
CHANNELS = (Channel, ChannelMap)

_FLAT = (bool, int, float, bytes)


@dataclass(frozen=True)
class PersistenceSchema:
    """What a Flow registers; names are unique within it.

    Args:
        attributes: Attributes and AttributeMaps.
        channels: Channels and ChannelMaps.
        streams: Streams.
    """

    attributes: tuple[Attribute[Any] | AttributeMap[Any], ...] = ()
    channels: tuple[Channel[Any] | ChannelMap[Any], ...] = ()
    streams: tuple[Stream[Any], ...] = ()

    @classmethod
    def of(cls, *definitions: Any) -> PersistenceSchema:
        """Sort definitions by their kind.

        Raises:
            DefinitionError: Something is no definition.
        """
        for definition in definitions:
            if not isinstance(definition, (*ATTRIBUTES, *CHANNELS, Stream)):
                raise DefinitionError(
                    f"PersistenceSchema.of got {shown(definition)}: "
                    "give Attribute, Channel, their Map or Stream definitions"
                )
        return cls(
            attributes=tuple(each for each in definitions if isinstance(each, ATTRIBUTES)),
            channels=tuple(each for each in definitions if isinstance(each, CHANNELS)),
            streams=tuple(each for each in definitions if isinstance(each, Stream)),
        )


@dataclass(frozen=True)
class Persistence:
    """What a registered Flow keeps, by name."""

    flow_type: str = ""
    attributes: Mapping[str, Attribute[Any] | AttributeMap[Any]] = field(default_factory=dict)
    channels: Mapping[str, Channel[Any] | ChannelMap[Any]] = field(default_factory=dict)
    streams: Mapping[str, Stream[Any]] = field(default_factory=dict)

    def check(self, definition: Definition[Any]) -> None:
        """Refuse a definition that the Flow does not list; an equal one will do.

        Raises:
            DefinitionError: The Flow lists none of this name, or it is of another kind or type.
        """
        listed = self._listed(definition)
        known = listed.get(definition.name)
        if known is None:
            plural = "Channels" if isinstance(definition, CHANNELS) else "Attributes"
            names = ", ".join(sorted(listed)) or "none"
            raise DefinitionError(
                f"{definition.kind} {definition.name} is not listed by Flow {self.flow_type}; its "
                f"{plural}: {names}; list it in get_persistence_schema()"
            )
        if known.kind != definition.kind:
            raise DefinitionError(
                f"{definition.kind} {definition.name} is listed as {known.kind} by Flow "
                f"{self.flow_type}: use that one, or list this one in get_persistence_schema()"
            )
        self._check_type(definition, known.value_type)

    def check_condition(self, condition: ChannelCondition) -> None:
        """Refuse a condition on a Channel that the Flow does not list.

        Raises:
            DefinitionError: As `check`.
        """
        kind = ChannelMap if "/" in condition.channel else Channel
        self.check(kind(definition_of(condition.channel), condition.value_type))

    def _listed(self, definition: Definition[Any]) -> Mapping[str, Definition[Any]]:
        if isinstance(definition, CHANNELS):
            return self.channels
        if isinstance(definition, ATTRIBUTES):
            return self.attributes
        raise DefinitionError(
            f"{shown(definition)} is no Attribute, AttributeMap, Channel or ChannelMap: give one"
        )

    def _check_type(self, definition: Definition[Any], listed: Any) -> None:
        if not are_alike(definition.value_type, listed):
            raise DefinitionError(
                f"{definition.kind} {definition.name} value_type is "
                f"{name_of(definition.value_type)} and {name_of(listed)} in Flow "
                f"{self.flow_type}: give both the same type, and register the Flow again"
            )


def read_persistence(flow_type: str, schema: Any) -> tuple[Persistence, list[Problem]]:
    """Check what `get_persistence_schema` gave; every problem found is listed."""
    reader = _Reader(flow_type)
    if not isinstance(schema, PersistenceSchema):
        fix = "return PersistenceSchema.of(...)"
        reader.problem("get_persistence_schema", shown(schema), fix)
        schema = PersistenceSchema()
    attributes = reader.read(schema.attributes, ATTRIBUTES, "Attribute or AttributeMap")
    channels = reader.read(schema.channels, CHANNELS, "Channel or ChannelMap")
    streams = reader.read(schema.streams, (Stream,), "Stream")
    for attribute in attributes.values():
        reader.check_options(attribute)
    reader.check_index_keys(attributes.values())
    return Persistence(flow_type, attributes, channels, streams), reader.problems


class _Reader:
    def __init__(self, flow_type: str) -> None:
        self.flow_type = flow_type
        self.problems: list[Problem] = []
        self._kinds: dict[str, str] = {}

    def problem(self, field: str, value: str, fix: str) -> None:
        self.problems.append(Problem(f"{self.flow_type}.{field}", value, fix))

    def read(self, given: Any, kinds: tuple[type, ...], noun: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for definition in given if isinstance(given, tuple | list) else (given,):
            if isinstance(definition, kinds):
                self._add(definition, found)
            else:
                holding = f"holding {shown(definition)}"
                self.problem("get_persistence_schema", holding, f"give {noun} definitions")
        return found

    def _add(self, definition: Any, found: dict[str, Any]) -> None:
        name = definition.name
        if name in self._kinds:
            fix = "give each definition a name of its own"
            kinds = f"{self._kinds[name]} and {_kind(definition)}"
            self.problem(f"duplicate persistence definition {name}", kinds, fix)
        self._kinds[name] = _kind(definition)
        found[name] = definition
        problem = type_problem(definition.value_type)
        if problem:
            where = f"{_kind(definition)} {name} value_type"
            self.problem(where, name_of(definition.value_type), problem)

    def check_options(self, attribute: Attribute[Any] | AttributeMap[Any]) -> None:
        where = f"{attribute.kind} {attribute.name}"
        if attribute.hard_delete_on_null and unwrap(attribute.value_type) in _FLAT:
            kind = name_of(attribute.value_type)
            fix = f"leave it out for a {kind}; it is for a str or what is stored as an object"
            self.problem(f"{where} hard_delete_on_null", "True", fix)
        if attribute.index is None:
            return
        self._check_index(where, attribute, attribute.index)

    def _check_index(
        self, where: str, attribute: Attribute[Any] | AttributeMap[Any], index: AttributeIndex
    ) -> None:
        problem = index_problem(index.type, attribute.value_type)
        if problem:
            self.problem(f"{where} index", str(index.type), problem)
        if isinstance(attribute, AttributeMap) and not index.index_key:
            fix = f'give one for all instances, AttributeIndex({index.type}, "{attribute.name}")'
            self.problem(f"{where} index_key", "empty", fix)

    def check_index_keys(self, attributes: Any) -> None:
        types: dict[str, AttributeIndex] = {}
        for attribute in attributes:
            index = attribute.index
            if index is None:
                continue
            key = index.index_key or attribute.name
            first = types.setdefault(key, index)
            if first.type is not index.type:
                fix = f"is {first.type} elsewhere in this Flow: give one of them another index_key"
                where = f"{attribute.kind} {attribute.name} index {key}"
                self.problem(where, str(index.type), fix)


def _kind(definition: Any) -> str:
    return "Stream" if isinstance(definition, Stream) else str(definition.kind)
