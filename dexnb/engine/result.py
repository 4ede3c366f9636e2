"""How a run ended, from its state."""

from __future__ import annotations

from dexnb.flow.codecs import CodecRegistry
from dexnb.flow.result import FlowResult, completions_from
from dexnb.model.run_state import RunState


def result_of(state: RunState, codecs: CodecRegistry) -> FlowResult:
    """Give the result that a run's state tells, whose outputs are read by these codecs."""
    return FlowResult(
        state.flow_id,
        state.run_id,
        state.status,
        completions_from(state.completions, codecs),
        state.error_type,
        state.error_message,
    )
