"""`Ledger`: what one turn writes: events folded at once, work to do, messages to send."""

from __future__ import annotations

from typing import Any

from dexnb.engine.snapshot import payload_of
from dexnb.model.event import DurableKind, Event
from dexnb.model.history import apply
from dexnb.model.json_text import to_text
from dexnb.model.message import Message, encode_message
from dexnb.model.run_state import RunState
from dexnb.providers.items import Commit, NewMessage, NewWorkItem


class Ledger:
    """A run's state while a turn changes it, and all that the turn leads to.

    Args:
        state: What the history gives so far; it is changed.
        time: Store time of the turn, on which its events are stamped.
        wall: Wall-clock stamp of its events.
        now: Store time from which what is due later counts.
    """

    def __init__(self, state: RunState, *, time: float, wall: float, now: float) -> None:
        """Start with nothing written."""
        self.state = state
        self.time = time
        self.wall = wall
        self.now = now
        self.events: list[Event] = []
        self.scheduled: list[str] = []
        self.cancelled: list[str] = []
        self.messages: list[NewMessage] = []

    def emit(
        self, kind: DurableKind, step_execution_id: str = "", attempt: int = 0, **payload: Any
    ) -> None:
        """Write an event and fold it in; a payload's field that is None is left out."""
        state = self.state
        event = Event(
            seq=state.events + 1,
            flow_id=state.flow_id,
            run_id=state.run_id,
            wall=self.wall,
            time=self.time,
            kind=kind,
            step_execution_id=step_execution_id,
            attempt=attempt,
            payload=payload,
        )
        apply(state, event)
        self.events.append(event)

    def run(self, step_execution_id: str) -> None:
        """Put the method that an execution has come to into the work queue."""
        self.scheduled.append(step_execution_id)

    def tell(self, message: Message, *, delay: float = 0.0, run_id: str = "") -> None:
        """Send a message, to this run or another, visible after `delay` seconds."""
        at = self.now + delay if delay else 0.0
        self.messages.append(NewMessage(run_id or self.state.run_id, encode_message(message), at))

    def commit(self) -> Commit:
        """Give what the store applies."""
        state = self.state
        items = (self._item(key) for key in self.scheduled if key in state.active)
        return Commit(
            run_id=state.run_id,
            flow_id=state.flow_id,
            flow_type=state.flow_type,
            state=state.to_text(),
            status=state.status,
            events=tuple(self.events),
            work_items=tuple(items),
            cancelled=tuple(self.cancelled),
            messages=tuple(self.messages),
        )

    def _item(self, key: str) -> NewWorkItem:
        state = self.state
        step = state.active[key]
        return NewWorkItem(
            run_id=state.run_id,
            flow_id=state.flow_id,
            flow_type=state.flow_type,
            step_type=step.movement.step_type,
            step_execution_id=key,
            payload=to_text(payload_of(state, step)),
        )
