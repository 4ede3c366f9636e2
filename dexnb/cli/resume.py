"""What a retry or a crash cost: where each later attempt began, and which messages it repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dexnb.cli import words
from dexnb.cli.text import printable
from dexnb.flow.stream import StreamMessage
from dexnb.model.event import Event

NOISE_SECONDS = 0.001
"""How far the wall-clock stamps of a message and of an event may disagree."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """An attempt that went on where another one had ended.

    Args:
        step_execution_id: The execution.
        attempt: Its number; the same as before where the work was given back in order.
        checkpoint: The JSON text that it began with; None without one.
        method: The Step's method that it runs.
        why: How the one before it ended.
        repeated: How many Stream messages it sent that had been sent before it began.
    """

    step_execution_id: str
    attempt: int
    checkpoint: str | None
    method: str
    why: str
    repeated: int

    def __str__(self) -> str:
        """Give the lines for people."""
        start = "no checkpoint" if self.checkpoint is None else f"checkpoint {self.checkpoint}"
        count = "1 Stream message" if self.repeated == 1 else f"{self.repeated} Stream messages"
        return (
            f"{printable(self.step_execution_id, 60)}: {self.why}\n"
            f"  {words.attempt(self.attempt, method=self.method)} resumed from {printable(start)} "
            f"and repeated {count}"
        )


def resumed(events: Sequence[Event], streams: Sequence[Sequence[StreamMessage]]) -> list[Resumed]:
    """Find the attempts of a run that went on where others had ended.

    Args:
        events: Its log, in order.
        streams: The kept messages of each of its Streams, in order.
    """
    found = []
    before: dict[str, Event] = {}
    methods: dict[str, str] = {}
    for event in events:
        key = event.step_execution_id
        if event.kind == "attempt_started":
            method = str(event.payload.get("method", "execute"))
            # What follows a wait_for that is done, or given up, is execute and goes on nowhere.
            if key in before and methods[key] == method:
                repeated = sum(_repeated(event, messages) for messages in streams)
                checkpoint, why = event.payload["checkpoint"], _why(before[key], method)
                found.append(Resumed(key, event.attempt, checkpoint, method, why, repeated))
            methods[key] = method
        if event.kind == "attempt_started" or (event.kind == "attempt_ended" and key in methods):
            before[key] = event
    return found


def _why(last: Event, method: str) -> str:
    number = words.attempt(last.attempt, method=method)
    if last.kind == "attempt_started":
        return f"{number} was lost with its process"
    if "failure" in last.payload:
        return f"{number} failed: {words.failure(last.payload['failure'])}"
    reason = str(last.payload.get("reason", "ended")).replace("_", " ")
    return f"{number} was {printable(reason)}"


def _repeated(start: Event, messages: Sequence[StreamMessage]) -> int:
    since = start.wall - NOISE_SECONDS
    own = [message for message in messages if message.source == f"#{start.step_execution_id}"]
    before = [message.value for message in own if message.created_time < since]
    after = [message.value for message in own if message.created_time >= since]
    return overlap(before, after)


def overlap(before: Sequence[Any], after: Sequence[Any]) -> int:
    """Count what was sent twice: the longest beginning of `after` that ends `before`."""
    for length in range(min(len(before), len(after)), 0, -1):
        if list(before[-length:]) == list(after[:length]):
            return length
    return 0
