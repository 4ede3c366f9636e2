"""What the world does to a simulation's runs: starts, messages, calls, stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Literal

from dexnb import Flow, StartFlowOptions
from dexnb.engine.engine import Engine
from dexnb.engine.rpc_call import invoke_rpc
from dexnb.errors import DexnbError
from dexnb.flow.channel_map import ChannelMap
from dexnb.model.message import ConfigChanged, Published, Stop, StopKind, TimerFired
from dexnb.model.run_state import RunState
from tests.simulation.flows import PARTS
from tests.simulation.scripts import CHANNELS, INSTANCES
from tests.simulation.witness import Witness

Kind = Literal["publish", "stop", "add", "tally", "tell", "skip", "config"]

KINDS: tuple[Kind, ...] = ("publish",) * 8 + (
    "add",
    "add",
    "tally",
    "tell",
    "skip",
    "config",
    "stop",
)
STOPS: tuple[StopKind, ...] = ("CANCEL", "TERMINATE", "FAIL")


def channel_names() -> list[str]:
    """Give the physical names of all Channels of the random Flows."""
    parts: ChannelMap[int] = PARTS
    return [*CHANNELS, *(parts.physical_name(instance) for instance in INSTANCES)]


@dataclass(frozen=True)
class Start:
    """A start that is repeated until it is known to have happened; then it has happened once."""

    at: float
    flow: Flow[Any]
    flow_id: str
    input: dict[str, Any]
    timeout: float
    delay: float

    async def do(self, engine: Engine) -> None:
        """Start the run, or find it."""
        options = StartFlowOptions(
            timeout=timedelta(seconds=self.timeout) if self.timeout else None,
            start_delay=timedelta(seconds=self.delay) if self.delay else None,
            ignore_already_started=True,
            request_id=f"start-{self.flow_id}",
        )
        await engine.start_flow(self.flow, self.flow_id, self.input, None, options, attach=False)


@dataclass(frozen=True)
class Call:
    """Something else that happens to a run."""

    at: float
    kind: Kind
    flow: Flow[Any]
    flow_id: str
    channel: str
    value: int
    seconds: float
    witness: Witness

    async def do(self, engine: Engine) -> None:
        """Do it; a publish that is repeated counts once."""
        record = await engine.record(flow_id=self.flow_id)
        if record is None or record.status != "RUNNING":
            return
        match self.kind:
            case "publish":
                request = f"publish-{self.value}"
                message = Published(self.channel, [self.value], "world", request)
                await engine.send(record.run_id, message)
                self.witness.accepted[self.value] = record.run_id
            case "stop":
                await engine.send(record.run_id, Stop(STOPS[self.value % 3], "the world says so"))
            case "config":
                config = {"step_durability": "ASYNC" if self.value % 2 else "SYNC"}
                await engine.send(record.run_id, ConfigChanged(config))
            case "skip":
                await _skip(engine, record.run_id, RunState.from_text(record.state))
            case _:
                await self._call(engine)

    async def _call(self, engine: Engine) -> None:
        try:
            await invoke_rpc(engine, getattr(self.flow, self.kind), self.flow_id, self.seconds)
        except DexnbError:
            # Refused, too late, or its answer lost: what it has done shows in the history.
            return


async def _skip(engine: Engine, run_id: str, state: RunState) -> None:
    for key, step in state.waiting:
        for place, condition in enumerate(step.wait["conditions"] if step.wait else ()):
            if condition["kind"] == "timer":
                await engine.send(run_id, TimerFired(key, place, skipped=True))
                return


def draw_calls(
    rng: Random, starts: Sequence[Start], until: float, witness: Witness
) -> list[Start | Call]:
    """Draw what happens to these runs until then."""
    calls: list[Start | Call] = list(starts)
    for _ in range(rng.randint(0, 10)):
        start, kind, at = rng.choice(starts), rng.choice(KINDS), rng.uniform(0, until)
        # Some come together, so that they meet in the run.
        for _ in range(rng.choice((1, 1, 1, 3))):
            call = Call(
                at=max(start.at, at + rng.uniform(0, 0.2)),
                kind=kind,
                flow=start.flow,
                flow_id=start.flow_id,
                channel=rng.choice(channel_names()),
                value=witness.new_value(),
                seconds=rng.choice((0.0, 0.5, 6.0)),
                witness=witness,
            )
            calls.append(call)
    return sorted(calls, key=lambda call: call.at)
