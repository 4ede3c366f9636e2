"""The Attributes, Channels and Streams that a call from outside names: by object, or by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dexnb.errors import DefinitionError
from dexnb.flow.attribute import Attribute, AttributeMap
from dexnb.flow.channel import Channel
from dexnb.flow.channel_map import ChannelMap
from dexnb.flow.stream import Stream
from dexnb.model.shown import shown

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine

AnyAttribute = Attribute[Any] | AttributeMap[Any]
AnyChannel = Channel[Any] | ChannelMap[Any]


def attribute_of(engine: Engine, flow_type: str, given: Any) -> AnyAttribute:
    """Give an Attribute or AttributeMap of a Flow.

    Raises:
        DefinitionError: It is none, or none of that Flow; or a name of a Flow that is not
            registered here.
    """
    found: AnyAttribute = _definition(engine, flow_type, given, "attributes", _ATTRIBUTES)
    return found


def channel_of(engine: Engine, flow_type: str, given: Any) -> AnyChannel:
    """Give a Channel or ChannelMap of a Flow.

    Raises:
        DefinitionError: As `attribute_of`.
    """
    found: AnyChannel = _definition(engine, flow_type, given, "channels", _CHANNELS)
    return found


def stream_of(engine: Engine, flow_type: str, given: Any) -> Stream[Any]:
    """Give a Stream of a Flow.

    Raises:
        DefinitionError: As `attribute_of`.
    """
    found: Stream[Any] = _definition(engine, flow_type, given, "streams", (Stream,))
    return found


def physical_name(definition: AnyAttribute | AnyChannel, instance: Any) -> str:
    """Give the name that a definition, or an instance of a map, has in the store.

    Raises:
        DefinitionError: A map was given without an instance, or another one with one.
    """
    if isinstance(definition, AttributeMap | ChannelMap):
        return definition.physical_name(instance)
    if instance != "":
        fix = f"leave it out, {definition.kind} {definition.name} has none"
        raise DefinitionError(f"instance is {shown(instance)}: {fix}")
    return definition.name


_ATTRIBUTES = (Attribute, AttributeMap)
_CHANNELS = (Channel, ChannelMap)


def _definition(
    engine: Engine, flow_type: str, given: Any, part: str, kinds: tuple[type, ...]
) -> Any:
    noun = " or ".join(kind.__name__ for kind in kinds)
    named = isinstance(given, str)
    if not named and not isinstance(given, kinds):
        raise DefinitionError(f"{shown(given)} is no {noun}: give one, or its name")
    flow = engine.registry.get(flow_type)
    if flow is None:
        if named:
            fix = f"register its code, or give the {noun} itself"
            raise DefinitionError(f"no Flow named {flow_type} is registered here: {fix}")
        return given
    listed: Mapping[str, Any] = getattr(flow.persistence, part)
    name = given if named else given.name
    if name not in listed:
        known = ", ".join(sorted(listed)) or "none"
        noun = part.removesuffix("s").title()
        raise DefinitionError(f"{flow_type} has no {noun} {shown(name)}; its {noun}s: {known}")
    if named:
        return listed[name]
    if part != "streams":
        flow.persistence.check(given)
    return given
