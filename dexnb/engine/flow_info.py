"""What a client is told of runs without their history."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from dexnb.model.run_state import RunState, RunStatus


@dataclass(frozen=True)
class FlowInfo:
    """A run in short.

    Args:
        flow_id: The Flow's id.
        run_id: The newest run of it.
        flow_type: The Flow's registered name.
        status: RUNNING, COMPLETED, FAILED, CANCELED or TERMINATED.
        started_at: When it began, in UTC. A run that went on from another's past by time travel
            has that one's.
    """

    flow_id: str
    run_id: str
    flow_type: str
    status: RunStatus
    started_at: datetime


@dataclass(frozen=True)
class SearchFlowEntry:
    """A run that was found.

    Args:
        flow_id: The Flow's id.
        run_id: The run.
        flow_type: The Flow's registered name.
        status: RUNNING, COMPLETED, FAILED, CANCELED or TERMINATED.
        started_at: When it began, in UTC. A run that went on from another's past by time travel
            has that one's.
        closed_at: When it ended; None while it runs.
        indexed_attributes: Values by index key; of an AttributeMap, values by instance.
    """

    flow_id: str
    run_id: str
    flow_type: str
    status: RunStatus
    started_at: datetime
    closed_at: datetime | None = None
    indexed_attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchFlowsPage:
    """Runs that were found, newest first.

    Args:
        entries: The page.
        next_page_token: Gives the next page; empty where nothing else was found.
    """

    entries: tuple[SearchFlowEntry, ...]
    next_page_token: str


def info_of(state: RunState) -> FlowInfo:
    """Give a run in short."""
    began = moment(state.started_at)
    return FlowInfo(state.flow_id, state.run_id, state.flow_type, state.status, began)


def moment(seconds: float) -> datetime:
    """Give a moment of the store's clock as a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)
