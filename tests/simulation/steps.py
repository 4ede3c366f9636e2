"""Steps made of scripts: real classes, whose methods do what their script says, in every form."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from datetime import timedelta
from random import Random
from typing import Any

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeMap,
    Channel,
    ChannelMap,
    ConditionCombination,
    Context,
    Flow,
    PersistenceSchema,
    RetryPolicy,
    Step,
    StepDecision,
    StepDurability,
    StepMovement,
    StepOptions,
    StepOutput,
    Stream,
    SubFlow,
    SubFlowOptions,
    Timer,
    Wait,
    WaitForFailurePolicy,
    dead_end,
    force_complete,
    force_complete_if_channels_empty,
    force_fail,
    go_to_many,
    graceful_complete,
    heartbeat,
)
from dexnb.flow.condition import Condition
from tests.simulation.scripts import (
    CHANNELS,
    COUNTERS,
    INSTANCES,
    FlowScript,
    MethodScript,
    StepScript,
    dice,
)
from tests.simulation.threads import pause
from tests.simulation.witness import Witness

PACE = 0.05
"""Seconds that a paced Step sleeps first; a knob of each run."""

COUNTED = {name: Attribute(name, int) for name in COUNTERS}
DONE = AttributeMap("Done", int)
SPOILT = Attribute("Spoilt", bool)
TALLY = Attribute("Tally", int)
SEEN = AttributeMap("Seen", str)
QUEUES = {name: Channel(name, int) for name in CHANNELS}
PARTS = ChannelMap("Parts", int)
PROGRESS = Stream("Progress", int, 1 << 16)
SCHEMA = PersistenceSchema.of(
    *COUNTED.values(), DONE, SPOILT, TALLY, SEEN, *QUEUES.values(), PARTS, PROGRESS
)

Work = Iterator[tuple[str, float]]
"""What a method must do in its own form: sleep, beat, or write to the Stream; with a number."""


class Broken(Exception):
    """What a Step raises because its script says so."""


class Scripted(Step[Any]):
    """A Step that does what its script says; its class is made by `make_flow`."""

    script: StepScript
    flow: FlowScript
    witness: Witness
    types: list[type[Step[Any]]]
    child: Flow[Any] | None

    def get_step_options(self) -> StepOptions:
        """Say what the script says."""
        script, waiting, execute = self.script, self.script.waiting, self.script.execute
        proceed, fail = WaitForFailurePolicy.PROCEED, WaitForFailurePolicy.FAIL_FLOW
        options = StepOptions(
            execute_method_timeout=timedelta(seconds=execute.timeout),
            heartbeat_timeout=timedelta(seconds=script.heartbeat),
            execute_retry=_retry(execute),
            execute_durability=_durability(execute),
            execute_lock_attributes=tuple(COUNTED[name].lock() for name in execute.adds),
            execute_load_channels=tuple(QUEUES.values()),
            wait_for_method_timeout=timedelta(seconds=waiting.timeout),
            wait_for_retry=_retry(waiting),
            wait_for_durability=_durability(waiting),
            wait_for_failure=proceed if script.proceed else fail,
            wait_for_lock_attributes=tuple(COUNTED[name].lock() for name in waiting.adds),
        )
        if script.recovery is None:
            return options
        return options.on_execute_failure_proceed_to(self.types[script.recovery])

    def begin(self, context: Context, pace: float) -> None:
        """Note what an execution has been given."""
        key = context.step_execution_id
        self.witness.paces.append((context.run_id, key, pace))
        for channel in (*CHANNELS, *INSTANCES):
            for value in _taken(context, channel):
                SEEN.set(context, str(value), key)

    def work(self, context: Context, script: MethodScript, method: str) -> Work:
        """Do the script's work, but for what each form does in its own way."""
        run_id, key = context.run_id, context.step_execution_id
        checkpoint = context.get_last_heartbeat_value(int)
        self.witness.enter((run_id, key, method), context.attempt, checkpoint)
        rng = self._dice(context, method, context.attempt)
        for name in script.adds:
            COUNTED[name].set(context, COUNTED[name].get(context) + 1)
        DONE.set(context, f"{method}:{key}", context.attempt)
        for op, number in script.ops:
            yield from self._do(op, number, context, method)
        if rng.random() < script.hanging:
            yield "sleep", 1000 if self.script.mode == "async" else 40
        if rng.random() < script.failing:
            SPOILT.set(context, value=True)
            message = f"attempt {context.attempt} was to fail"
            raise Broken(message)

    def _do(self, op: str, number: float, context: Context, method: str) -> Work:
        witness, key = self.witness, context.step_execution_id
        match op:
            case "sleep":
                yield "sleep", number
            case "beat":
                beats = witness.beats[context.run_id, key, method]
                beats.append(len(beats))
                yield "beat", beats[-1]
            case "stream":
                yield "stream", context.attempt
            case "publish":
                QUEUES[CHANNELS[0]].publish(context, witness.new_value())
            case "publish_map":
                PARTS.publish(context, INSTANCES[0], witness.new_value())
            case "record":
                context.set_step_execution_local(method, context.attempt)
            case "drop" if method == "execute":
                for message in QUEUES[CHANNELS[1]].pending_messages(context)[:1]:
                    QUEUES[CHANNELS[1]].delete(context, message.message_id)

    def decide(self, context: Context, depth: int) -> StepDecision:
        """Decide by the dice of this execution."""
        rng = self._dice(context, "decision")
        targets = [self.types[number] for number in self.script.targets]
        if depth > 0 and rng.random() < 0.9:
            count = rng.choice((1, 1, 2, 3))
            decision = go_to_many(*(move(rng.choice(targets), depth - 1) for _ in range(count)))
        else:
            decision = self._end(rng, context, rng.choice(targets), depth)
        if rng.random() < 0.1:
            decision = decision.with_canceling_steps(rng.choice(targets))
        if rng.random() < 0.1:
            decision = decision.with_canceling_sibling_steps(rng.choice(targets))
        return decision

    def _end(
        self, rng: Random, context: Context, target: type[Step[Any]], depth: int
    ) -> StepDecision:
        output, chance = context.step_execution_id, rng.random()
        if chance < 0.1:
            return dead_end()
        if chance < 0.2:
            return force_complete(output)
        if chance < 0.25:
            return force_fail("the dice say so")
        if chance < 0.45 and depth > -3:
            fallback = move(target, min(depth, 0) - 1)
            return force_complete_if_channels_empty(output, fallback, *QUEUES.values())
        return graceful_complete(output)

    def wait(self, context: Context) -> Wait:
        """Wait as the dice of this execution say."""
        rng = self._dice(context, "wait")
        conditions = [self._condition(rng, str(place)) for place in range(rng.randint(2, 3))]
        match self.script.wait:
            case "until":
                return Wait.until(conditions[0])
            case "all_of":
                return Wait.all_of(*conditions)
            case "any_of":
                return Wait.any_of(*conditions)
            case "any_combination_of":
                pairs = (conditions[:1], conditions[1:])
                return Wait.any_combination_of(*(ConditionCombination.of(*each) for each in pairs))
        return Wait.skip_immediately()

    def _condition(self, rng: Random, name: str) -> Condition:
        if rng.random() < self.flow.subflows and self.child is not None:
            return SubFlow.run(self.child, {"depth": 1}, SubFlowOptions(condition_id=name))
        chance = rng.random()
        if chance < 0.4:
            seconds = rng.choice((0.0, 0.5, 5.0, 20.0))
            return Timer.by_duration(timedelta(seconds=seconds), condition_id=name)
        if chance < 0.6:
            return PARTS.for_one(rng.choice(INSTANCES), condition_id=name)
        channel = QUEUES[rng.choice(CHANNELS)]
        makers = (
            channel.for_one,
            lambda condition_id: channel.for_n(2, condition_id=condition_id),
            lambda condition_id: channel.at_least(1, condition_id=condition_id),
            lambda condition_id: channel.at_most(2, condition_id=condition_id),
            lambda condition_id: channel.for_range(
                at_least=1, at_most=2, condition_id=condition_id
            ),
        )
        return rng.choice(makers)(condition_id=name)

    def _dice(self, context: Context, *parts: Any) -> Random:
        key = context.step_execution_id
        return dice(self.flow.seed, self.flow.name, context.flow_id, key, *parts)


