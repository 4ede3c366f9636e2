"""The engine: runs Flows on any Provider, in a plain script or in a kernel."""

from __future__ import annotations

from dexnb.engine.async_client import AsyncClient
from dexnb.engine.client import Client
from dexnb.engine.engine import Engine
from dexnb.engine.flow_info import FlowInfo, SearchFlowEntry, SearchFlowsPage
from dexnb.engine.options import RuntimeOptions
from dexnb.engine.run import AsyncRun
from dexnb.engine.runtime import Runtime
from dexnb.engine.session import Session
from dexnb.engine.session_run import Run
from dexnb.engine.stream_calls import StreamMessagesPage
from dexnb.engine.turn import turn
from dexnb.flow.result import FlowResult, StepCompletion

__all__ = [
    "AsyncClient",
    "AsyncRun",
    "Client",
    "Engine",
    "FlowInfo",
    "FlowResult",
    "Run",
    "Runtime",
    "RuntimeOptions",
    "SearchFlowEntry",
    "SearchFlowsPage",
    "Session",
    "StepCompletion",
    "StreamMessagesPage",
    "turn",
]
