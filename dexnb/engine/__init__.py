"""The engine: runs Flows on any Provider, in a plain script or in a kernel."""

from __future__ import annotations

from dexnb.engine.engine import Engine
from dexnb.engine.options import RuntimeOptions
from dexnb.engine.result import FlowResult, StepCompletion
from dexnb.engine.run import AsyncRun
from dexnb.engine.runtime import Runtime
from dexnb.engine.session import Run, Session
from dexnb.engine.turn import start_run, turn

__all__ = [
    "AsyncRun",
    "Engine",
    "FlowResult",
    "Run",
    "Runtime",
    "RuntimeOptions",
    "Session",
    "StepCompletion",
    "start_run",
    "turn",
]
