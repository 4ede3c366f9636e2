"""Stores of durable runs: the `Provider` contract, what passes through it, and the memory store.

The other stores live in subpackages that load when they are named, so importing this package loads
no database.
"""

from __future__ import annotations

from dexnb.providers.base import Handlers, Provider, Taker
from dexnb.providers.items import (
    Beat,
    Commit,
    NewMessage,
    NewWorkItem,
    OrchestrationItem,
    QueueDepths,
    QueuedMessage,
    RunRecord,
    Started,
    StreamRecord,
    StreamWrite,
    TelemetryChunk,
    WorkItem,
)
from dexnb.providers.memory import MemoryProvider
from dexnb.providers.memory_store import MemoryStore
from dexnb.providers.store_clock import Anchor, StoreClock, anchor_of, clock_for, readings_for

__all__ = [
    "Anchor",
    "Beat",
    "Commit",
    "Handlers",
    "MemoryProvider",
    "MemoryStore",
    "NewMessage",
    "NewWorkItem",
    "OrchestrationItem",
    "Provider",
    "QueueDepths",
    "QueuedMessage",
    "RunRecord",
    "Started",
    "StoreClock",
    "StreamRecord",
    "StreamWrite",
    "Taker",
    "TelemetryChunk",
    "WorkItem",
    "anchor_of",
    "clock_for",
    "readings_for",
]
