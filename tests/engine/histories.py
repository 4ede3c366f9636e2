"""Runs made of messages alone: what turns write, without an engine."""

from __future__ import annotations

from typing import Any

from dexnb.engine import turn
from dexnb.model.decision import Decision, Failure, Movement
from dexnb.model.event import Event
from dexnb.model.history import fold
from dexnb.model.json_text import from_text
from dexnb.model.message import Message, Start, StepDone, decode_message
from dexnb.model.run_state import RunState
from dexnb.model.settings import StepSettings
from dexnb.providers import Commit

FAILURE = Failure("builtins.ValueError", "boom")
OPTIONS = StepSettings(heartbeat_timeout=3.0).to_json()


class History:
    """A run that takes messages; after each turn its state is the fold of its events."""

    def __init__(self, start: Movement | None = None, **more: Any) -> None:
        """Start it with this Step, or with `A`."""
        step = start or Movement("A", {"n": 1})
        first = Start("flow", "F", {"n": 1}, step, {"knob": 2}, **more)
        self.events: list[Event] = []
        state = RunState("flow", "run")
        self.commit = self._keep(turn(state, [first], time=1.0, wall=10.0))

    def take(self, *messages: Message) -> Commit:
        """Apply one turn."""
        state = RunState.from_text(self.commit.state)
        self.commit = self._keep(turn(state, messages, time=2.0, wall=20.0))
        return self.commit

    def _keep(self, commit: Commit) -> Commit:
        first = len(self.events) + 1
        assert [event.seq for event in commit.events] == list(
            range(first, first + len(commit.events))
        )
        self.events.extend(commit.events)
        assert fold(self.events) == RunState.from_text(commit.state)
        assert commit.status == self.state.status
        return commit

    @property
    def state(self) -> RunState:
        """Give what the events add up to."""
        return fold(self.events)

    @property
    def sent(self) -> list[tuple[str, float, Message]]:
        """Give whom the last turn told what, and when they may see it."""
        messages = self.commit.messages
        return [(each.run_id, each.visible_at, decode_message(each.text)) for each in messages]

    @property
    def work(self) -> list[str]:
        """Give which executions the last turn put into the work queue."""
        return [item.step_execution_id for item in self.commit.work_items]

    @property
    def kinds(self) -> list[str]:
        """Give what the last turn wrote."""
        return [event.kind for event in self.commit.events]


def done(key: str, decision: Decision) -> StepDone:
    """Make the message of a Step that decided."""
    return StepDone(key, 1, decision)


def goes_to(*step_types: str) -> Decision:
    """Make a decision for these Steps, which get their own names as input."""
    return Decision("next", tuple(Movement(name, name) for name in step_types))


def payload(commit: Commit, index: int = 0) -> dict[str, Any]:
    """Read what an enqueued attempt carries."""
    document: dict[str, Any] = from_text(commit.work_items[index].payload)
    return document
