"""A Flow that uses everything, whose end does not depend on when its Steps run or how often."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeMap,
    Channel,
    ChannelMap,
    ConditionCombination,
    Flow,
    FlowTimeoutPolicy,
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
    go_to,
    go_to_many,
    rpc,
)

TOTAL = Attribute("Total", int)
NOTES = AttributeMap("Notes", str)
ORDERS = Channel("Orders", int)
ANSWERS = ChannelMap("Answers", str)
TOKENS = Channel("Tokens", str)
PROGRESS = Stream("Progress", int, 1 << 16)

ALONE = StepOptions(
    execute_lock_attributes=(TOTAL.lock(),),
    execute_retry=RetryPolicy(initial_interval=timedelta(seconds=0.5)),
)
BRANCHES = 7


def seconds(number: float) -> Any:
    """Make a Timer's condition."""
    return Timer.by_duration(timedelta(seconds=number), condition_id=f"{number:g} s")


def add(context: AsyncContext, number: int) -> None:
    """Add to what only one method may change at a time."""
    TOTAL.set(context, TOTAL.get(context) + number)


def over(context: AsyncContext, branch: str) -> StepDecision:
    """End a branch: `Join` counts the tokens."""
    NOTES.set(context, branch, "over")
    TOKENS.publish(context, branch)
    return dead_end()


class Begin(Step[int]):
    """Waits for two orders and a moment, under a lock, and starts all branches."""

    def get_step_options(self) -> StepOptions:
        """Lock for both methods."""
        return StepOptions(
            wait_for_lock_attributes=(TOTAL.lock(),), execute_lock_attributes=(TOTAL.lock(),)
        )

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Leave a local value behind."""
        add(context, input)
        context.set_step_execution_local("asked", input)
        context.record_event("asked", input)
        return Wait.all_of(seconds(1), ORDERS.for_n(2))

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Take the orders."""
        asked = context.get_step_execution_local("asked", int)
        add(context, sum(ORDERS.results(context)) + (asked or 0))
        steps = (Answered, Flaky, Slow, Doomed, Parent, Impatient, Skipped, Join)
        return go_to_many(*(StepMovement.of(step, 0) for step in steps))


class Answered(Step[int]):
    """Waits for an answer, or for very long."""

    def get_step_options(self) -> StepOptions:
        """Add alone."""
        return ALONE

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Wait for the first of both."""
        return Wait.any_of(seconds(10_000), ANSWERS.for_one("yes/no"))

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Publish the next order."""
        add(context, len(ANSWERS.results(context, "yes/no")))
        ORDERS.publish(context, 100)
        return over(context, "answered")


class Flaky(Step[int]):
    """Fails at first, takes the order that `Answered` has published, and beats meanwhile."""

    def get_step_options(self) -> StepOptions:
        """Add alone, and be quick about the disk."""
        return StepOptions(
            execute_lock_attributes=(TOTAL.lock(),),
            execute_retry=RetryPolicy(initial_interval=timedelta(seconds=0.5)),
            execute_durability=StepDurability.ASYNC,
        )

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Wait for either of two."""
        order = ORDERS.for_range(at_least=1, at_most=3, condition_id="order")
        never = seconds(20_000)
        late = ConditionCombination.of(never, order)
        return Wait.any_combination_of(late, ConditionCombination.of(order))

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Beat, tell, fail once."""
        PROGRESS.write(context, context.attempt)
        await context.heartbeat(context.attempt)
        await asyncio.sleep(0.3)
        add(context, sum(ORDERS.results(context)))
        if context.attempt == 1:
            message = "the first attempt always fails"
            raise ValueError(message)
        return over(context, "flaky")


class Slow(Step[int]):
    """Polls until it is cancelled."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Beat each ten seconds for ever."""
        while True:
            await asyncio.sleep(10)
            await context.heartbeat(int(asyncio.get_running_loop().time()))