class AsyncStep(Scripted):
    """On the loop of the Steps."""

    async def execute(self, context: AsyncContext, input: Any) -> StepDecision:
        """Do the script's work, then decide."""
        if self.script.paced:
            await asyncio.sleep(PACE)
        self.begin(context, PACE)
        await self.drive(context, self.work(context, self.script.execute, "execute"))
        return self.decide(context, input["depth"])

    async def drive(self, context: AsyncContext, work: Work) -> None:
        """Do what must be awaited."""
        for op, number in work:
            if op == "sleep":
                await asyncio.sleep(number)
            elif op == "beat":
                await context.heartbeat(int(number))
            else:
                PROGRESS.write(context, int(number))


class AsyncWaitingStep(AsyncStep):
    """Waits first."""

    async def wait_for(self, context: AsyncContext, input: Any) -> Wait:
        """Do the script's work, then wait."""
        await self.drive(context, self.work(context, self.script.waiting, "wait_for"))
        return self.wait(context)


class PlainStep(Scripted):
    """In a thread; it has no heartbeat."""

    def execute(self, context: Context, input: Any) -> StepDecision:
        """Do the script's work, then decide."""
        if self.script.paced:
            pause(PACE)
        self.begin(context, PACE)
        self.drive(context, self.work(context, self.script.execute, "execute"))
        return self.decide(context, input["depth"])

    def drive(self, context: Context, work: Work) -> None:
        """Do what a thread can."""
        for op, number in work:
            if op == "sleep":
                pause(number)
            elif op == "stream":
                PROGRESS.write(context, int(number))


