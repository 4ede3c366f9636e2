"""dexnb: a laboratory for durable polling flows.

The authoring names are those of Dex, so that a Flow file of that world runs after only its import
line has changed to `from dexnb import ...`. `open`, `Runtime` and other names that load the engine
come when they are first used, and are no star exports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dexnb._version import __version__ as __version__
from dexnb.clock import Clock
from dexnb.errors import (
    DexnbError,
    FlowAlreadyStartedError,
    FlowDefinitionError,
    InvalidStepResultError,
    ValueMappingError,
)
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

if TYPE_CHECKING:
    from dexnb.connect import Runtime as Runtime
    from dexnb.connect import open as open
    from dexnb.engine import FlowResult as FlowResult
    from dexnb.engine import Run as Run
    from dexnb.engine import RuntimeOptions as RuntimeOptions
    from dexnb.engine import Session as Session
    from dexnb.jupyter import Lab as Lab
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

_LAZY = {
    "FlowResult": "dexnb.engine",
    "Lab": "dexnb.jupyter",
    "Run": "dexnb.engine",
    "Runtime": "dexnb.connect",
    "RuntimeOptions": "dexnb.engine",
    "Session": "dexnb.engine",
    "lab": "dexnb.jupyter.opening",
    "open": "dexnb.connect",
}


def __getattr__(name: str) -> Any:
    """Load a part when it is first used."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    message = f"module 'dexnb' has no attribute {name!r}"
    raise AttributeError(message)


def load_ipython_extension(ipython: Any) -> None:
    """Serve `%load_ext dexnb`."""
    from dexnb.jupyter import extension

    extension.load(ipython)


def __dir__() -> list[str]:
    """List the lazy names too."""
    return sorted({*globals(), *_LAZY})