class Doomed(Step[int]):
    """Never works."""

    def get_step_options(self) -> StepOptions:
        """Try twice, then recover."""
        retry = RetryPolicy(initial_interval=timedelta(seconds=0.5), maximum_attempts=2)
        return StepOptions(execute_retry=retry).on_execute_failure_proceed_to(Recover)

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Write what nobody must ever see."""
        NOTES.set(context, "doomed", "seen")
        message = "no attempt works"
        raise ValueError(message)


class Recover(Step[int]):
    """Follows `Doomed`."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Note that there was an error."""
        NOTES.set(context, "error", "known" if context.recovery_error else "unknown")
        return over(context, "recovered")


class Impatient(Step[int]):
    """Goes on though its wait_for never works."""

    def get_step_options(self) -> StepOptions:
        """Try once."""
        return StepOptions(
            wait_for_retry=RetryPolicy(maximum_attempts=1),
            wait_for_failure=WaitForFailurePolicy.PROCEED,
        )

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Fail."""
        message = "no wait works"
        raise ValueError(message)

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Note it."""
        NOTES.set(context, "waited", str(not context.wait_for_method_failed()))
        return over(context, "impatient")


class Parent(Step[int]):
    """Waits for another Flow."""

    def get_step_options(self) -> StepOptions:
        """Add alone."""
        return ALONE

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Start it."""
        options = SubFlowOptions(
            timeout=timedelta(seconds=3), timeout_policy=FlowTimeoutPolicy.HANDLER
        )
        return Wait.until(SubFlow.run(Child(), 5, options))

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Add what it gave."""
        add(context, SubFlow.get_condition_results(context).single_output(int))
        return over(context, "parent")


class Skipped(Step[int]):
    """Waits for a Timer that is skipped."""

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Wait for very long."""
        return Wait.until(Timer.by_duration(timedelta(days=30), condition_id="skip me"))

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Note it."""
        NOTES.set(context, "timer", str(context.has_timer_fired(0)))
        return over(context, "skipped")


class Join(Step[int]):
    """Waits for the ends of all branches, then cancels the one that has none."""

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Wait for the tokens."""
        return Wait.until(TOKENS.for_n(BRANCHES))

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Cancel `Slow`."""
        NOTES.set(context, "joined", ",".join(sorted(TOKENS.results(context))))
        return go_to(Last, 0).with_canceling_steps(Slow)


class Last(Step[int]):
    """Completes the run, in which nothing is left."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Complete if that is so."""
        again = StepMovement.of(Last, input + 1)
        return force_complete_if_channels_empty("all done", again, ORDERS, TOKENS)


class Approved(Step[int]):
    """Started by the RPC."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """End at once."""
        return over(context, "approved")


class Everything(Flow[int]):
    """All of it."""

    def get_steps(self) -> StepList[int]:
        """Give the Steps."""
        branches = (Answered, Flaky, Slow, Doomed, Recover, Impatient, Parent, Skipped, Approved)
        others = (step() for step in (*branches, Join, Last))
        return StepList.start_step(Begin()).other_steps(*others)

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(TOTAL, NOTES, ORDERS, ANSWERS, TOKENS, PROGRESS)

    @rpc(
        timeout=timedelta(seconds=4),
        lock_attributes=(TOTAL.lock(),),
        load_attribute_map_instances=(NOTES.load("approval"),),
    )
    async def approve(self, context: AsyncContext) -> RPCResult[bool]:
        """Approve once, however often it is called."""
        if NOTES.get(context, "approval"):
            return RPCResult(output=False)
        NOTES.set(context, "approval", "given")
        add(context, 1000)
        ANSWERS.publish(context, "yes/no", "yes")
        return RPCResult(output=True, next_steps=(StepMovement.of(Approved, 0),))


class Ask(Step[int]):
    """Waits for what never comes."""

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Wait for an order."""
        return Wait.until(ORDERS.for_one())

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Never come here."""
        return force_complete(-1)


class Child(Flow[int]):
    """Is ended by its timeout's handler."""

    def get_steps(self) -> StepList[int]:
        """Give the Step."""
        return StepList.start_step(Ask())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give the Channel."""
        return PersistenceSchema.of(ORDERS)

    async def handle_timeout(self, context: AsyncContext) -> StepDecision:
        """Complete."""
        return force_complete(7)
