"""How a run ended, from its state."""

from __future__ import annotations

from dexnb.flow.result import FlowResult, completions_from
from dexnb.model.run_state import RunState


def result_of(state: RunState) -> FlowResult:
    """Give the result that a run's state tells."""
    return FlowResult(
        state.flow_id,
        state.run_id,
        state.status,
        completions_from(state.completions),
        state.error_type,
        state.error_message,
    )
