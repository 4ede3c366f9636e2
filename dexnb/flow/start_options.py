"""`StartFlowOptions`: what a start says beside the input."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from typing import Any, TypeVar, overload

from dexnb.errors import DefinitionError
from dexnb.flow.attribute import Attribute, AttributeLock, AttributeMap, AttributeMapLoad
from dexnb.flow.channel import Channel
from dexnb.flow.channel_map import ChannelMap, ChannelMapLoad
from dexnb.flow.flow_config import FlowConfig
from dexnb.flow.options import Recovery, RetryPolicy, StepDurability, StepOptions
from dexnb.flow.step import Step
from dexnb.model.shown import shown

ValueT = TypeVar("ValueT")


class FlowTimeoutPolicy(Enum):
    """What happens when a run's timeout is over.

    DEFAULT is HANDLER for a Flow that overrides handle_timeout, and FAIL for others.
    """

    DEFAULT = "default"
    FAIL = "fail"
    CANCEL = "cancel"
    HANDLER = "handler"


class IdReusePolicy(Enum):
    """Whether a flow id that was used before may start a run.

    DEFAULT refuses every id that was used before.
    """

    DEFAULT = "default"
    ALLOW_IF_PREVIOUS_FAILED = "allow_if_previous_failed"
    ALLOW_IF_NOT_RUNNING = "allow_if_not_running"
    ALLOW_TERMINATE_IF_RUNNING = "allow_terminate_if_running"
    DISALLOW = "disallow"


@dataclass(frozen=True)
class FlowTimeoutHandlerOptions:
    """What `Flow.handle_timeout` asks of the runtime; as the execute fields of `StepOptions`."""

    method_timeout: timedelta | None = None
    heartbeat_timeout: timedelta | None = None
    retry: RetryPolicy | None = None
    durability: StepDurability = StepDurability.DEFAULT
    lock_attributes: tuple[AttributeLock, ...] = ()
    load_attribute_maps: tuple[AttributeMap[Any], ...] = ()
    load_attribute_map_instances: tuple[AttributeMapLoad, ...] = ()
    load_channels: tuple[Channel[Any], ...] = ()
    load_channel_maps: tuple[ChannelMap[Any], ...] = ()
    load_channel_map_instances: tuple[ChannelMapLoad, ...] = ()
    recovery: Recovery | None = field(default=None, kw_only=True)

    def on_failure_proceed_to(
        self, step: type[Step[None]], options: StepOptions | None = None
    ) -> FlowTimeoutHandlerOptions:
        """Give a copy that leads to `step`, which takes None, when no retry is left."""
        return replace(self, recovery=Recovery(step, options))


@dataclass(frozen=True)
class InitialAttribute:
    """A value that an Attribute, or an instance of a map, has when the run begins."""

    attribute: Attribute[Any] | AttributeMap[Any]
    instance: str | None
    value: Any

    @property
    def physical_name(self) -> str:
        """The name that it has in the store."""
        if isinstance(self.attribute, AttributeMap):
            return self.attribute.physical_name(self.instance or "")
        return self.attribute.physical_name()


@dataclass(frozen=True)
class WithAttributes:
    """The part that options of a start and of a SubFlow have in common."""

    attributes: tuple[InitialAttribute, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class StartFlowOptions(WithAttributes):
    """What a start says beside the input; what cannot hold is refused before anything is stored.

    Args:
        timeout: Time from the start after which the policy takes effect; none by default.
        timeout_policy: What happens then.
        timeout_handler_options: What `Flow.handle_timeout` asks of the runtime.
        start_delay: Time before the start Step may begin.
        id_reuse_policy: Whether the flow id may have been used before.
        retry_policy: Must be left out: Steps are retried, Flows are not.
        config_override: What the run asks of the runtime.
        ignore_already_started: With the `request_id` of an earlier start, gives that one's run.
        request_id: Tells this start from others with the same flow id.
    """

    timeout: timedelta | None = None
    timeout_policy: FlowTimeoutPolicy = FlowTimeoutPolicy.DEFAULT
    timeout_handler_options: FlowTimeoutHandlerOptions | None = None
    start_delay: timedelta | None = None
    id_reuse_policy: IdReusePolicy = IdReusePolicy.DEFAULT
    retry_policy: RetryPolicy | None = None
    config_override: FlowConfig | None = None
    ignore_already_started: bool = False
    request_id: str | None = None

    @overload
    def with_attribute(
        self, attribute: Attribute[ValueT], value: ValueT, /
    ) -> StartFlowOptions: ...
    @overload
    def with_attribute(
        self, attribute: AttributeMap[ValueT], instance: str, value: ValueT, /
    ) -> StartFlowOptions: ...
    def with_attribute(self, attribute: Any, /, *given: Any) -> StartFlowOptions:
        """Give a copy with which the run begins with this value; a later one replaces it.

        Raises:
            DefinitionError: A map was given without an instance, or an Attribute with one.
        """
        return replace(self, attributes=(*self.attributes, initial_attribute(attribute, given)))


def initial_attribute(attribute: Any, given: tuple[Any, ...]) -> InitialAttribute:
    """Read what `with_attribute` was called with.

    Raises:
        DefinitionError: It is no Attribute and value, nor an AttributeMap, instance and value.
    """
    match attribute, given:
        case Attribute(), (value,):
            return InitialAttribute(attribute, None, value)
        case AttributeMap(), (instance, value):
            attribute.physical_name(instance)
            return InitialAttribute(attribute, instance, value)
    fix = "give (attribute, value), or (attribute_map, instance, value)"
    arguments = ", ".join(map(shown, (attribute, *given)))
    raise DefinitionError(f"with_attribute got ({arguments}): {fix}")