class PlainWaitingStep(PlainStep):
    """Waits first."""

    def wait_for(self, context: Context, input: Any) -> Wait:
        """Do the script's work, then wait."""
        self.drive(context, self.work(context, self.script.waiting, "wait_for"))
        return self.wait(context)


class YieldingStep(Scripted):
    """In a thread; it yields what it puts out."""

    def execute(self, context: Context, input: Any) -> Generator[StepOutput, None, StepDecision]:
        """Do the script's work, then decide."""
        if self.script.paced:
            pause(PACE)
        self.begin(context, PACE)
        yield from self.drive(context, self.work(context, self.script.execute, "execute"))
        return self.decide(context, input["depth"])

    def drive(self, context: Context, work: Work) -> Iterator[StepOutput]:
        """Yield outputs, and pause between."""
        for op, number in work:
            if op == "sleep":
                pause(number)
            elif op == "beat":
                yield heartbeat(int(number))
            elif (output := PROGRESS.write(context, int(number))) is not None:
                yield output


class YieldingWaitingStep(YieldingStep):
    """Waits first."""

    def wait_for(self, context: Context, input: Any) -> Generator[StepOutput, None, Wait]:
        """Do the script's work, then wait."""
        yield from self.drive(context, self.work(context, self.script.waiting, "wait_for"))
        return self.wait(context)


FORMS: dict[str, tuple[type[Scripted], type[Scripted]]] = {
    "async": (AsyncStep, AsyncWaitingStep),
    "plain": (PlainStep, PlainWaitingStep),
    "yielding": (YieldingStep, YieldingWaitingStep),
}
"""How a Step of each mode is written, without a wait and with one."""


def move(target: type[Step[Any]], depth: int) -> StepMovement:
    """Lead to a Step, so many decisions before the end."""
    return StepMovement.of(target, {"depth": depth})


def _taken(context: Context, channel: str) -> tuple[int, ...]:
    if channel in QUEUES:
        return QUEUES[channel].results(context)
    return PARTS.results(context, channel)


def _retry(script: MethodScript) -> RetryPolicy:
    return RetryPolicy(
        initial_interval=timedelta(seconds=script.interval),
        maximum_interval=timedelta(seconds=5),
        maximum_attempts=script.attempts,
    )


def _durability(script: MethodScript) -> StepDurability:
    return StepDurability.ASYNC if script.asynchronous else StepDurability.SYNC
