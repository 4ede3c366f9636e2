"""`rpc` and `RPCResult`: methods of a Flow that are called from outside while a run is open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any, Generic, TypeVar, overload

from dexnb.errors import DefinitionError
from dexnb.flow.attribute import AttributeLock, AttributeMap, AttributeMapLoad
from dexnb.flow.channel import Channel
from dexnb.flow.channel_map import ChannelMap, ChannelMapLoad
from dexnb.flow.decision import StepMovement, added
from dexnb.flow.step import Step
from dexnb.model.shown import shown

OutputT = TypeVar("OutputT")
HandlerT = TypeVar("HandlerT", bound=Callable[..., Any])

MARK = "__dexnb_rpc__"
"""The attribute of a function that makes it an RPC; holds its `RpcOptions`."""


@dataclass(frozen=True)
class RPCResult(Generic[OutputT]):
    """What an RPC returns: its output, and what it starts and cancels.

    An RPC cannot close the Flow; it starts a Step that does.

    Args:
        output: What the caller gets.
        next_steps: Steps to start, each made by `StepMovement.of(YourStep, input)`.
        canceling_steps: Steps whose executions are cancelled first.
    """

    output: OutputT
    next_steps: tuple[StepMovement, ...] = ()
    canceling_steps: tuple[type[Step[Any]], ...] = ()

    def with_canceling_steps(self, *steps: type[Step[Any]]) -> RPCResult[OutputT]:
        """Give a copy that cancels every execution of these Steps too."""
        return replace(self, canceling_steps=added(self.canceling_steps, steps))


@dataclass(frozen=True)
class RpcOptions:
    """What `@rpc(...)` was given; the Flow's registration checks it."""

    name: str | None = None
    timeout: timedelta | None = None
    lock_attributes: tuple[AttributeLock, ...] = ()
    is_transactional: bool = False
    load_attribute_maps: tuple[AttributeMap[Any], ...] = ()
    load_attribute_map_instances: tuple[AttributeMapLoad, ...] = ()
    load_channels: tuple[Channel[Any], ...] = ()
    load_channel_maps: tuple[ChannelMap[Any], ...] = ()
    load_channel_map_instances: tuple[ChannelMapLoad, ...] = ()


@overload
def rpc(handler: HandlerT) -> HandlerT: ...


@overload
def rpc(
    handler: None = None,
    *,
    name: str | None = None,
    timeout: timedelta | None = None,
    lock_attributes: tuple[AttributeLock, ...] = (),
    is_transactional: bool = False,
    load_attribute_maps: tuple[AttributeMap[Any], ...] = (),
    load_attribute_map_instances: tuple[AttributeMapLoad, ...] = (),
    load_channels: tuple[Channel[Any], ...] = (),
    load_channel_maps: tuple[ChannelMap[Any], ...] = (),
    load_channel_map_instances: tuple[ChannelMapLoad, ...] = (),
) -> Callable[[HandlerT], HandlerT]: ...


def rpc(handler: Any = None, **options: Any) -> Any:  # noqa: D417 - the options stand in the signature above
    """Mark a method of a Flow as an RPC: `@rpc`, or `@rpc(...)` with options.

    The method takes `(self, context)` or `(self, context, input)` and returns an `RPCResult`, or
    None. It may read and write Attributes, use Channels and record events; it has no heartbeat, no
    Stream and no locals.

    Args:
        handler: The method, where no options are given.
        name: What callers use; the method's name unless given.
        timeout: Longest run of one call.
        lock_attributes: Attributes that no other method holds meanwhile; a call that cannot have
            them at once is refused.
        is_transactional: Whether its writes count only if nothing has changed meanwhile; else it is
            run again, a few times and after short pauses, and the last times while the run stands
            still for it, for half a second at most. Any event of the run counts, so that a busy one
            outruns a method that takes longer: let it and the Steps that write lock the same
            Attributes there, which keeps their values together without this flag.
        load_attribute_maps: Maps to load with all their instances.
        load_attribute_map_instances: Single instances, from `AttributeMap.load(...)`.
        load_channels: Channels whose pending messages are read.
        load_channel_maps: Maps of Channels with all their instances.
        load_channel_map_instances: Single ones, from `ChannelMap.load_messages(...)`.

    Raises:
        DefinitionError: What stands under it is no method, or there is no such option.
    """
    _check_known(options)
    given = RpcOptions(**options)
    if handler is None:
        return lambda method: _mark(method, given)
    return _mark(handler, given)


def _check_known(options: dict[str, Any]) -> None:
    known = [field.name for field in fields(RpcOptions)]
    for name in options:
        if name not in known:
            raise DefinitionError(
                f"@rpc option {name} is not there: leave it out, or give one of its options: "
                f"{', '.join(known)}"
            )


def _mark(method: Any, options: RpcOptions) -> Any:
    if isinstance(method, staticmethod | classmethod | property) or not callable(method):
        fix = "put it over a plain method of the Flow, def name(self, context): ..."
        raise DefinitionError(f"@rpc stands over {shown(method)}: {fix}")
    if isinstance(method, type):
        fix = "put it over a method of the Flow"
        raise DefinitionError(f"@rpc stands over the class {method.__name__}: {fix}")
    setattr(method, MARK, options)
    return method


def options_of(method: Any) -> RpcOptions | None:
    """Give what `@rpc` was given for a method, bound or not; None for what is no RPC."""
    found = getattr(method, MARK, None)
    return found if isinstance(found, RpcOptions) else None


def rpc_name(method: Any) -> str:
    """Give the name under which a marked method is called; a name is one itself.

    Raises:
        DefinitionError: It is no RPC.
    """
    if isinstance(method, str):
        return method
    options = options_of(method)
    if options is None:
        fix = "give a method of your Flow that stands under @rpc, as YourFlow.method, or its name"
        raise DefinitionError(f"rpc_method is {shown(method)}: {fix}")
    return str(method.__name__ if options.name is None else options.name)


@dataclass(frozen=True)
class RPCInvokeOptions:
    """What one call of an RPC locks and loads beside what its `@rpc(...)` says.

    Args:
        lock_attribute_map_instances: From `AttributeMap.lock(...)`, for instances that only the
            caller knows.
        load_attribute_map_instances: From `AttributeMap.load(...)`.
        load_channel_map_instances: From `ChannelMap.load_messages(...)`.
    """

    lock_attribute_map_instances: tuple[AttributeLock, ...] = ()
    load_attribute_map_instances: tuple[AttributeMapLoad, ...] = ()
    load_channel_map_instances: tuple[ChannelMapLoad, ...] = ()
