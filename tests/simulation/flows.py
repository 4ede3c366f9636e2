"""Flows made of scripts: real Step classes, whose methods do what their script says."""

from __future__ import annotations

import asyncio
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
    Flow,
    PersistenceSchema,
    RetryPolicy,
    RPCResult,
    Step,
    StepDecision,
    StepDurability,
    StepList,
    StepMovement,
    StepOptions,
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
    rpc,
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
from tests.simulation.witness import Witness

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

    async def execute(self, context: AsyncContext, input: Any) -> StepDecision:
        """Do the script's work, then decide by the dice of this execution."""
        for channel in (*CHANNELS, *INSTANCES):
            for value in _taken(context, channel):
                SEEN.set(context, str(value), context.step_execution_id)
        await self._work(context, self.script.execute, "execute")
        return self._decide(self._dice(context, "decision"), context, input["depth"])

    async def _work(self, context: AsyncContext, script: MethodScript, method: str) -> None:
        run_id, key = context.run_id, context.step_execution_id
        checkpoint = context.get_last_heartbeat_value(int)
        self.witness.enter((run_id, key, method), context.attempt, checkpoint)
        rng = self._dice(context, method, context.attempt)
        for name in script.adds:
            COUNTED[name].set(context, COUNTED[name].get(context) + 1)
        DONE.set(context, f"{method}:{key}", context.attempt)
        for op, number in script.ops:
            await self._do(op, number, context, method)
        if rng.random() < script.hanging:
            await asyncio.sleep(1000)
        if rng.random() < script.failing:
            SPOILT.set(context, value=True)
            message = f"attempt {context.attempt} was to fail"
            raise Broken(message)

    async def _do(self, op: str, number: float, context: AsyncContext, method: str) -> None:
        witness, key = self.witness, context.step_execution_id
        match op:
            case "sleep":
                await asyncio.sleep(number)
            case "beat":
                beats = witness.beats[context.run_id, key, method]
                beats.append(len(beats))
                await context.heartbeat(beats[-1])
            case "stream":
                PROGRESS.write(context, context.attempt)
            case "publish":
                QUEUES[CHANNELS[0]].publish(context, witness.new_value())
            case "publish_map":
                PARTS.publish(context, INSTANCES[0], witness.new_value())
            case "record":
                context.set_step_execution_local(method, context.attempt)
            case "drop" if method == "execute":
                for message in QUEUES[CHANNELS[1]].pending_messages(context)[:1]:
                    QUEUES[CHANNELS[1]].delete(context, message.message_id)

    def _decide(self, rng: Random, context: AsyncContext, depth: int) -> StepDecision:
        targets = [self.types[number] for number in self.script.targets]
        if depth > 0 and rng.random() < 0.9:
            count = rng.choice((1, 1, 2, 3))
            decision = go_to_many(*(_move(rng.choice(targets), depth - 1) for _ in range(count)))
        else:
            decision = self._end(rng, context, rng.choice(targets), depth)
        if rng.random() < 0.1:
            decision = decision.with_canceling_steps(rng.choice(targets))
        if rng.random() < 0.1:
            decision = decision.with_canceling_sibling_steps(rng.choice(targets))
        return decision

    def _end(
        self, rng: Random, context: AsyncContext, target: type[Step[Any]], depth: int
    ) -> StepDecision:
        output, chance = context.step_execution_id, rng.random()
        if chance < 0.1:
            return dead_end()
        if chance < 0.2:
            return force_complete(output)
        if chance < 0.25:
            return force_fail("the dice say so")
        if chance < 0.45 and depth > -3:
            fallback = _move(target, min(depth, 0) - 1)
            return force_complete_if_channels_empty(output, fallback, *QUEUES.values())
        return graceful_complete(output)

    def _dice(self, context: AsyncContext, *parts: Any) -> Random:
        key = context.step_execution_id
        return dice(self.flow.seed, self.flow.name, context.flow_id, key, *parts)


