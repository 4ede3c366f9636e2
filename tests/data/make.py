"""Makes the event logs of this folder and the folds beside each: `python -m tests.data.make`.

Each log is of a real run on the virtual clock, so that it is the same each time; only the ids that
the engine draws at random are replaced. Some more are of turns alone, told what a seed draws.
Python and TypeScript fold the same logs:
`NAME.state.json` is the fold of the history, `NAME.view.json` that of the whole log.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from dexnb import (
    AsyncContext,
    Clock,
    Context,
    Flow,
    PersistenceSchema,
    RetryPolicy,
    StartFlowOptions,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    StepOptions,
    Stream,
    dead_end,
    force_complete,
    force_fail,
    go_to,
    graceful_complete,
)
from dexnb.engine import Runtime
from dexnb.engine.run import AsyncRun
from dexnb.model.event import Event, load_log, save_log
from dexnb.model.history import fold
from dexnb.model.run_state import RunState
from dexnb.model.run_view import view_of
from dexnb.providers import MemoryProvider
from tests.data import orders
from tests.model.random_history import Drawn

HERE = Path(__file__).parent
POLL_INTERVAL = timedelta(seconds=2)


@dataclass
class Job:
    """What the polled system tells."""

    state: str
    round: int = 0


PROGRESS = Stream("Progress", Job, 1 << 20)


class StartJob(Step[str]):
    """Starts a job."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Name the job after the Flow."""
        return go_to(AwaitJob, f"{input}-{context.flow_id}")


class AwaitJob(Step[str]):
    """Polls; its first attempt fails on the way."""

    def get_step_options(self) -> StepOptions:
        """Try again after two seconds."""
        policy = RetryPolicy(initial_interval=timedelta(seconds=2), maximum_attempts=3)
        return StepOptions(execute_retry=policy)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Go on behind the round that was reported last."""
        done = context.get_last_heartbeat_value(int) or 0
        for number in range(done + 1, 5):
            await asyncio.sleep(POLL_INTERVAL.total_seconds())
            if number == 3 and context.attempt == 1:
                message = "502 \u2028 <b>bad</b> \U0001f98a \ud800"
                raise ConnectionError(message)
            PROGRESS.write(context, Job("RUNNING", number))
            await context.heartbeat(number)
        return graceful_complete(Job("SUCCEEDED"))


class Failing(Step[int]):
    """Fails until no retry is left."""

    def get_step_options(self) -> StepOptions:
        """Recover then."""
        policy = RetryPolicy(maximum_attempts=2)
        options = StepOptions(execute_retry=policy, heartbeat_timeout=timedelta(seconds=10))
        given = StepOptions(execute_method_timeout=timedelta(seconds=30))
        return options.on_execute_failure_proceed_to(Recover, given)

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Raise first, then fall silent."""
        if context.attempt == 1:
            raise KeyError(input)
        await asyncio.sleep(3600)
        return dead_end()


class Recover(Step[int]):
    """Gives up."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Fail the Flow with the reason."""
        error = context.recovery_error
        return force_fail(f"gave up: {error.error_type}" if error else "gave up")


@dataclass
class Branching:
    """When a branch ends, and with what; a zero stands for no output."""

    after: float
    output: Any


class Split(Step[None]):
    """Goes four ways."""

    def execute(self, context: Context, input: None) -> StepDecision:
        """One branch ends without, one with a value, one with null, one not at all."""
        # Each at a time of its own, because the order of threads and turns is anybody's guess.
        ends = [Branching(0.1, 0), Branching(0.2, {"$bytes": "no tag"}), Branching(0.3, None)]
        ways = [StepMovement.of(Branch, end) for end in ends]
        return StepDecision("next", (*ways, StepMovement.of(Last, None)))


class Branch(Step[Branching]):
    """Ends its branch."""

    async def execute(self, context: AsyncContext, input: Branching) -> StepDecision:
        """Beat with a value and without one, then complete."""
        await asyncio.sleep(input.after)
        await context.heartbeat({"output": input.output})
        await context.heartbeat()
        return graceful_complete() if input.output == 0 else graceful_complete(input.output)


class Last(Step[None]):
    """Completes the Flow while another branch still runs."""

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Start the other branch, or complete."""
        if context.step_execution_id == "Last-1":
            await asyncio.sleep(0.4)
            again = StepMovement.of(Last, None)
            return StepDecision("next", (again, StepMovement.of(Endless, None)))
        await asyncio.sleep(1)
        return force_complete("done")


class Endless(Step[None]):
    """Waits until it is stopped."""

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Beat for ever."""
        while True:
            await context.heartbeat(None)
            await asyncio.sleep(20)


