"""What a random Flow is to do, drawn from a seed: plain values that `flows` makes Steps of."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Literal

WaitKind = Literal["none", "skip", "until", "all_of", "any_of", "any_combination_of"]
OpKind = Literal["sleep", "beat", "stream", "publish", "publish_map", "record", "drop"]
Mode = Literal["async", "plain", "yielding"]

COUNTERS = ("Counter0", "Counter1", "Counter2")
CHANNELS = ("Orders", "Answers")
INSTANCES = ("a", "b/c")

_WAITS: tuple[WaitKind, ...] = (
    "none",
    "none",
    "skip",
    "until",
    "all_of",
    "any_of",
    "any_combination_of",
)
_OPS: tuple[OpKind, ...] = (
    "sleep",
    "sleep",
    "beat",
    "stream",
    "publish",
    "publish_map",
    "record",
    "drop",
)
_MODES: tuple[Mode, ...] = ("async", "async", "async", "plain", "yielding")


@dataclass(frozen=True)
class Taste:
    """What a seed has more of than others, so that rare things meet.

    Args:
        subflows: How many of the conditions are SubFlows.
        quick: Whether SubFlows end nearly at once.
    """

    subflows: float
    quick: bool

    @classmethod
    def draw(cls, rng: Random) -> Taste:
        """Draw it."""
        return cls(rng.choice((0.25, 0.25, 0.6)), rng.random() < 0.5)


@dataclass(frozen=True)
class MethodScript:
    """What one method of a Step does.

    Args:
        adds: Counters that it locks, and adds one to.
        ops: What it does one after the other, with a number for each.
        failing: How likely an attempt raises.
        hanging: How likely an attempt does nothing until a deadline ends it.
        attempts: The most there may be; 0 for no limit.
        interval: Seconds before the second attempt.
        timeout: Seconds that an attempt may run.
        asynchronous: Whether its acknowledgement may be lost with the machine's power.
    """

    adds: tuple[str, ...]
    ops: tuple[tuple[OpKind, float], ...]
    failing: float
    hanging: float
    attempts: int
    interval: float
    timeout: float
    asynchronous: bool


@dataclass(frozen=True)
class StepScript:
    """One Step type.

    Args:
        number: Its place; recoveries lead to later Steps only.
        mode: How its methods are written.
        paced: Whether execute begins with a sleep that a knob sets.
        wait: What its wait_for gives; `none` for no such method.
        waiting: What wait_for does beside.
        proceed: Whether execute follows a wait_for that has failed.
        execute: What execute does.
        recovery: The number of the Step that follows when execute has failed for good.
        targets: Numbers of the Steps that it may go to.
        heartbeat: Seconds of silence that end an attempt.
    """

    number: int
    mode: Mode
    paced: bool
    wait: WaitKind
    waiting: MethodScript
    proceed: bool
    execute: MethodScript
    recovery: int | None
    targets: tuple[int, ...]
    heartbeat: float

    @property
    def name(self) -> str:
        """The Step's type."""
        return f"Step{self.number}"


@dataclass(frozen=True)
class FlowScript:
    """A Flow of these Steps, the first of them its start; how deep its branches go."""

    seed: int
    name: str
    steps: tuple[StepScript, ...]
    depth: int
    subflows: float


def draw_flow(rng: Random, seed: int, name: str, taste: Taste) -> FlowScript:
    """Draw a Flow of one to five Steps."""
    if name == "Child" and taste.quick:
        return FlowScript(seed, name, (_quick(rng),), 0, taste.subflows)
    count = rng.randint(1, 5)
    steps = tuple(_step(rng, number, count) for number in range(count))
    return FlowScript(seed, name, steps, rng.randint(1, 4), taste.subflows)


def _quick(rng: Random) -> StepScript:
    """Draw a Step that does next to nothing."""
    method = MethodScript((), (), rng.choice((0.0, 0.2)), 0.0, 2, 0.05, 10.0, asynchronous=False)
    return StepScript(
        number=0,
        mode="async",
        paced=False,
        wait="none",
        waiting=method,
        proceed=False,
        execute=method,
        recovery=None,
        targets=(0,),
        heartbeat=10.0,
    )


def _step(rng: Random, number: int, count: int) -> StepScript:
    later = range(number + 1, count)
    return StepScript(
        number=number,
        mode=rng.choice(_MODES),
        paced=rng.random() < 0.3,
        wait=rng.choice(_WAITS),
        waiting=_method(rng, longest=2),
        proceed=rng.random() < 0.5,
        execute=_method(rng, longest=5),
        recovery=rng.choice(later) if later and rng.random() < 0.6 else None,
        targets=tuple(rng.sample(range(count), rng.randint(1, count))),
        heartbeat=rng.uniform(8, 12),
    )


def _method(rng: Random, longest: int) -> MethodScript:
    adds = rng.sample(COUNTERS, rng.choice((0, 0, 0, 1, 1, 2)))
    ops = [(rng.choice(_OPS), rng.choice((0.0, 0.01, 0.5, 1.5))) for _ in range(longest)]
    return MethodScript(
        adds=tuple(adds),
        ops=tuple(ops[: rng.randint(0, longest)]),
        failing=rng.choice((0.0, 0.0, 0.2, 0.5)),
        hanging=rng.choice((0.0, 0.0, 0.0, 0.1)),
        attempts=rng.choice((0, 0, 2, 5)),
        interval=rng.choice((0.05, 0.5, 2.0)),
        timeout=rng.uniform(8, 20),
        asynchronous=rng.random() < 0.3,
    )


def dice(*parts: Any) -> Random:
    """Make the dice of one moment: the same for the same parts, in every process."""
    return Random(":".join(map(str, parts)))