class ScriptedWait(Scripted):
    """A scripted Step that waits first."""

    async def wait_for(self, context: AsyncContext, input: Any) -> Wait:
        """Do the script's work, then wait as the dice of this execution say."""
        await self._work(context, self.script.waiting, "wait_for")
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
        chance = rng.random()
        if chance < 0.25 and self.child is not None:
            return SubFlow.run(self.child, {"depth": 1}, SubFlowOptions(condition_id=name))
        if chance < 0.55:
            seconds = rng.choice((0.0, 0.5, 5.0, 20.0))
            return Timer.by_duration(timedelta(seconds=seconds), condition_id=name)
        if chance < 0.7:
            return PARTS.for_one(rng.choice(INSTANCES), condition_id=name)
        channel = QUEUES[rng.choice(CHANNELS)]
        makers = (
            channel.for_one,
            lambda condition_id: channel.for_n(2, condition_id=condition_id),
            lambda condition_id: channel.at_least(1, condition_id=condition_id),
            lambda condition_id: channel.at_most(2, condition_id=condition_id),
        )
        return rng.choice(makers)(condition_id=name)


class ScriptedFlow(Flow[Any]):
    """A Flow of scripted Steps; its class is made by `make_flow`."""

    steps: StepList[Any]
    witness: Witness

    def get_steps(self) -> StepList[Any]:
        """Give the Steps."""
        return self.steps

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what all these Flows keep."""
        return SCHEMA

    async def handle_timeout(self, context: AsyncContext) -> StepDecision:
        """Complete, which cancels what is active."""
        return force_complete("timeout")

    @rpc(timeout=timedelta(seconds=4), lock_attributes=(COUNTED[COUNTERS[0]].lock(),))
    async def add(self, context: AsyncContext, input: float) -> RPCResult[int]:
        """Add one to a counter under its lock, which may last longer than the call may."""
        counter = COUNTED[COUNTERS[0]]
        count = counter.get(context)
        await asyncio.sleep(input)
        counter.set(context, count + 1)
        return RPCResult(count + 1)

    @rpc(is_transactional=True, load_channels=(QUEUES[CHANNELS[0]],))
    async def tally(self, context: AsyncContext, input: float) -> RPCResult[int]:
        """Add one without a lock, drop a message, and start a last Step."""
        queue, count = QUEUES[CHANNELS[0]], TALLY.get(context)
        await asyncio.sleep(input)
        TALLY.set(context, count + 1)
        for message in queue.pending_messages(context)[:1]:
            queue.delete(context, message.message_id)
        start = self.steps.start
        steps = () if start is None or count % 3 else (_move(type(start), 0),)
        return RPCResult(count + 1, next_steps=steps)

    @rpc
    async def tell(self, context: AsyncContext, input: float) -> RPCResult[int]:
        """Publish with neither a lock nor a transaction."""
        await asyncio.sleep(input)
        value = self.witness.new_value()
        PARTS.publish(context, INSTANCES[0], value)
        return RPCResult(value)


def make_flow(script: FlowScript, witness: Witness, child: Flow[Any] | None = None) -> Flow[Any]:
    """Make a Flow of a script; its Steps tell the witness what they do."""
    types: list[type[Step[Any]]] = []
    for step in script.steps:
        base = Scripted if step.wait == "none" else ScriptedWait
        body = {"script": step, "flow": script, "witness": witness, "types": types}
        types.append(type(step.name, (base,), {**body, "child": child}))
    first, *others = [each() for each in types]
    steps = StepList.start_step(first).other_steps(*others)
    made: Flow[Any] = type(script.name, (ScriptedFlow,), {"steps": steps, "witness": witness})()
    return made


def _move(target: type[Step[Any]], depth: int) -> StepMovement:
    return StepMovement.of(target, {"depth": depth})


def _taken(context: AsyncContext, channel: str) -> tuple[int, ...]:
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
