"""What the world does to a simulation's runs: starts, messages, calls, knobs, stops, travels."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Literal, Protocol

from dexnb import AsyncClient, Flow, StartFlowOptions, TimeTravelOptions
from dexnb.engine import Runtime
from dexnb.errors import DexnbError
from dexnb.flow.channel_map import ChannelMap
from dexnb.model.message import Published
from dexnb.providers import NewMessage, RunRecord
from tests.simulation import asking
from tests.simulation.scripts import CHANNELS, INSTANCES
from tests.simulation.steps import PARTS
from tests.simulation.witness import Witness

Kind = Literal[
    "publish", "send", "add", "count", "tally", "tell", "skip", "config", "stop", "knob", "travel",
    "wait_for_flow", "wait_for_step", "wait_for_attribute", "read_stream", "corrupt",
]  # fmt: skip

KINDS: tuple[tuple[Kind, int], ...] = (
    ("publish", 28),
    ("send", 6),
    ("add", 6),
    ("count", 3),
    ("tally", 4),
    ("tell", 3),
    ("skip", 4),
    ("config", 3),
    ("stop", 4),
    ("knob", 3),
    ("travel", 6),
    ("wait_for_flow", 4),
    ("wait_for_step", 3),
    ("wait_for_attribute", 3),
    ("read_stream", 2),
    ("corrupt", 2),
)
"""What callers do, and how often in comparison."""

CHILDREN = "SubFlow:"
"""How the flow ids of SubFlows begin."""


def channel_names() -> list[str]:
    """Give the physical names of all Channels of the random Flows."""
    parts: ChannelMap[int] = PARTS
    return [*CHANNELS, *(parts.physical_name(instance) for instance in INSTANCES)]


class Caller(Protocol):
    """Somebody who does something to a run, at a time."""

    @property
    def at(self) -> float:
        """When, in seconds."""

    @property
    def again(self) -> bool:
        """Whether it is done until it is known to have happened."""

    @property
    def name(self) -> str:
        """What it does."""

    async def do(self, runtime: Runtime) -> None:
        """Do it."""


@dataclass(frozen=True)
class Start:
    """A start that is repeated until it is known to have happened; then it has happened once."""

    at: float
    flow: Flow[Any]
    flow_id: str
    input: dict[str, Any]
    timeout: float
    delay: float
    again: bool = True
    name: str = "start"

    async def do(self, runtime: Runtime) -> None:
        """Start the run, or find it."""
        options = StartFlowOptions(
            timeout=timedelta(seconds=self.timeout) if self.timeout else None,
            start_delay=timedelta(seconds=self.delay) if self.delay else None,
            ignore_already_started=True,
            request_id=f"start-{self.flow_id}",
        )
        await AsyncClient(runtime).start_flow(self.flow, self.flow_id, self.input, options)


@dataclass
class Call:
    """Something else that happens to a run, or to a SubFlow of it.

    Args:
        at: When.
        kind: What.
        flow_id: Of the run.
        channel: For messages.
        value: For messages and for what needs a number.
        seconds: How long an RPC lasts.
        child: Whether it is about a SubFlow, if there is one.
        rng: For what depends on the run.
        witness: Who is told.
        target: The flow id that it is about, once that is known.
        point: Where a travel goes, once that is chosen.
    """

    at: float
    kind: Kind
    flow_id: str
    channel: str
    value: int
    seconds: float
    child: bool
    rng: Random
    witness: Witness
    target: str = ""
    point: TimeTravelOptions | None = None

    @property
    def again(self) -> bool:
        """Whether it is done until it is known to have happened."""
        # Half a travel leaves those without an end who wait for the run.
        return self.kind in ("publish", "travel")

    @property
    def name(self) -> str:
        """What it does."""
        return f"{self.kind} {self.target or self.flow_id}"

    async def do(self, runtime: Runtime) -> None:
        """Do it; the answer is noted."""
        if not self.target:
            self.target = await self._choose(runtime)
        record = await runtime.engine.record(flow_id=self.target)
        if record is None or (record.status != "RUNNING" and self.kind != "travel"):
            return
        try:
            await self._do(runtime, record)
        except DexnbError as error:
            self.witness.answers[self.kind, type(error).__name__] += 1
            raise
        self.witness.answers[self.kind, ""] += 1

    async def _do(self, runtime: Runtime, record: RunRecord) -> None:
        engine = runtime.engine
        match self.kind:
            case "publish":
                request = f"publish-{self.value}"
                message = Published(self.channel, [self.value], "world", request)
                await engine.send(record.run_id, message)
                self.witness.accepted[self.value] = record.run_id
            case "corrupt":
                self.witness.corrupted.add(record.run_id)
                corrupt = NewMessage(record.run_id, '{"kind":"publish')
                await engine.provider.enqueue_for_orchestrator(corrupt)
            case _:
                await _ASK[self.kind](self, AsyncClient(runtime), record)

    async def _choose(self, runtime: Runtime) -> str:
        if not self.child:
            return self.flow_id
        records = await runtime.engine.provider.list_runs(status="RUNNING")
        prefix = f"{CHILDREN}{self.flow_id}-"
        children = sorted(each.flow_id for each in records if each.flow_id.startswith(prefix))
        return self.rng.choice(children) if children else self.flow_id


_Ask = Callable[[Call, AsyncClient, RunRecord], Coroutine[Any, Any, None]]
_ASK: dict[Kind, _Ask] = {
    "send": asking.send,
    "add": asking.invoke,
    "count": asking.invoke,
    "tally": asking.invoke,
    "tell": asking.invoke,
    "skip": asking.skip,
    "config": asking.configure,
    "stop": asking.stop,
    "knob": asking.turn,
    "travel": asking.travel,
    "wait_for_flow": asking.wait_for_flow,
    "wait_for_step": asking.wait_for_step,
    "wait_for_attribute": asking.wait_for_attribute,
    "read_stream": asking.read_stream,
}


def draw_calls(
    rng: Random, starts: Sequence[Start], until: float, witness: Witness
) -> list[Start | Call]:
    """Draw what happens to these runs until then."""
    calls: list[Start | Call] = list(starts)
    kinds, weights = zip(*KINDS, strict=True)
    for _ in range(rng.randint(0, 10)):
        start, at = rng.choice(starts), rng.uniform(0, until)
        kind: Kind = rng.choices(kinds, weights)[0]
        # Some come together, so that they meet in the run.
        for _ in range(rng.choice((1, 1, 1, 3)) if kind not in ("travel", "corrupt") else 1):
            call = Call(
                at=max(start.at, at + rng.uniform(0, 0.2)),
                kind=kind,
                flow_id=start.flow_id,
                channel=rng.choice(channel_names()),
                value=witness.new_value(),
                seconds=rng.choice((0.0, 0.5, 3.9, 6.0, 35.0)),
                child=rng.random() < 0.3,
                rng=Random(rng.random()),
                witness=witness,
            )
            calls.append(call)
    return sorted(calls, key=lambda call: call.at)
