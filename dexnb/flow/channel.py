"""`Channel`: messages into a run, kept in order until a Step takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from dexnb.errors import DefinitionError
from dexnb.flow.condition import ChannelCondition, check_count, condition_id_of
from dexnb.flow.context import Context
from dexnb.flow.definition import Definition
from dexnb.flow.physical import check_word

ValueT = TypeVar("ValueT")


@dataclass(frozen=True)
class ChannelMessage(Generic[ValueT]):
    """A message that nobody has taken yet."""

    message_id: str
    value: ValueT


@dataclass(frozen=True, repr=False)
class Channel(Definition[ValueT]):
    """A durable queue of a Flow: first in, first out, each message to one taker.

    What a method publishes or deletes counts when the method ends well, and not when it fails.

    Args:
        name: Unique among the Attributes, Channels and Streams of a Flow; without `/`.
        value_type: What `publish` takes.

    Raises:
        DefinitionError: The name cannot be used, or the type is none.
    """

    kind: ClassVar[str] = "Channel"

    def publish(self, context: Context, value: ValueT) -> None:
        """Put a message behind the others.

        Raises:
            DefinitionError: The Flow does not list this Channel.
            ValueMappingError: The value is of another type or cannot be stored.
        """
        self.data_of(context, "publish").channels.publish(self, self.name, value)

    def delete(self, context: Context, message_id: str) -> None:
        """Drop a pending message; best effort, since another Step may take it first.

        Raises:
            DefinitionError: The Flow does not list this Channel, or the id is no non-empty str.
        """
        self.data_of(context, "delete").channels.remove(self, self.name, message_id)

    def size(self, context: Context) -> int:
        """Count the pending messages, those that this method published too.

        Raises:
            DefinitionError: The Flow does not list this Channel.
        """
        return self.data_of(context, "size").channels.size(self, self.name)

    def pending_messages(self, context: Context) -> tuple[ChannelMessage[ValueT], ...]:
        """Give the messages that were pending when the method was scheduled, oldest first.

        Without those that this method deleted; its own publishes have no id yet.

        Raises:
            ChannelMessagesNotLoadedError: The method's options do not load this Channel.
            DefinitionError: The Flow does not list this Channel.
            ValueMappingError: A message is of another type.
        """
        return pending(context, self, self.name)

    def find_pending_message(
        self, context: Context, message_id: str
    ) -> ChannelMessage[ValueT] | None:
        """Give one of the pending messages, or None.

        Raises:
            ChannelMessagesNotLoadedError: The method's options do not load this Channel.
            DefinitionError: The Flow does not list this Channel, or the id is no non-empty str.
            ValueMappingError: The message is of another type.
        """
        return found(context, self, self.name, message_id)

    def results(self, context: Context) -> tuple[ValueT, ...]:
        """Give what the wait of this Step execution took from the Channel, oldest first.

        Raises:
            ContextCallError: The context is no Step's.
            DefinitionError: The Flow does not list this Channel.
            ValueMappingError: A message is of another type.
        """
        return self.data_of(context, "results").channels.taken(self, self.name)

    def for_one(self, *, condition_id: str | None = None) -> ChannelCondition:
        """Wait for one message and take it."""
        return condition(self, self.name, 1, 1, condition_id)

    def for_n(self, count: int, *, condition_id: str | None = None) -> ChannelCondition:
        """Wait for so many messages and take just these; zero is ready at once and takes none."""
        return condition(self, self.name, count, count, condition_id)

    def at_least(self, count: int, *, condition_id: str | None = None) -> ChannelCondition:
        """Wait for so many messages and take all that are there."""
        return condition(self, self.name, count, None, condition_id)

    def at_most(self, count: int, *, condition_id: str | None = None) -> ChannelCondition:
        """Take what is there, up to so many messages: ready at once."""
        return condition(self, self.name, 0, counted(self, "at_most", count), condition_id)

    def for_range(
        self,
        *,
        at_least: int | None = None,
        at_most: int | None = None,
        condition_id: str | None = None,
    ) -> ChannelCondition:
        """Wait for `at_least` messages and take up to `at_most`; one of them must be given."""
        return ranged(self, self.name, (at_least, at_most), condition_id)


def pending(
    context: Context, definition: Definition[ValueT], physical: str
) -> tuple[ChannelMessage[ValueT], ...]:
    """Give the loaded messages of a Channel or an instance."""
    data = definition.data_of(context, "pending_messages")
    messages = data.channels.pending(definition, physical)
    return tuple(ChannelMessage(message_id, value) for message_id, value in messages)


def found(
    context: Context, definition: Definition[ValueT], physical: str, message_id: str
) -> ChannelMessage[ValueT] | None:
    """Give a loaded message of a Channel or an instance, or None.

    Raises:
        DefinitionError: The id is no non-empty str.
    """
    data = definition.data_of(context, "find_pending_message")
    check_word(f"{definition.kind} {physical} find_pending_message message_id", message_id)
    messages = data.channels.pending(definition, physical, only=message_id)
    return next((ChannelMessage(*message) for message in messages), None)


def condition(
    definition: Definition[Any], physical: str, low: int, high: int | None, condition_id: str | None
) -> ChannelCondition:
    """Make the condition of a Channel or an instance.

    Raises:
        DefinitionError: A count or the id cannot hold.
    """
    given = condition_id_of(condition_id)
    return ChannelCondition(physical, low, high, definition.value_type, condition_id=given)


def ranged(
    definition: Definition[Any],
    physical: str,
    bounds: tuple[int | None, int | None],
    condition_id: str | None,
) -> ChannelCondition:
    """Make the condition of a range.

    Raises:
        DefinitionError: There is no bound, or it cannot hold.
    """
    low, high = bounds
    if low is None and high is None:
        raise DefinitionError(
            f"{definition.kind} {definition.name} for_range has no bound: "
            "give at_least, at_most or both"
        )
    return condition(definition, physical, 0 if low is None else low, high, condition_id)


def counted(definition: Definition[Any], what: str, count: Any) -> int:
    """Give back a count that must be one.

    Raises:
        DefinitionError: It is none.
    """
    check_count(definition.name, what, count)
    return int(count)
