"""`ChannelMap`: a Channel for each instance, under one definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from dexnb.errors import DefinitionError
from dexnb.flow.channel import ChannelMessage, condition, counted, found, pending, ranged
from dexnb.flow.condition import ChannelCondition
from dexnb.flow.context import Context
from dexnb.flow.definition import MapDefinition
from dexnb.model.shown import shown

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, repr=False)
class ChannelMap(MapDefinition[ValueT]):
    """Durable queues of a Flow, one for each instance: as `Channel`, with the instance first.

    Args:
        name: Unique among the Attributes, Channels and Streams of a Flow; without `/`.
        value_type: What `publish` takes.

    Raises:
        DefinitionError: The name cannot be used, or the type is none; and by every method, an
            instance cannot be a name.
    """

    kind: ClassVar[str] = "ChannelMap"

    def publish(self, context: Context, instance: str, value: ValueT) -> None:
        """Put a message behind the others of the instance.

        Raises:
            DefinitionError: The Flow does not list this map.
            ValueMappingError: The value is of another type or cannot be stored.
        """
        self.data_of(context, "publish").channels.publish(self, self.physical_name(instance), value)

    def delete(self, context: Context, instance: str, message_id: str) -> None:
        """Drop a pending message; best effort, since another Step may take it first.

        Raises:
            DefinitionError: The Flow does not list this map, or the id is no non-empty str.
        """
        data = self.data_of(context, "delete")
        data.channels.remove(self, self.physical_name(instance), message_id)

    def size(self, context: Context, instance: str) -> int:
        """Count the pending messages of the instance, those that this method published too.

        Raises:
            DefinitionError: The Flow does not list this map.
        """
        return self.data_of(context, "size").channels.size(self, self.physical_name(instance))

    def pending_messages(
        self, context: Context, instance: str
    ) -> tuple[ChannelMessage[ValueT], ...]:
        """Give the messages that were pending when the method was scheduled, oldest first.

        Raises:
            ChannelMessagesNotLoadedError: The method's options load neither the map nor this
                instance.
            DefinitionError: The Flow does not list this map.
            ValueMappingError: A message is of another type.
        """
        return pending(context, self, self.physical_name(instance))

    def find_pending_message(
        self, context: Context, instance: str, message_id: str
    ) -> ChannelMessage[ValueT] | None:
        """Give one of the pending messages, or None.

        Raises:
            ChannelMessagesNotLoadedError: The method's options load neither the map nor this
                instance.
            DefinitionError: The Flow does not list this map, or the id is no non-empty str.
            ValueMappingError: The message is of another type.
        """
        return found(context, self, self.physical_name(instance), message_id)

    def results(self, context: Context, instance: str) -> tuple[ValueT, ...]:
        """Give what the wait of this Step execution took from the instance, oldest first.

        Raises:
            ContextCallError: The context is no Step's.
            DefinitionError: The Flow does not list this map.
            ValueMappingError: A message is of another type.
        """
        return self.data_of(context, "results").channels.taken(self, self.physical_name(instance))

    def get_map_size(self, context: Context) -> int:
        """Count the instances that have pending messages. Needs no load.

        Raises:
            DefinitionError: The Flow does not list this map.
        """
        return len(self.data_of(context, "get_map_size").channels.instances(self))

    def get_all_instance_keys(self, context: Context) -> tuple[str, ...]:
        """Give the instances that have pending messages, in order. Needs no load.

        Raises:
            DefinitionError: The Flow does not list this map.
        """
        return self.data_of(context, "get_all_instance_keys").channels.instances(self)

    def load_messages(self, instance: str) -> ChannelMapLoad:
        """Give what a Step or an RPC names to read one instance without the whole map."""
        return ChannelMapLoad(self, instance)

    def for_one(self, instance: str, *, condition_id: str | None = None) -> ChannelCondition:
        """Wait for one message and take it."""
        return condition(self, self.physical_name(instance), 1, 1, condition_id)

    def for_n(
        self, instance: str, count: int, *, condition_id: str | None = None
    ) -> ChannelCondition:
        """Wait for so many messages and take just these; zero is ready at once and takes none."""
        return condition(self, self.physical_name(instance), count, count, condition_id)

    def at_least(
        self, instance: str, count: int, *, condition_id: str | None = None
    ) -> ChannelCondition:
        """Wait for so many messages and take all that are there."""
        return condition(self, self.physical_name(instance), count, None, condition_id)

    def at_most(
        self, instance: str, count: int, *, condition_id: str | None = None
    ) -> ChannelCondition:
        """Take what is there, up to so many messages: ready at once."""
        most = counted(self, "at_most", count)
        return condition(self, self.physical_name(instance), 0, most, condition_id)

    def for_range(
        self,
        instance: str,
        *,
        at_least: int | None = None,
        at_most: int | None = None,
        condition_id: str | None = None,
    ) -> ChannelCondition:
        """Wait for `at_least` messages and take up to `at_most`; one of them must be given."""
        return ranged(self, self.physical_name(instance), (at_least, at_most), condition_id)


@dataclass(frozen=True)
class ChannelMapLoad:
    """What a method loads: the messages of one instance of a map.

    Raises:
        DefinitionError: There is no such thing to load.
    """

    channel_map: ChannelMap[Any]
    instance: str

    def __post_init__(self) -> None:
        """Check that it can be found."""
        if not isinstance(self.channel_map, ChannelMap):
            raise DefinitionError(
                f"ChannelMapLoad channel_map is {shown(self.channel_map)}: "
                "give a ChannelMap; a plain Channel is loaded as itself"
            )
        self.physical_name()

    def physical_name(self) -> str:
        """Give the name that the instance has in the store."""
        return self.channel_map.physical_name(self.instance)