class Made(Flow[Any]):
    """A Flow of the given Steps."""

    def __init__(self, name: str, *steps: Step[Any]) -> None:
        """Begin with the first Step."""
        self.name = name
        self.steps = steps

    def get_flow_type(self) -> str:
        """Give the name."""
        return self.name

    def get_steps(self) -> StepList[Any]:
        """Give the Steps."""
        return StepList.start_step(self.steps[0]).other_steps(*self.steps[1:])

    def get_persistence_schema(self) -> PersistenceSchema:
        """Keep the progress."""
        return PersistenceSchema.of(PROGRESS)


async def to_the_end(runtime: Runtime, run: AsyncRun) -> None:
    """Wait for the end."""
    await run.wait()


async def half_way(runtime: Runtime, run: AsyncRun) -> None:
    """Turn a knob and wait until the first round is over."""
    await asyncio.sleep(1)
    await run.set_knob("POLL_INTERVAL", 4)
    await asyncio.sleep(5)


Until = Callable[[Runtime, AsyncRun], Awaitable[AsyncRun | None]]


def stopped(kind: Any, reason: str) -> Until:
    """Stop the run on its way, and wait for the end."""

    async def stop(runtime: Runtime, run: AsyncRun) -> None:
        """Stop it."""
        await asyncio.sleep(30)
        await run.stop(kind, reason)
        await run.wait()

    return stop


@dataclass(frozen=True)
class Scene:
    """A run to log: the Flow, its input and how far it goes; `until` may give another run."""

    flow: Flow[Any]
    input: Any
    until: Until = to_the_end
    overrides: dict[str, Any] | None = None
    options: StartFlowOptions | None = None


POLLING = Made("Polling", StartJob(), AwaitJob())
WAITING = Made("Waiting", Endless())
ORDERED: dict[str, Any] = {"flow": orders.ORDER, "input": 1, "options": orders.STARTED}
SCENES = {
    "completed_after_a_retry": Scene(POLLING, "job"),
    "failed_by_recovery": Scene(Made("Recovering", Failing(), Recover()), 7),
    "forced_with_branches": Scene(Made("Branching", Split(), Branch(), Last(), Endless()), None),
    "cancelled": Scene(WAITING, None, stopped("CANCEL", "")),
    "failed_from_outside": Scene(WAITING, None, stopped("FAIL", "enough \U0001f98a")),
    "still_running": Scene(POLLING, "job", half_way, {"POLL_INTERVAL": 3}),
    "ordered": Scene(**ORDERED, until=orders.ordered),
    "still_collecting": Scene(**ORDERED, until=orders.half_collected),
    "still_queued": Scene(**ORDERED, until=orders.queued),
    "taken_back": Scene(**ORDERED, until=orders.taken_back),
    "with_two_parents": Scene(**ORDERED, until=orders.with_two_parents),
    "timed_out": Scene(orders.Limited(), None, orders.timed_out, options=orders.LIMITED),
}

DRAWN = {"drawn_calls": 1, "drawn_delay": 7, "drawn_locks": 23}
"""Seeds of histories in which messages come at any time, in any order."""


async def _events(name: str, scene: Scene) -> Sequence[Event]:
    async with Runtime(MemoryProvider()) as runtime:
        started = await runtime.start(
            scene.flow, name, scene.input, overrides=scene.overrides, options=scene.options
        )
        run = await scene.until(runtime, started) or started
        return await run.events()


def run(name: str) -> list[Event]:
    """Run a scene and give its log, with `run-NAME` for the run's id and `id-N` for others.

    Paths are those within this repository.
    """
    events = Clock.virtual().run(_events(name, SCENES[name]))
    known = {events[0].run_id: f"run-{name}"}

    def plain(drawn: re.Match[str]) -> str:
        return known.setdefault(drawn[0], f"id-{len(known)}")

    texts = (_DRAWN_ID.sub(plain, json.dumps(event.to_json())) for event in events)
    return [Event.from_json(json.loads(text.replace(_ROOT, ""))) for text in texts]


_ROOT = json.dumps(str(HERE.parents[1] / "_"))[1:-2]
_DRAWN_ID = re.compile(r"(?<=\")[0-9a-f]{32}(?=\")")


def drawn(seed: int) -> list[Event]:
    """Give the history of a run that was told at random."""
    told = Drawn(seed)
    for _ in told.run(60):
        pass
    return told.events


def state_of(events: Iterable[Event]) -> RunState:
    """Give the state that a log's history adds up to."""
    return fold(event for event in events if event.durable)


def main(folder: Path = HERE) -> None:
    """Write all logs and folds."""
    for name in (*SCENES, *DRAWN):
        log = folder / f"{name}.jsonl"
        save_log(run(name) if name in SCENES else drawn(DRAWN[name]), log)
        events = list(load_log(log))
        for kind, document in (("state", state_of(events).to_json()), ("view", view_of(events))):
            text = json.dumps(document, indent=1) + "\n"
            (folder / f"{name}.{kind}.json").write_text(text, "ascii")
        sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
