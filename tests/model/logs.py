"""Builds the log of a run by hand, event by event."""

from __future__ import annotations

from typing import Any

from dexnb.model.event import DURABLE_KINDS, Event, EventKind

HOSTILE = "\x1b[2J[bold red]x[/bold red]\r\n\u202e\ud800" + "y" * 5000
"""Clears the screen, opens markup, ends the line, turns the writing around, and goes on."""


class Log:
    """The log of one run; each event has the next number of its part, durable or telemetry."""

    def __init__(self, flow_type: str = "PollingFlow", flow_id: str = "job-1") -> None:
        """Start a run at 100 s."""
        self.flow_id = flow_id
        self.events: list[Event] = []
        self._last = {True: 0, False: 5000}
        self.add("flow_started", 100, flow_type=flow_type, input=None, overrides={})

    def add(
        self, kind: EventKind, at: float, step: str = "", attempt: int = 0, /, **payload: Any
    ) -> Log:
        """Let something happen."""
        durable = kind in DURABLE_KINDS
        self._last[durable] += 1
        self.events.append(
            Event(
                self._last[durable],
                self.flow_id,
                "0123456789abcdef",
                1000.0 + at,
                float(at),
                kind,
                step,
                attempt,
                payload,
            )
        )
        return self

    def scheduled(self, at: float, step: str = "AwaitJob-1", **payload: Any) -> Log:
        """Schedule an execution."""
        defaults = {"step_type": step.rpartition("-")[0], "input": None, "options": None}
        origin = {"from_step_execution_id": "", "recovery_error": None}
        return self.add("step_scheduled", at, step, **(defaults | origin | payload))

    def begun(self, at: float, attempt: int = 1, step: str = "AwaitJob-1", **payload: Any) -> Log:
        """Begin an attempt, with the options of the polling example."""
        defaults = {
            "deliveries": 1,
            "first_attempt_at": 100.0,
            "checkpoint": None,
            "execute_method_timeout": 600.0,
            "heartbeat_timeout": 60.0,
            "maximum_attempts": 3,
            "total_duration": 600.0,
        }
        return self.add("attempt_started", at, step, attempt, **(defaults | payload))

    def failed(self, at: float, attempt: int = 1, detail: str = "boom", **payload: Any) -> Log:
        """Let an attempt fail by an exception of its code."""
        failure = {"error_type": "builtins.ValueError", "detail": detail, "last_error": None}
        return self.add("attempt_ended", at, "AwaitJob-1", attempt, failure=failure | payload)

    def message(self, at: float, value: str, attempt: int = 1) -> Log:
        """Send a Stream message, given as JSON text."""
        payload = {"stream": "JobProgress", "value": value}
        return self.add("stream_message", at, "AwaitJob-1", attempt, **payload)

    def beat(self, at: float, checkpoint: str | None, attempt: int = 1) -> Log:
        """Give a heartbeat; None clears the checkpoint."""
        payload = {"checkpoint": checkpoint, "cleared": checkpoint is None}
        return self.add("heartbeat", at, "AwaitJob-1", attempt, **payload)

    def call(self, at: float, attempt: int = 1) -> Log:
        """Begin the call of a round."""
        return self.add("round_call", at, "AwaitJob-1", attempt, line=87, what="HttpJobs.status")

    def sleep(self, at: float, attempt: int = 1) -> Log:
        """Begin the sleep of a round."""
        return self.add("round_sleep", at, "AwaitJob-1", attempt, line=97, what="sleep")

    def completed(self, at: float, step: str = "AwaitJob-1", **decision: Any) -> Log:
        """Complete an execution, with an output by default."""
        defaults = {"kind": "graceful_complete", "movements": [], "output": "done"}
        rest = {"has_output": True, "reason": ""}
        return self.add("step_completed", at, step, 1, decision=defaults | rest | decision)

    def closed(self, at: float, status: str = "COMPLETED", error: str = "") -> Log:
        """End the run."""
        return self.add("flow_closed", at, status=status, error_type="", error_message=error)


def polling() -> Log:
    """Give a log in the middle of a wait: two messages, one heartbeat, sleeping at 104 s."""
    log = (
        Log().scheduled(100).begun(100).call(100).message(100.1, '{"state":"QUEUED"}').sleep(100.1)
    )
    log.call(102).message(102.1, '{"state":"RUNNING"}').sleep(102.1)
    return log.call(104).beat(104.1, '"RUNNING"').sleep(104.1)
