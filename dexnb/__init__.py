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
    from dexnb.connect import Runtime as Runtime
    from dexnb.connect import open as open
    from dexnb.engine import FlowResult as FlowResult
    from dexnb.engine import Run as Run
    from dexnb.engine import RuntimeOptions as RuntimeOptions
    from dexnb.engine import Session as Session
    from dexnb.errors import DefinitionError as DefinitionError
    from dexnb.errors import (
        DexnbError,
        FlowAlreadyStartedError,
        FlowDefinitionError,
        InvalidStepResultError,
        ValueMappingError,
    )
    from dexnb.errors import FlowFailed as FlowFailed
    from dexnb.errors import ProviderError as ProviderError
    from dexnb.errors import RunNotFound as RunNotFound
    from dexnb.errors import RuntimeClosed as RuntimeClosed
    from dexnb.errors import WaitTimeout as WaitTimeout
    from dexnb.flow.context import AsyncContext, Context, RecoveryErrorInfo
    from dexnb.flow.decision import (
        StepDecision,
        StepMovement,
        dead_end,
        force_complete,
        force_fail,
        go_to,
        graceful_complete,
    )
    from dexnb.flow.flow import Flow
    from dexnb.flow.options import RetryPolicy, StepDurability, StepOptions
    from dexnb.flow.output import StepOutput, heartbeat
    from dexnb.flow.persistence import PersistenceSchema
    from dexnb.flow.registry import Registry
    from dexnb.flow.step import Step, StepList
    from dexnb.flow.stream import Stream, StreamMessage
    from dexnb.jupyter.lab import Lab as Lab
    from dexnb.jupyter.opening import lab as lab

__all__ = [
    "AsyncContext",
    "Clock",
    "Context",
    "DexnbError",
    "Flow",
    "FlowAlreadyStartedError",
    "FlowDefinitionError",
    "InvalidStepResultError",
    "PersistenceSchema",
    "RecoveryErrorInfo",
    "Registry",
    "RetryPolicy",
    "Step",
    "StepDecision",
    "StepDurability",
    "StepList",
    "StepMovement",
    "StepOptions",
    "StepOutput",
    "Stream",
    "StreamMessage",
    "ValueMappingError",
    "dead_end",
    "force_complete",
    "force_fail",
    "go_to",
    "graceful_complete",
    "heartbeat",
]

_PARTS = {
    "clock": "Clock",
    "connect": "Runtime open",
    "engine": "FlowResult Run RuntimeOptions Session",
    "errors": "DefinitionError DexnbError FlowAlreadyStartedError FlowDefinitionError FlowFailed "
    "InvalidStepResultError ProviderError RunNotFound RuntimeClosed ValueMappingError WaitTimeout",
    "flow.context": "AsyncContext Context RecoveryErrorInfo",
    "flow.decision": "StepDecision StepMovement dead_end force_complete force_fail go_to "
    "graceful_complete",
    "flow.flow": "Flow",
    "flow.options": "RetryPolicy StepDurability StepOptions",
    "flow.output": "StepOutput heartbeat",
    "flow.persistence": "PersistenceSchema",
    "flow.registry": "Registry",
    "flow.step": "Step StepList",
    "flow.stream": "Stream StreamMessage",
    "jupyter.lab": "Lab",
    "jupyter.opening": "lab",
}
_HOME = {name: f"dexnb.{part}" for part, names in _PARTS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Load a part when one of its names is first used."""
    if name not in _HOME:
        message = f"module 'dexnb' has no attribute {name!r}"
        raise AttributeError(message)
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    """List the names that are not loaded yet too."""
    return sorted({*globals(), *_HOME})


def load_ipython_extension(ipython: Any) -> None:
    """Serve `%load_ext dexnb`."""
    import_module("dexnb.jupyter.extension").load(ipython)
