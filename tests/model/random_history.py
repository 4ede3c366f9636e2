"""Histories that the engine's turns make of messages drawn at random."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from dexnb.engine.turn import SUBFLOW, turn
from dexnb.model.decision import Decision, Failure, Movement
from dexnb.model.event import Event
from dexnb.model.message import (
    DelayOver,
    Message,
    Published,
    RpcBegin,
    RpcDone,
    RpcExpired,
    Start,
    StepDone,
    StepFailed,
    Stop,
    SubFlowClosed,
    TimerFired,
    WaitDone,
)
from dexnb.model.run_state import RunState

ATTRIBUTES = ("a", "b", "m/1", "m/2")
CHANNELS = ("c", "d", "n/1")
LOADS: dict[str, Any] = {"attributes": [], "channels": []}


class Drawn:
    """A run to which random messages are told, most of which it can take."""

    def __init__(self, seed: int) -> None:
        """Start it with a Step that may wait and lock."""
        self.random = Random(seed)
        self.state = RunState(flow_id="f", run_id="r")
        self.events: list[Event] = []
        attributes = {"a": 0} if self._odds(0.5) else {}
        delay = 5.0 if self._odds(0.3) else 0.0
        first = self._movement()
        self.tell(Start("f", "F", None, first, start_delay=delay, attributes=attributes))

    def run(self, turns: int) -> Iterator[list[Event]]:
        """Tell it something, time after time; give what each turn wrote."""
        for _ in range(turns):
            yield self.tell(self._message())

    def tell(self, message: Message) -> list[Event]:
        """Take one turn."""
        time = float(len(self.events))
        events = list(turn(self.state, [message], time=time, wall=time + 9).events)
        self.events += events
        return events

    def _odds(self, share: float) -> bool:
        return self.random.random() < share

    def _some(self, names: tuple[str, ...]) -> list[str]:
        return self.random.sample(names, self.random.randint(0, 2))

    def _movement(self) -> Movement:
        locks = {"wait_for": self._some(ATTRIBUTES), "execute": self._some(ATTRIBUTES)}
        plan = {
            "wait_for": self._odds(0.6),
            "wait_for_failure": self.random.choice(("PROCEED", "FAIL_FLOW")),
            "locks": locks,
            "loads": {"wait_for": LOADS, "execute": LOADS},
        }
        name = self.random.choice("ABC")
        return Movement(name, None, None, plan if self._odds(0.8) else None)

    def _message(self) -> Message:
        draw = self.random
        delayed = [key for key, step in self.state.active.items() if step.phase == "delayed"]
        if delayed and self._odds(0.3):
            return DelayOver(delayed[0])
        match draw.choice(("step", "step", "step", "publish", "timer", "subflow", "rpc", "stop")):
            case "step":
                return self._end_of_method()
            case "publish":
                values = [draw.randint(0, 9) for _ in range(draw.randint(1, 3))]
                return Published(draw.choice(CHANNELS), values, "", self._request())
            case "timer":
                return TimerFired(*self._condition_of("timer"), self._odds(0.3))
            case "subflow":
                return SubFlowClosed(*self._condition_of("subflow"), self._result())
            case "rpc":
                return self._call()
            case _:
                return Stop() if self._odds(0.05) else RpcExpired(self._request())

    def _result(self) -> dict[str, Any]:
        status = self.random.choice(("RUNNING", "COMPLETED", "FAILED"))
        return {"flow_id": f"s{self.random.randint(0, 2)}", "run_id": "x", "status": status}

    def _request(self) -> str:
        return f"q{self.random.randint(0, 40)}"

    def _key(self) -> str:
        gone = ["Z-1"] if self._odds(0.1) else []
        return self.random.choice([*self.state.active, *gone] or ["Z-1"])

    def _condition_of(self, kind: str) -> tuple[str, int]:
        """Choose a condition of a waiting Step, or one that is not there."""
        found = [
            (key, place)
            for key, step in self.state.waiting
            for place, each in enumerate(step.wait["conditions"] if step.wait else [])
            if each["kind"] == kind
        ]
        return self.random.choice(found or [("Z-1", 0)])

    def _call(self) -> Message:
        if self._odds(0.5):
            return RpcBegin(self._request(), self._some(ATTRIBUTES), 1e9)
        movements = (self._movement(),) if self._odds(0.3) else ()
        locked = self._odds(0.4)
        return RpcDone(self._request(), "rpc", self._writes(), movements, locked=locked)

    def _end_of_method(self) -> Message:
        key, draw = self._key(), self.random
        step = self.state.active.get(key)
        waits = step is not None and step.method == "wait_for"
        if self._odds(0.15):
            method: Any = "wait_for" if waits else "execute"
            failure = Failure("E", "d")
            return StepFailed(key, 1, failure, self._movement(), method)
        if waits:
            return WaitDone(key, 1, self._wait(), self._writes())
        if step is not None and step.movement.step_type == SUBFLOW:
            return StepDone(key, 1, Decision("dead_end", output=self._result(), has_output=True))
        ends = ("dead_end", "graceful_complete") if len(self.state.active) > 1 else ("next",)
        kind: Any = draw.choice(ends) if self._odds(0.3) else "next"
        movements = tuple(self._movement() for _ in range(draw.randint(1, 2)))
        cancels = ("C",) if self._odds(0.1) else ()
        decision = Decision(kind, movements if kind == "next" else (), canceling_steps=cancels)
        return StepDone(key, 1, decision, self._writes())

    def _wait(self) -> dict[str, Any]:
        conditions = [self._condition() for _ in range(self.random.randint(1, 3))]
        kind = self.random.choice(("all_of", "any_of", "any_combination_of"))
        combinations = [[0], [len(conditions) - 1, 0]] if kind == "any_combination_of" else []
        return {"kind": kind, "conditions": conditions, "combinations": combinations}

    def _condition(self) -> dict[str, Any]:
        draw = self.random
        match draw.choice(("timer", "channel", "channel", "subflow")):
            case "timer":
                return {"kind": "timer", "id": "t", "seconds": draw.choice((0, 5))}
            case "subflow":
                start = {"flow_type": "S"}
                return {"kind": "subflow", "id": "", "start": start, "reuse_policy": "R"}
            case _:
                most = draw.choice((None, 3))
                condition = {"channel": draw.choice(CHANNELS), "at_most": most}
                return {"kind": "channel", "id": "", "at_least": draw.randint(0, 3), **condition}

    def _writes(self) -> dict[str, Any]:
        draw = self.random
        numbers = [str(draw.randint(1, self.state.published + 2)) for _ in range(2)]
        writes: dict[str, Any] = {
            "attributes": {name: draw.randint(0, 9) for name in self._some(ATTRIBUTES)},
            "deleted": self._some(ATTRIBUTES),
            "published": [[name, draw.randint(0, 9)] for name in self._some(CHANNELS)],
            "removed": [[draw.choice(CHANNELS), number] for number in numbers],
        }
        return {name: value for name, value in writes.items() if value and self._odds(0.6)}
