"""`simulate`: one seed's Flows on one or two machines, through bad weather and then calm."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from dexnb import DexnbError, Flow
from dexnb.engine import RuntimeOptions
from dexnb.errors import ProviderError, RuntimeClosed
from dexnb.model.event import Event
from dexnb.model.message import Published, Stop
from dexnb.model.run_state import RunState
from dexnb.providers import MemoryStore, Provider, RunRecord
from dexnb.providers.sqlite import SqliteProvider
from tests.simulation import checks
from tests.simulation.callers import Caller, Start, channel_names, draw_calls
from tests.simulation.checks import Histories
from tests.simulation.flows import make_flow
from tests.simulation.machines import ANSWER, Killed, Machine, tell_tasks_apart
from tests.simulation.process import a_process_of_its_own
from tests.simulation.scripts import FlowScript, Taste, draw_flow
from tests.simulation.threads import SteppedLoop
from tests.simulation.weather import ShakyProvider, WatchedProvider, Weather
from tests.simulation.witness import Witness

PATIENCE = 900.0
"""Seconds of calm in which whatever can go on has gone on."""

WEATHER = ("injected fault", "not live any more", "DocumentError: message cannot be read")
"""What errors say that come of the weather, or of a message that callers have corrupted."""

LOOK = 5.0
LONGEST_LEASE = 5.0
"""Seconds after which the turn of a machine that was killed is taken again."""

LATEST = 3 * LONGEST_LEASE
"""Seconds of rest in which whatever was sent has arrived.

A fetch that the weather has struck may wait in a long poll far into the calm. Then it takes what
comes, and the answer is lost, or late, with its lease: once in each place.
"""


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
        answers: How many calls were answered, by kind and the error's name.
    """

    seed: int
    problems: tuple[str, ...]
    events: tuple[Event, ...]
    digest: str
    kills: int
    attempts: int
    answers: Counter[tuple[str, str]]


def simulate(seed: int, folder: Path | None = None) -> Outcome:
    """Play a seed; on an SQLite file in this folder, or in memory.

    In memory the same seed always gives the same events.
    """
    with a_process_of_its_own(seed), asyncio.Runner(loop_factory=SteppedLoop) as runner:
        return runner.run(World(seed, folder).play())


