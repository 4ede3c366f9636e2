"""A Flow that uses everything, whose end does not depend on when its Steps run or how often."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import dexnb as dex

TOTAL = dex.Attribute("Total", int)
NOTES = dex.AttributeMap("Notes", str)
ORDERS = dex.Channel("Orders", int)
ANSWERS = dex.ChannelMap("Answers", str)
TOKENS = dex.Channel("Tokens", str)
PROGRESS = dex.Stream("Progress", int, 1 << 16)

ALONE = dex.StepOptions(
    execute_lock_attributes=(TOTAL.lock(),),
    execute_retry=dex.RetryPolicy(initial_interval=timedelta(seconds=0.5)),
)
BRANCHES = 7


def seconds(number: float) -> Any:
    """Make a Timer's condition."""
    return dex.Timer.by_duration(timedelta(seconds=number), condition_id=f"{number:g} s")


def add(context: dex.AsyncContext, number: int) -> None:
    """Add to what only one method may change at a time."""
    TOTAL.set(context, TOTAL.get(context) + number)


def over(context: dex.AsyncContext, branch: str) -> dex.StepDecision:
    """End a branch: `Join` counts the tokens."""
    NOTES.set(context, branch, "over")
    TOKENS.publish(context, branch)
    return dex.dead_end()


class Begin(dex.Step[int]):
    """Waits for two orders and a moment, under a lock, and starts all branches."""

    def get_step_options(self) -> dex.StepOptions:
        """Lock for both methods."""
        return dex.StepOptions(
            wait_for_lock_attributes=(TOTAL.lock(),), execute_lock_attributes=(TOTAL.lock(),)
        )

    async def wait_for(self, context: dex.AsyncContext, input: int) -> dex.Wait:
        """Leave a local value behind."""
        add(context, input)
        context.set_step_execution_local("asked", input)
        context.record_event("asked", input)
        return dex.Wait.all_of(seconds(1), ORDERS.for_n(2))

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Take the orders."""
        asked = context.get_step_execution_local("asked", int)
        add(context, sum(ORDERS.results(context)) + (asked or 0))
        steps = (Answered, Flaky, Slow, Doomed, Parent, Impatient, Skipped, Join)
        return dex.go_to_many(*(dex.StepMovement.of(step, 0) for step in steps))


class Answered(dex.Step[int]):
    """Waits for an answer, or for very long."""

    def get_step_options(self) -> dex.StepOptions:
        """Add alone."""
        return ALONE

    async def wait_for(self, context: dex.AsyncContext, input: int) -> dex.Wait:
        """Wait for the first of both."""
        return dex.Wait.any_of(seconds(10_000), ANSWERS.for_one("yes/no"))

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Publish the next order."""
        add(context, len(ANSWERS.results(context, "yes/no")))
        ORDERS.publish(context, 100)
        return over(context, "answered")


class Flaky(dex.Step[int]):
    """Fails at first, takes the order that `Answered` has published, and beats meanwhile."""

    def get_step_options(self) -> dex.StepOptions:
        """Add alone, and be quick about the disk."""
        return dex.StepOptions(
            execute_lock_attributes=(TOTAL.lock(),),
            execute_retry=dex.RetryPolicy(initial_interval=timedelta(seconds=0.5)),
            execute_durability=dex.StepDurability.ASYNC,
        )

    async def wait_for(self, context: dex.AsyncContext, input: int) -> dex.Wait:
        """Wait for either of two."""
        order = ORDERS.for_range(at_least=1, at_most=3, condition_id="order")
        never = seconds(20_000)
        late = dex.ConditionCombination.of(never, order)
        return dex.Wait.any_combination_of(late, dex.ConditionCombination.of(order))

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Beat, tell, fail once."""
        PROGRESS.write(context, context.attempt)
        await context.heartbeat(context.attempt)
        await asyncio.sleep(0.3)
        add(context, sum(ORDERS.results(context)))
        if context.attempt == 1:
            message = "the first attempt always fails"
            raise ValueError(message)
        return over(context, "flaky")


class Slow(dex.Step[int]):
    """Polls until it is cancelled."""

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Beat each ten seconds for ever."""
        while True:
            await asyncio.sleep(10)
            await context.heartbeat(int(asyncio.get_running_loop().time()))


class Doomed(dex.Step[int]):
    """Never works."""

    def get_step_options(self) -> dex.StepOptions:
        """Try twice, then recover."""
        retry = dex.RetryPolicy(initial_interval=timedelta(seconds=0.5), maximum_attempts=2)
        return dex.StepOptions(execute_retry=retry).on_execute_failure_proceed_to(Recover)

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Write what nobody must ever see."""
        NOTES.set(context, "doomed", "seen")
        message = "no attempt works"
        raise ValueError(message)


class Recover(dex.Step[int]):
    """Follows `Doomed`."""

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Note that there was an error."""
        NOTES.set(context, "error", "known" if context.recovery_error else "unknown")
        return over(context, "recovered")


