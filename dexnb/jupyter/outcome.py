"""`Outcome`: with what a run ended, as the page shows it; read from the store once."""

from __future__ import annotations

from typing import Any

from dexnb.engine import Run, Session
from dexnb.model.json_text import to_text
from dexnb.widgets.wire import short


class Outcome:
    """The outputs of the run that a Lab follows."""

    def __init__(self) -> None:
        """Start with no run."""
        self._run_id = ""
        self._outputs: list[dict[str, Any]] = []

    def outputs(self, session: Session, run: Run | None) -> list[dict[str, Any]]:
        """Give the outputs of a run that has ended: `step` and the `value` as JSON text, cut."""
        if run is None:
            return []
        if run.run_id != self._run_id and session.is_open:
            state = run.state()
            if not state.closed:
                return []
            self._run_id = run.run_id
            self._outputs = [
                {"step": end["step_execution_id"], "value": to_text(end["output"])}
                for end in state.completions
                if "output" in end
            ]
        found: list[dict[str, Any]] = short(self._outputs) if run.run_id == self._run_id else []
        return found
