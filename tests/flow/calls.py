"""A call of a method, with the data that it sees and nothing of an engine."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

from dexnb import Context, PersistenceSchema, RecoveryErrorInfo
from dexnb.errors import Problem
from dexnb.flow.data import FlowData
from dexnb.flow.output import StepOutput
from dexnb.flow.persistence import Persistence, read_persistence

ValueT = TypeVar("ValueT")


class Call(Context):
    """The context of a call on this data."""

    flow_id = "f"
    run_id = "r"
    step_execution_id = "S-1"
    from_step_execution_id = ""
    recovery_error: RecoveryErrorInfo | None = None
    first_attempt_at = datetime(2026, 1, 1, tzinfo=UTC)
    attempt = 1
    data: FlowData = None  # type: ignore[assignment]  # each call has its own

    def __init__(self, data: FlowData) -> None:
        """See this data."""
        self.data = data

    def has_last_heartbeat_value(self) -> bool:
        """Tell that there is none."""
        return False

    def get_last_heartbeat_value(self, value_type: type[ValueT]) -> ValueT | None:
        """Give none."""
        return None

    def is_cancellation_requested(self) -> bool:
        """Tell that it goes on."""
        return False

    def write_stream(self, stream: Any, text: str) -> StepOutput | None:
        """Drop the message."""
        return None


def persistence_of(*definitions: Any) -> Persistence:
    """Give what Flow `F` keeps."""
    persistence, problems = read_persistence("F", PersistenceSchema.of(*definitions))
    assert problems == []
    return persistence


def call(
    *definitions: Any,
    attributes: dict[str, Any] | None = None,
    sizes: dict[str, int] | None = None,
    messages: dict[str, Any] | None = None,
    load_attributes: tuple[str, ...] = (),
    load_channels: tuple[str, ...] = (),
    **options: Any,
) -> Call:
    """Give a call on a Flow that lists these definitions, with this snapshot."""
    snapshot = {
        "attributes": attributes or {},
        "sizes": sizes or {},
        "messages": messages or {},
        "loads": {"attributes": list(load_attributes), "channels": list(load_channels)},
    }
    return Call(FlowData(persistence_of(*definitions), snapshot, **options))


def problems_of(schema: Any) -> list[Problem]:
    """Give what is wrong with a schema; each problem says where and what instead."""
    _, problems = read_persistence("F", schema)
    assert all(problem.where and problem.fix for problem in problems)
    return problems


def problem_of(*definitions: Any) -> str:
    """Give the one thing that is wrong with these definitions."""
    (problem,) = problems_of(PersistenceSchema.of(*definitions))
    return str(problem)