class World:
    """The machines, their store, and what happens to both."""

    def __init__(self, seed: int, folder: Path | None) -> None:
        """Draw everything that does not follow from what happens."""
        self.seed = seed
        rng = self._rng = Random(seed)
        self.witness = Witness()
        self.weather, self._taste = Weather.draw(rng), Taste.draw(rng)
        self.scripts: dict[str, FlowScript] = {}
        child = self._flow("Child", None)
        self.flows = [child, self._flow("Main", child)]
        self.until = rng.uniform(20, 90)
        starts = [self._start(number) for number in range(rng.randint(1, 3))]
        self.calls: list[Caller] = [*draw_calls(rng, starts, self.until, self.witness)]
        polls = rng.choice((0, 5, 30, 30))
        self.options = {
            "worker_lock_timeout": timedelta(seconds=rng.choice((1, 5, 20))),
            "orchestrator_lock_timeout": timedelta(seconds=rng.choice((0.5, LONGEST_LEASE))),
            "dispatcher_long_poll_timeout": timedelta(seconds=polls),
            # Without a long poll a short interval is nothing but fetches.
            "dispatcher_min_poll_interval": timedelta(
                seconds=rng.choice((0.1 if polls else 0.5, 1))
            ),
            "worker_concurrency": rng.choice((1, 3, 1000)),
            "orchestration_concurrency": rng.choice((1, 1000)),
            "sync_concurrency": rng.choice((1, 64)),
            "minimum_heartbeat_timeout": timedelta(milliseconds=10),
        }
        self._places = 1 if folder else rng.choice((1, 2))
        self._provider = self._store(folder)
        self._machines: list[Machine | None] = [None] * self._places
        self._booted: list[Machine] = []

    def _flow(self, name: str, child: Flow[Any] | None) -> Flow[Any]:
        script = draw_flow(self._rng, self.seed, name, self._taste)
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
        calls = [
            asyncio.ensure_future(self._see_to(call, Random(f"{self.seed}:call:{number}")))
            for number, call in enumerate(self.calls)
        ]
        try:
            await asyncio.gather(*map(self._keep_up, range(self._places)))
            await self._calm_down()
            # What is still to be done may start runs and open them again.
            await self._hear(calls, again=True)
            await self._settle()
            await self._hear(calls)
            records, histories = await self._look()
        finally:
            for machine in self._booted:
                await machine.kill()
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        return self._outcome(records, histories)

    def _nobody_caught(self, _: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
        self.witness.problem(f"nobody caught {told}")

    async def _keep_up(self, place: int) -> None:
        """Start machines in a place, one after the other, until the weather is calm.

        The last one may live on into the calm.
        """
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
                if loop.time() >= self.until and rng.random() < 0.5:
                    return
                if rng.random() < 0.3:
                    self.witness.stops += 1
                    await machine.stop()
            self.witness.kills += not machine.dead.is_set()
            await machine.kill()
            await asyncio.sleep(rng.choice((0.0, rng.uniform(0, 10))))

    async def _boot(self, place: int, rng: Random) -> Machine | None:
        provider = ShakyProvider(self._provider(), self.weather, rng)
        options = RuntimeOptions(**self.options)  # type: ignore[arg-type]
        machine = Machine(provider, self.flows, options, partial(self._show, provider))
        self._booted.append(machine)
        started = await machine.start()
        self._machines[place] = machine
        return machine if started else None

    def _show(self, provider: ShakyProvider) -> None:
        """Let the others see the turns of which a machine that was killed has told nobody.

        In virtual time no engine watches its store, because there is no other process.
        """
        for machine in self._machines if provider.untold else ():
            if machine is not None and machine.up:
                machine.look()

    async def _see_to(self, call: Caller, rng: Random) -> None:
        """Make a call when its time has come; some are repeated until they are done."""
        await asyncio.sleep(call.at)
        loop = asyncio.get_running_loop()
        while call.again or loop.time() < self.until:
            up = [each for each in self._machines if each is not None and each.up]
            if up:
                machine = rng.choice(up)
                if await self._ask(call, machine) or not call.again:
                    return
            await asyncio.sleep(0.5)

    async def _ask(self, call: Caller, machine: Machine) -> bool:
        """Make a call of one machine; tell whether it was answered by what it is about."""
        try:
            await machine.run(partial(call.do, machine.runtime), call.name)
        except (Killed, ProviderError, RuntimeClosed):
            return False
        except DexnbError as error:
            if isinstance(call, Start):
                self.witness.problem(f"{call.name} {call.flow_id}: {error!r}")
        except Exception as error:  # noqa: BLE001 - a caller must never meet anything else
            self.witness.problem(f"{call.name} was answered by {error!r}")
        return True

    async def _hear(self, calls: Sequence[asyncio.Future[None]], *, again: bool = False) -> None:
        """Wait for answers; when all runs have ended, nobody has anything to wait for."""
        heard = [
            (call.name, future)
            for call, future in zip(self.calls, calls, strict=True)
            if call.again or not again
        ]
        await asyncio.wait([future for _, future in heard], timeout=ANSWER)
        names = [name for name, future in heard if not future.done()]
        if names:
            self.witness.problem(f"no answer came to {names}")

    async def _calm_down(self) -> None:
        """Let the weather be calm, and a machine run in each place."""
        self.weather.calm = True
        for place, machine in enumerate(self._machines):
            if machine is None or not machine.up or self._is_doomed(machine):
                if machine is not None:
                    await machine.kill()
                await self._boot(place, self._rng)

    def _is_doomed(self, machine: Machine) -> bool:
        """Tell a machine that will die in the calm of what the weather has begun."""
        return isinstance(machine.provider, ShakyProvider) and machine.provider.doomed

    async def _settle(self) -> None:
        """In calm weather every run comes to its end, or to a wait for what must come from us."""
        loop = asyncio.get_running_loop()
        deadline, looks = loop.time() + PATIENCE, 0
        while open_runs := await self._open_runs():
            if loop.time() > deadline:
                self.witness.problem(f"after {PATIENCE:g} s of calm: {open_runs}")
                return
            resting = all(_rests(RunState.from_text(record.state)) for record in open_runs)
            looks = looks + 1 if resting else 0
            missing = await self._missing(open_runs) if looks * LOOK > LONGEST_LEASE else []
            if looks * LOOK > (LATEST if missing else LONGEST_LEASE):
                self.witness.problems += missing
                for record in open_runs:
                    await self._help(record)
                looks = 0
            await asyncio.sleep(LOOK)

    async def _missing(self, records: Sequence[RunRecord]) -> list[str]:
        """Look for what was sent to resting runs and has not arrived."""
        missing: list[str] = []
        for record in records:
            events = await self._engine.provider.read_events(record.run_id)
            missing += checks.missing(record.run_id, events, self.witness)
        return missing

    async def _help(self, record: RunRecord) -> None:
        """Give a resting run what it waits for, or stop one that waits for nothing."""
        engine = self._engine
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
        up = [machine for machine in self._machines if machine is not None and machine.up]
        return up[0].runtime.engine

    async def _open_runs(self) -> tuple[RunRecord, ...]:
        records: tuple[RunRecord, ...] = await self._engine.provider.list_runs(status="RUNNING")
        return records

    async def _look(self) -> tuple[list[RunRecord], Histories]:
        """Check every run, and give all of them with their histories."""
        provider: Provider = self._engine.provider
        records = sorted(await provider.list_runs(limit=1000), key=lambda each: each.flow_id)
        histories: Histories = {
            each.run_id: await provider.read_events(each.run_id) for each in records
        }
        states = [RunState.from_text(record.state) for record in records]
        for state in states:
            script = self.scripts[state.flow_type]
            origins = [event for each in state.origins for event in histories[each]]
            found = checks.problems_of(state, histories[state.run_id], script, origins)
            self.witness.problems += found
        self.witness.problems += checks.untold(states, histories)
        depths = await provider.queue_depths()
        if depths.work_items or depths.leased:
            self.witness.problem(f"work is left for runs that have ended: {depths}")
        return records, histories

    def _outcome(self, records: Sequence[RunRecord], histories: Histories) -> Outcome:
        witness = self.witness
        errors = [error for machine in self._booted for error in machine.errors(records)]
        states = [RunState.from_text(record.state) for record in records]
        late = [name for machine in self._booted for name in machine.unanswered]
        refused = [why for machine in self._booted for why in machine.refused_starts(records)]
        problems = [
            *witness.problems,
            *checks.repeated_attempts(witness),
            *checks.starts(histories),
            *checks.given_up(states, errors),
            *checks.old_paces(histories, witness),
            *checks.broken_promises(histories, witness),
            *(f"a SubFlow was refused: {why}" for why in refused),
            *(f"an engine that stopped has left without an answer {name}" for name in late),
            *(f"an engine tells of {error}" for error in errors if _is_strange(error)),
        ]
        attempts = sum(map(len, witness.attempts.values()))
        events = tuple(event for history in histories.values() for event in history)
        digest = hashlib.sha256(repr(events).encode()).hexdigest()
        return Outcome(
            self.seed,
            tuple(problems),
            events,
            digest,
            witness.kills,
            attempts,
            Counter(witness.answers),
        )


def _is_strange(error: str) -> bool:
    """Tell an error of an engine that no weather explains."""
    return not any(words in error for words in WEATHER)


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
