"""`simulate`: one seed's Flows on one or two machines, through bad weather and then calm."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from dexnb import Clock, DexnbError, Flow
from dexnb.engine import RuntimeOptions
from dexnb.model.event import Event
from dexnb.model.message import Published, Stop
from dexnb.model.run_state import RunState
from dexnb.providers import MemoryStore, Provider, RunRecord
from dexnb.providers.sqlite import SqliteProvider
from tests.simulation import checks
from tests.simulation.callers import Call, Start, channel_names, draw_calls
from tests.simulation.flows import make_flow
from tests.simulation.machines import Killed, Machine, tell_tasks_apart
from tests.simulation.scripts import FlowScript, draw_flow
from tests.simulation.weather import ShakyProvider, WatchedProvider, Weather
from tests.simulation.witness import Witness

PATIENCE = 900.0
"""Seconds of calm in which whatever can go on has gone on."""

LOOK = 5.0
LONGEST_LEASE = 5.0
"""Seconds after which the turn of a machine that was killed is taken again."""


@dataclass(frozen=True)
class Outcome:
    """What became of a seed.

    Args:
        seed: The seed.
        problems: What must not be; nothing else makes a failure.
        events: The histories of all runs, one after the other.
        digest: The same for the same histories.
        kills: How often a machine was killed.
        attempts: How many attempts Steps have seen.
    """

    seed: int
    problems: tuple[str, ...]
    events: tuple[Event, ...]
    digest: str
    kills: int
    attempts: int


def simulate(seed: int, folder: Path | None = None) -> Outcome:
    """Play a seed; on an SQLite file in this folder, or in memory.

    In memory the same seed always gives the same events.
    """
    with _drawn_ids(seed):
        return Clock.virtual().run(World(seed, folder).play())


@contextmanager
def _drawn_ids(seed: int) -> Iterator[None]:
    """Let run ids and owners follow from the seed."""
    rng = Random(f"{seed}:ids")

    def draw() -> uuid.UUID:
        return uuid.UUID(int=rng.getrandbits(128), version=4)

    with mock.patch.object(uuid, "uuid4", draw):
        yield


class World:
    """The machines, their store, and what happens to both."""

    def __init__(self, seed: int, folder: Path | None) -> None:
        """Draw everything that does not follow from what happens."""
        self.seed = seed
        rng = self._rng = Random(seed)
        self.witness = Witness()
        self.weather = Weather.draw(rng)
        self.scripts: dict[str, FlowScript] = {}
        child = self._flow("Child", None)
        self.flows = [child, self._flow("Main", child)]
        self.until = rng.uniform(20, 90)
        starts = [self._start(number) for number in range(rng.randint(1, 3))]
        self.calls = draw_calls(rng, starts, self.until, self.witness)
        self.options = {
            "worker_lock_timeout": timedelta(seconds=rng.choice((1, 5, 20))),
            "orchestrator_lock_timeout": timedelta(seconds=rng.choice((0.5, LONGEST_LEASE))),
            "dispatcher_long_poll_timeout": timedelta(seconds=rng.choice((0, 5, 30, 30))),
            "dispatcher_min_poll_interval": timedelta(seconds=rng.choice((0.1, 1))),
            "worker_concurrency": rng.choice((1, 3, 1000)),
            "orchestration_concurrency": rng.choice((1, 1000)),
            "minimum_heartbeat_timeout": timedelta(milliseconds=10),
        }
        self._places = 1 if folder else rng.choice((1, 2))
        self._provider = self._store(folder)
        self._machines: list[Machine | None] = [None] * self._places
        self._booted: list[Machine] = []

    def _flow(self, name: str, child: Flow[Any] | None) -> Flow[Any]:
        script = draw_flow(self._rng, self.seed, name)
        self.scripts[name] = script
        return make_flow(script, self.witness, child)

    def _start(self, number: int) -> Start:
        rng, flow = self._rng, self._rng.choice((*self.flows, self.flows[-1]))
        return Start(
            at=rng.uniform(0, self.until / 2),
            flow=flow,
            flow_id=f"flow-{number}",
            input={"depth": self.scripts[flow.get_flow_type()].depth},
            timeout=rng.choice((0.0, 0.0, 0.0, rng.uniform(5, 60))),
            delay=rng.choice((0.0, 0.0, 3.0)),
        )

    def _store(self, folder: Path | None) -> Callable[[], Provider]:
        if folder is not None:
            return lambda: SqliteProvider(folder / f"{self.seed}.db", durability="normal")
        store, states = MemoryStore(), dict[str, RunState]()
        return lambda: WatchedProvider(store, self.witness, states)

    async def play(self) -> Outcome:
        """Let it all happen, then let the weather calm down, and look."""
        loop = asyncio.get_running_loop()
        tell_tasks_apart(loop)
        loop.set_exception_handler(self._nobody_caught)
        async with asyncio.TaskGroup() as group:
            for place in range(self._places):
                group.create_task(self._keep_up(place))
            for number, call in enumerate(self.calls):
                group.create_task(self._see_to(call, Random(f"{self.seed}:call:{number}")))
        try:
            await self._settle()
            records, events = await self._look()
        finally:
            for machine in self._booted:
                await machine.kill()
        return self._outcome(records, events)

    def _nobody_caught(self, _: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
        self.witness.problem(f"nobody caught {told}")

    async def _keep_up(self, place: int) -> None:
        """Start machines in a place, one after the other, until the weather is calm."""
        loop, life = asyncio.get_running_loop(), 0
        while loop.time() < self.until:
            rng = Random(f"{self.seed}:life:{place}:{life}")
            life += 1
            machine = await self._boot(place, rng)
            if machine is None:
                await asyncio.sleep(rng.uniform(0.1, 1))
                continue
            try:
                async with asyncio.timeout(min(rng.expovariate(1 / 25), self.until - loop.time())):
                    await machine.dead.wait()
            except TimeoutError:
                if rng.random() < 0.3:
                    self.witness.stops += 1
                    await machine.stop()
            self.witness.kills += not machine.dead.is_set()
            await machine.kill()
            await asyncio.sleep(rng.choice((0.0, rng.uniform(0, 10))))

    async def _boot(self, place: int, rng: Random) -> Machine | None:
        provider = ShakyProvider(self._provider(), self.weather, rng)
        machine = Machine(provider, self.flows, RuntimeOptions(**self.options))  # type: ignore[arg-type]
        self._booted.append(machine)
        started = await machine.start()
        self._machines[place] = machine
        return machine if started else None

    async def _see_to(self, call: Start | Call, rng: Random) -> None:
        """Make a call until a machine has taken it."""
        await asyncio.sleep(call.at)
        while not self.weather.calm:
            up = [each for each in self._machines if each is not None and each.up]
            if up:
                machine = rng.choice(up)
                try:
                    await machine.run(partial(call.do, machine.runtime.engine))
                except (Killed, DexnbError):
                    pass
                else:
                    return
            await asyncio.sleep(0.5)
            if asyncio.get_running_loop().time() > self.until:
                return

    async def _settle(self) -> None:
        """In calm weather every run comes to its end, or to a wait for what must come from us."""
        self.weather.calm = True
        for place in range(self._places):
            await self._boot(place, self._rng)
        loop = asyncio.get_running_loop()
        deadline, looks = loop.time() + PATIENCE, 0
        while open_runs := await self._open_runs():
            if loop.time() > deadline:
                self.witness.problem(f"after {PATIENCE:g} s of calm: {open_runs}")
                return
            resting = all(_rests(RunState.from_text(record.state)) for record in open_runs)
            looks = looks + 1 if resting else 0
            if looks * LOOK > LONGEST_LEASE:
                for record in open_runs:
                    await self._help(record)
                looks = 0
            await asyncio.sleep(LOOK)

    async def _help(self, record: RunRecord) -> None:
        """Give a resting run what it waits for, or stop one that waits for nothing."""
        engine = self._engine
        events = await engine.provider.read_events(record.run_id)
        for problem in checks.missing_values(record.run_id, events, self.witness):
            self.witness.problem(problem)
        state = RunState.from_text(record.state)
        kinds = {
            condition["kind"]
            for _, step in state.waiting
            for condition in (step.wait["conditions"] if step.wait else ())
        }
        if "channel" in kinds:
            for channel in channel_names():
                value = self.witness.new_value()
                await engine.send(record.run_id, Published(channel, [value], "help", f"h{value}"))
                self.witness.accepted[value] = record.run_id
        elif "subflow" not in kinds:
            await engine.send(record.run_id, Stop("CANCEL", "nothing is left to do"))

    @property
    def _engine(self) -> Any:
        machine = self._machines[0]
        assert machine is not None
        return machine.runtime.engine

    async def _open_runs(self) -> tuple[RunRecord, ...]:
        records: tuple[RunRecord, ...] = await self._engine.provider.list_runs(status="RUNNING")
        return records

    async def _look(self) -> tuple[list[RunRecord], list[Event]]:
        """Check every run, and give all of them with their histories."""
        provider: Provider = self._engine.provider
        events = list[Event]()
        records = sorted(await provider.list_runs(limit=1000), key=lambda each: each.flow_id)
        for record in records:
            history = await provider.read_events(record.run_id)
            events += history
            script, state = self.scripts[record.flow_type], RunState.from_text(record.state)
            self.witness.problems += checks.problems_of(state, history, script)
        depths = await provider.queue_depths()
        if depths.work_items or depths.leased:
            self.witness.problem(f"work is left for runs that have ended: {depths}")
        return records, events

    def _outcome(self, records: Sequence[RunRecord], events: Sequence[Event]) -> Outcome:
        witness = self.witness
        errors = (error for machine in self._booted for error in machine.errors(records))
        problems = [
            *witness.problems,
            *checks.repeated_attempts(witness),
            *_repeated_starts(records),
            *(f"an engine tells of {error}" for error in errors if _is_strange(error)),
        ]
        attempts = sum(map(len, witness.attempts.values()))
        digest = hashlib.sha256(repr(events).encode()).hexdigest()
        return Outcome(self.seed, tuple(problems), tuple(events), digest, witness.kills, attempts)


def _is_strange(error: str) -> bool:
    """Tell an error of an engine that no weather explains."""
    return "injected fault" not in error and "not live any more" not in error


def _rests(state: RunState) -> bool:
    """Tell a run in which nothing happens by itself any more."""
    return all(
        step.phase == "waiting"
        and all(
            condition["kind"] != "timer" or place in step.fired
            for place, condition in enumerate(step.wait["conditions"] if step.wait else ())
        )
        for step in state.active.values()
    )


def _repeated_starts(records: Sequence[RunRecord]) -> Iterator[str]:
    flow_ids = [record.flow_id for record in records]
    for flow_id in set(flow_ids):
        if flow_ids.count(flow_id) > 1:
            yield f"{flow_id} was started {flow_ids.count(flow_id)} times"
