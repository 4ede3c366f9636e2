"""Flows made of scripts, with their RPCs; all of them keep the same."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    PersistenceSchema,
    RPCResult,
    Step,
    StepDecision,
    StepList,
    force_complete,
    rpc,
)
from tests.simulation.scripts import CHANNELS, COUNTERS, INSTANCES, FlowScript
from tests.simulation.steps import COUNTED, FORMS, PARTS, QUEUES, SCHEMA, TALLY, move
from tests.simulation.threads import pause
from tests.simulation.witness import Witness


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

    @rpc(timeout=timedelta(seconds=45), lock_attributes=(COUNTED[COUNTERS[1]].lock(),))
    def count(self, context: Context, input: float) -> RPCResult[int]:
        """Add one to another counter, in a thread, for longer than a lease of its lock if it must.

        What happens to its process meanwhile happens to the lock a lease later.
        """
        counter = COUNTED[COUNTERS[1]]
        count = counter.get(context)
        pause(input)
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
        steps = () if start is None or count % 3 else (move(type(start), 0),)
        return RPCResult(count + 1, next_steps=steps)

    @rpc
    async def tell(self, context: AsyncContext, input: float) -> RPCResult[int]:
        """Publish with neither a lock nor a transaction, and cancel a kind of Steps."""
        await asyncio.sleep(input)
        value = self.witness.new_value()
        PARTS.publish(context, INSTANCES[0], value)
        last = [type(step) for step in self.steps][-1:] if value % 3 == 0 else []
        return RPCResult(value, canceling_steps=tuple(last))


def make_flow(script: FlowScript, witness: Witness, child: Flow[Any] | None = None) -> Flow[Any]:
    """Make a Flow of a script; its Steps tell the witness what they do."""
    types: list[type[Step[Any]]] = []
    for step in script.steps:
        base = FORMS[step.mode][step.wait != "none"]
        body = {"script": step, "flow": script, "witness": witness, "types": types}
        types.append(type(step.name, (base,), {**body, "child": child}))
    first, *others = [each() for each in types]
    steps = StepList.start_step(first).other_steps(*others)
    made: Flow[Any] = type(script.name, (ScriptedFlow,), {"steps": steps, "witness": witness})()
    return made
