"""dexnb: a laboratory for durable polling flows.

The authoring names are those of Dex, so that a Flow file of that world runs after only its import
line has changed to `from dexnb import ...`. Every name loads its part when it is first used, so
`import dexnb` costs next to nothing. `open`, `lab` and others that would shadow a name or load
much are attributes and no star exports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dexnb._version import __version__ as __version__

if TYPE_CHECKING:
    from dexnb.clock import Clock
    from dexnb.connect import Client as Client
    from dexnb.connect import Runtime as Runtime
    from dexnb.connect import open as open
    from dexnb.engine import AsyncClient as AsyncClient
    from dexnb.engine import FlowInfo as FlowInfo
    from dexnb.engine import FlowResult as FlowResult
    from dexnb.engine import Run as Run
    from dexnb.engine import RuntimeOptions as RuntimeOptions
    from dexnb.engine import SearchFlowEntry as SearchFlowEntry
    from dexnb.engine import SearchFlowsPage as SearchFlowsPage
    from dexnb.engine import Session as Session
    from dexnb.engine import StepCompletion as StepCompletion
    from dexnb.engine import StreamMessagesPage as StreamMessagesPage
    from dexnb.errors import (
        AttributeMapNotLoadedError,
        ChannelMessageNotFoundError,
        ChannelMessagesNotLoadedError,
        DexnbError,
        FlowAlreadyStartedError,
        FlowDefinitionError,
        FlowNotActiveOrNotFoundError,
        FlowNotFoundError,
        InvalidStepResultError,
        LongPollTimeoutError,
        RequestTimeoutError,
        RetryAfterError,
        RpcLockConflictError,
        ValueMappingError,
        retry_after,
    )
    from dexnb.errors import ContextCallError as ContextCallError
    from dexnb.errors import DefinitionError as DefinitionError
    from dexnb.errors import DexnbWarning as DexnbWarning
    from dexnb.errors import FlowFailed as FlowFailed
    from dexnb.errors import ProviderError as ProviderError
    from dexnb.errors import RunNotFound as RunNotFound
    from dexnb.errors import RuntimeClosed as RuntimeClosed
    from dexnb.errors import WaitTimeout as WaitTimeout
    from dexnb.flow.attribute import Attribute, AttributeLock, AttributeMap, AttributeMapLoad
    from dexnb.flow.attribute_index import AttributeIndex, IndexType
    from dexnb.flow.attribute_match import AttributeMatch
    from dexnb.flow.buffered_text import AsyncBufferedTextStream, BufferedTextStream
    from dexnb.flow.channel import Channel, ChannelMessage
    from dexnb.flow.channel_map import ChannelMap, ChannelMapLoad
    from dexnb.flow.client_options import (
        StepExecutionId,
        StopFlowOptions,
        StopType,
        TimerId,
        WaitForAttributeOptions,
        WaitForStepCompletionOptions,
    )
    from dexnb.flow.codecs import (
        BOOL,
        BYTES,
        DOUBLE,
        INT64,
        STRING,
        Codec,
        CodecRegistry,
        JsonCodec,
    )
    from dexnb.flow.context import AsyncContext, Context, RecoveryErrorInfo
    from dexnb.flow.decision import (
        StepDecision,
        StepMovement,
        dead_end,
        force_complete,
        force_complete_if_channels_empty,
        force_fail,
        go_to,
        go_to_many,
        graceful_complete,
    )
    from dexnb.flow.flow import Flow
    from dexnb.flow.flow_config import FlowConfig
    from dexnb.flow.flow_status import FlowErrorType, FlowStatus
    from dexnb.flow.options import RetryPolicy, StepDurability, StepOptions, WaitForFailurePolicy
    from dexnb.flow.output import StepOutput, heartbeat
    from dexnb.flow.persistence import PersistenceSchema
    from dexnb.flow.registry import Registry
    from dexnb.flow.rpc import RPCInvokeOptions, RPCResult, rpc
    from dexnb.flow.start_options import (
        FlowTimeoutHandlerOptions,
        FlowTimeoutPolicy,
        IdReusePolicy,
        StartFlowOptions,
    )
    from dexnb.flow.step import Step, StepList
    from dexnb.flow.stream import Stream, StreamMessage
    from dexnb.flow.subflow import SubFlow, SubFlowOptions, SubFlowReusePolicy
    from dexnb.flow.time_travel import TimeTravelOptions, TimeTravelStepMethod, TimeTravelType
    from dexnb.flow.timer import Timer
    from dexnb.flow.wait import ConditionCombination, Wait
    from dexnb.jupyter.flow_graph import flow_graph as flow_graph
    from dexnb.jupyter.lab import Lab as Lab
    from dexnb.jupyter.opening import lab as lab

__all__ = [
    "BOOL",
    "BYTES",
    "DOUBLE",
    "INT64",
    "STRING",
    "AsyncBufferedTextStream",
    "AsyncContext",
    "Attribute",
    "AttributeIndex",
    "AttributeLock",
    "AttributeMap",
    "AttributeMapLoad",
    "AttributeMapNotLoadedError",
    "AttributeMatch",
    "BufferedTextStream",
    "Channel",
    "ChannelMap",
    "ChannelMapLoad",
    "ChannelMessage",
    "ChannelMessageNotFoundError",
    "ChannelMessagesNotLoadedError",
    "Clock",
    "Codec",
    "CodecRegistry",
    "ConditionCombination",
    "Context",
    "DexnbError",
    "Flow",
    "FlowAlreadyStartedError",
    "FlowConfig",
    "FlowDefinitionError",
    "FlowErrorType",
    "FlowNotActiveOrNotFoundError",
    "FlowNotFoundError",
    "FlowStatus",
    "FlowTimeoutHandlerOptions",
    "FlowTimeoutPolicy",
    "IdReusePolicy",
    "IndexType",
    "InvalidStepResultError",
    "JsonCodec",
    "LongPollTimeoutError",
    "PersistenceSchema",
    "RPCInvokeOptions",
    "RPCResult",
    "RecoveryErrorInfo",
    "Registry",
    "RequestTimeoutError",
    "RetryAfterError",
    "RetryPolicy",
    "RpcLockConflictError",
    "StartFlowOptions",
    "Step",
    "StepDecision",
    "StepDurability",
    "StepExecutionId",
    "StepList",
    "StepMovement",
    "StepOptions",
    "StepOutput",
    "StopFlowOptions",
    "StopType",
    "Stream",
    "StreamMessage",
    "SubFlow",
    "SubFlowOptions",
    "SubFlowReusePolicy",
    "TimeTravelOptions",
    "TimeTravelStepMethod",
    "TimeTravelType",
    "Timer",
    "TimerId",
    "ValueMappingError",
    "Wait",
    "WaitForAttributeOptions",
    "WaitForFailurePolicy",
    "WaitForStepCompletionOptions",
    "dead_end",
    "force_complete",
    "force_complete_if_channels_empty",
    "force_fail",
    "go_to",
    "go_to_many",
    "graceful_complete",
    "heartbeat",
    "retry_after",
    "rpc",
]

_PARTS = {
    "clock": "Clock",
    "connect": "Client Runtime open",
    "engine": "AsyncClient FlowInfo FlowResult Run RuntimeOptions SearchFlowEntry SearchFlowsPage "
    "Session StepCompletion StreamMessagesPage",
    "errors": "AttributeMapNotLoadedError ChannelMessageNotFoundError "
    "ChannelMessagesNotLoadedError ContextCallError DefinitionError DexnbError DexnbWarning "
    "FlowAlreadyStartedError FlowDefinitionError FlowFailed FlowNotActiveOrNotFoundError "
    "FlowNotFoundError InvalidStepResultError LongPollTimeoutError ProviderError "
    "RequestTimeoutError RetryAfterError RpcLockConflictError RunNotFound RuntimeClosed "
    "ValueMappingError WaitTimeout retry_after",
    "flow.attribute": "Attribute AttributeLock AttributeMap AttributeMapLoad",
    "flow.attribute_index": "AttributeIndex IndexType",
    "flow.attribute_match": "AttributeMatch",
    "flow.channel": "Channel ChannelMessage",
    "flow.channel_map": "ChannelMap ChannelMapLoad",
    "flow.client_options": "StepExecutionId StopFlowOptions StopType TimerId "
    "WaitForAttributeOptions WaitForStepCompletionOptions",
    "flow.codecs": "BOOL BYTES DOUBLE INT64 STRING Codec CodecRegistry JsonCodec",
    "flow.context": "AsyncContext Context RecoveryErrorInfo",
    "flow.decision": "StepDecision StepMovement dead_end force_complete "
    "force_complete_if_channels_empty force_fail go_to go_to_many graceful_complete",
    "flow.flow": "Flow",
    "flow.flow_config": "FlowConfig",
    "flow.flow_status": "FlowErrorType FlowStatus",
    "flow.options": "RetryPolicy StepDurability StepOptions WaitForFailurePolicy",
    "flow.output": "StepOutput heartbeat",
    "flow.persistence": "PersistenceSchema",
    "flow.registry": "Registry",
    "flow.rpc": "RPCInvokeOptions RPCResult rpc",
    "flow.start_options": "FlowTimeoutHandlerOptions FlowTimeoutPolicy IdReusePolicy "
    "StartFlowOptions",
    "flow.step": "Step StepList",
    "flow.buffered_text": "AsyncBufferedTextStream BufferedTextStream",
    "flow.stream": "Stream StreamMessage",
    "flow.subflow": "SubFlow SubFlowOptions SubFlowReusePolicy",
    "flow.time_travel": "TimeTravelOptions TimeTravelStepMethod TimeTravelType",
    "flow.timer": "Timer",
    "flow.wait": "ConditionCombination Wait",
    "jupyter.flow_graph": "flow_graph",
    "jupyter.lab": "Lab",
    "jupyter.opening": "lab",
}
_MODULES = ("clock", "errors", "jobs", "providers", "testing")
_HOME = {name: f"dexnb.{part}" for part, names in _PARTS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Load a part when it or one of its names is first used."""
    if name in _MODULES:
        return import_module(f"dexnb.{name}")
    if name not in _HOME:
        message = f"module 'dexnb' has no attribute {name!r}"
        raise AttributeError(message)
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    """List the names that are not loaded yet too."""
    return sorted({*globals(), *_HOME, *_MODULES})


def load_ipython_extension(ipython: Any) -> None:
    """Serve `%load_ext dexnb`."""
    import_module("dexnb.jupyter.extension").load(ipython)