class Impatient(dex.Step[int]):
    """Goes on though its wait_for never works."""

    def get_step_options(self) -> dex.StepOptions:
        """Try once."""
        return dex.StepOptions(
            wait_for_retry=dex.RetryPolicy(maximum_attempts=1),
            wait_for_failure=dex.WaitForFailurePolicy.PROCEED,
        )

    async def wait_for(self, context: dex.AsyncContext, input: int) -> dex.Wait:
        """Fail."""
        message = "no wait works"
        raise ValueError(message)

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Note it."""
        NOTES.set(context, "waited", str(not context.wait_for_method_failed()))
        return over(context, "impatient")


class Parent(dex.Step[int]):
    """Waits for another Flow."""

    def get_step_options(self) -> dex.StepOptions:
        """Add alone."""
        return ALONE

    async def wait_for(self, context: dex.AsyncContext, input: int) -> dex.Wait:
        """Start it."""
        options = dex.SubFlowOptions(
            timeout=timedelta(seconds=3), timeout_policy=dex.FlowTimeoutPolicy.HANDLER
        )
        return dex.Wait.until(dex.SubFlow.run(Child(), 5, options))

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Add what it gave."""
        add(context, dex.SubFlow.get_condition_results(context).single_output(int))
        return over(context, "parent")


class Skipped(dex.Step[int]):
    """Waits for a Timer that is skipped."""

    async def wait_for(self, context: dex.AsyncContext, input: int) -> dex.Wait:
        """Wait for very long."""
        return dex.Wait.until(dex.Timer.by_duration(timedelta(days=30), condition_id="skip me"))

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Note it."""
        NOTES.set(context, "timer", str(context.has_timer_fired(0)))
        return over(context, "skipped")


class Join(dex.Step[int]):
    """Waits for the ends of all branches, then cancels the one that has none."""

    async def wait_for(self, context: dex.AsyncContext, input: int) -> dex.Wait:
        """Wait for the tokens."""
        return dex.Wait.until(TOKENS.for_n(BRANCHES))

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Cancel `Slow`."""
        NOTES.set(context, "joined", ",".join(sorted(TOKENS.results(context))))
        return dex.go_to(Last, 0).with_canceling_steps(Slow)


class Last(dex.Step[int]):
    """Completes the run, in which nothing is left."""

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Complete if that is so."""
        again = dex.StepMovement.of(Last, input + 1)
        return dex.force_complete_if_channels_empty("all done", again, ORDERS, TOKENS)


class Approved(dex.Step[int]):
    """Started by the RPC."""

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """End at once."""
        return over(context, "approved")


class Everything(dex.Flow[int]):
    """All of it."""

    def get_steps(self) -> dex.StepList[int]:
        """Give the Steps."""
        branches = (Answered, Flaky, Slow, Doomed, Recover, Impatient, Parent, Skipped, Approved)
        others = (step() for step in (*branches, Join, Last))
        return dex.StepList.start_step(Begin()).other_steps(*others)

    def get_persistence_schema(self) -> dex.PersistenceSchema:
        """Give what it keeps."""
        return dex.PersistenceSchema.of(TOTAL, NOTES, ORDERS, ANSWERS, TOKENS, PROGRESS)

    @dex.rpc(
        timeout=timedelta(seconds=4),
        lock_attributes=(TOTAL.lock(),),
        load_attribute_map_instances=(NOTES.load("approval"),),
    )
    async def approve(self, context: dex.AsyncContext) -> dex.RPCResult[bool]:
        """Approve once, however often it is called."""
        if NOTES.get(context, "approval"):
            return dex.RPCResult(output=False)
        NOTES.set(context, "approval", "given")
        add(context, 1000)
        ANSWERS.publish(context, "yes/no", "yes")
        return dex.RPCResult(output=True, next_steps=(dex.StepMovement.of(Approved, 0),))


class Ask(dex.Step[int]):
    """Waits for what never comes."""

    async def wait_for(self, context: dex.AsyncContext, input: int) -> dex.Wait:
        """Wait for an order."""
        return dex.Wait.until(ORDERS.for_one())

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Never come here."""
        return dex.force_complete(-1)


class Child(dex.Flow[int]):
    """Is ended by its timeout's handler."""

    def get_steps(self) -> dex.StepList[int]:
        """Give the Step."""
        return dex.StepList.start_step(Ask())

    def get_persistence_schema(self) -> dex.PersistenceSchema:
        """Give the Channel."""
        return dex.PersistenceSchema.of(ORDERS)

    async def handle_timeout(self, context: dex.AsyncContext) -> dex.StepDecision:
        """Complete."""
        return dex.force_complete(7)
