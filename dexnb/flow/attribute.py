"""`Attribute`: a value that a Flow keeps, and what a method names to lock it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, overload

from dexnb.errors import DefinitionError
from dexnb.flow.context import Context
from dexnb.flow.definition import MapDefinition
from dexnb.flow.kept_value import KeptValue
from dexnb.model.shown import shown

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, repr=False)
class Attribute(KeptValue[ValueT]):
    """A value that a Flow keeps between its Steps; any method may read it.

    A method sees the values as they were when its first attempt was scheduled, and its own writes.
    What it writes becomes the Flow's when it ends well, and is dropped when it fails.

    Args:
        name: Unique among the Attributes, Channels and Streams of a Flow; without `/`.
        value_type: What `set` takes.
        index: Makes the value searchable.
        sync_to_attribute_store: Taken for flow files that give it; this runtime has one store.
        hard_delete_on_null: Taken likewise; a deleted value is always gone. For a str or what is
            stored as an object.

    Raises:
        DefinitionError: The name or an option cannot be used, or the type is none.
    """

    kind: ClassVar[str] = "Attribute"

    @overload
    def get(self: Attribute[bool], context: Context) -> bool: ...
    @overload
    def get(self: Attribute[int], context: Context) -> int: ...
    @overload
    def get(self: Attribute[float], context: Context) -> float: ...
    @overload
    def get(self, context: Context) -> ValueT | None: ...
    def get(self, context: Context) -> Any:
        """Give the value; where there is none, 0 for an int, 0.0, False, or None for the rest.

        Raises:
            DefinitionError: The Flow does not list this Attribute.
            ValueMappingError: What is kept is of another type.
        """
        return self.data_of(context, "get").attributes.get(self, self.name)

    def set(self, context: Context, value: ValueT | None) -> None:
        """Keep a value in place of the one before; None deletes it.

        Raises:
            DefinitionError: The Flow does not list this Attribute.
            ValueMappingError: The value is of another type or cannot be stored.
        """
        self.data_of(context, "set").attributes.set(self, self.name, value)

    def delete(self, context: Context) -> None:
        """Keep no value; there need not be one.

        Raises:
            DefinitionError: The Flow does not list this Attribute.
        """
        self.data_of(context, "delete").attributes.delete(self, self.name)

    def lock(self) -> AttributeLock:
        """Give what a Step or an RPC names, so that no other holds this lock beside it."""
        return AttributeLock(self)

    def physical_name(self) -> str:
        """Give the name that the store knows it by."""
        return self.name


@dataclass(frozen=True, repr=False)
class AttributeMap(KeptValue[ValueT], MapDefinition[ValueT]):
    """Values that a Flow keeps by instance; what a method reads of it, its options must load.

    Args:
        name: Unique among the Attributes, Channels and Streams of a Flow; without `/`.
        value_type: What `set` takes.
        index: Makes the values searchable, under its own `index_key`.
        sync_to_attribute_store: Taken for flow files that give it; this runtime has one store.
        hard_delete_on_null: Taken likewise; a deleted value is always gone. For a str or what is
            stored as an object.

    Raises:
        DefinitionError: The name or an option cannot be used, or the type is none.
    """

    kind: ClassVar[str] = "AttributeMap"

    @overload
    def get(self: AttributeMap[bool], context: Context, instance: str) -> bool: ...
    @overload
    def get(self: AttributeMap[int], context: Context, instance: str) -> int: ...
    @overload
    def get(self: AttributeMap[float], context: Context, instance: str) -> float: ...
    @overload
    def get(self, context: Context, instance: str) -> ValueT | None: ...
    def get(self, context: Context, instance: str) -> Any:
        """Give the value of an instance; where there is none, as `Attribute.get`.

        Raises:
            AttributeMapNotLoadedError: The method's options load neither the map nor this instance.
            DefinitionError: The Flow does not list this map, or the instance cannot be a name.
            ValueMappingError: What is kept is of another type.
        """
        return self.data_of(context, "get").attributes.get(self, self.physical_name(instance))

    def set(self, context: Context, instance: str, value: ValueT | None) -> None:
        """Keep a value for an instance; None deletes it. Needs no load.

        Raises:
            DefinitionError: The Flow does not list this map, or the instance cannot be a name.
            ValueMappingError: The value is of another type or cannot be stored.
        """
        self.data_of(context, "set").attributes.set(self, self.physical_name(instance), value)

    def delete(self, context: Context, instance: str) -> None:
        """Keep no value for an instance. Needs no load.

        Raises:
            DefinitionError: The Flow does not list this map, or the instance cannot be a name.
        """
        self.data_of(context, "delete").attributes.delete(self, self.physical_name(instance))

    def get_map_size(self, context: Context) -> int:
        """Count the instances that have a value.

        Raises:
            AttributeMapNotLoadedError: The method's options do not load the whole map.
            DefinitionError: The Flow does not list this map.
        """
        return len(self.data_of(context, "get_map_size").attributes.instances(self))

    def get_all_instance_keys(self, context: Context) -> tuple[str, ...]:
        """Give the instances that have a value, in order.

        Raises:
            AttributeMapNotLoadedError: The method's options do not load the whole map.
            DefinitionError: The Flow does not list this map.
        """
        return self.data_of(context, "get_all_instance_keys").attributes.instances(self)

    def load(self, instance: str) -> AttributeMapLoad:
        """Give what a Step or an RPC names to read one instance without the whole map."""
        return AttributeMapLoad(self, instance)

    def lock(self, instance: str) -> AttributeLock:
        """Give what a Step or an RPC names, so that no other holds this lock beside it."""
        return AttributeLock(self, instance)


@dataclass(frozen=True)
class AttributeLock:
    """What a method locks: an Attribute, or one instance of a map.

    A lock orders what is committed: it ends with its method's end as the run knows it, by a result,
    a timeout or a cancellation. A sync method that was cut off may still run in its thread, and
    what it does to the outside world overlaps with the next holder.

    Raises:
        DefinitionError: There is no such thing to lock.
    """

    attribute: Attribute[Any] | AttributeMap[Any]
    instance: str | None = None

    def __post_init__(self) -> None:
        """Check that the instance fits."""
        self.physical_name()

    def physical_name(self) -> str:
        """Give the name that the lock has in the store."""
        if isinstance(self.attribute, AttributeMap):
            return self.attribute.physical_name(self.instance or "")
        if not isinstance(self.attribute, Attribute):
            raise DefinitionError(
                f"AttributeLock attribute is {shown(self.attribute)}: "
                "give an Attribute, or an AttributeMap and an instance"
            )
        if self.instance is not None:
            raise DefinitionError(
                f"AttributeLock instance is {shown(self.instance)}: "
                f"leave it out, Attribute {self.attribute.name} has none"
            )
        return self.attribute.name


@dataclass(frozen=True)
class AttributeMapLoad:
    """What a method loads: one instance of a map.

    Raises:
        DefinitionError: There is no such thing to load.
    """

    attribute_map: AttributeMap[Any]
    instance: str

    def __post_init__(self) -> None:
        """Check that it can be found."""
        if not isinstance(self.attribute_map, AttributeMap):
            raise DefinitionError(
                f"AttributeMapLoad attribute_map is {shown(self.attribute_map)}: "
                "give an AttributeMap; a plain Attribute is always loaded"
            )
        self.physical_name()

    def physical_name(self) -> str:
        """Give the name that the instance has in the store."""
        return self.attribute_map.physical_name(self.instance)
