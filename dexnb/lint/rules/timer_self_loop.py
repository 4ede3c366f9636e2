"""DX101 timer-self-loop."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.goes import Going, decides_by_asking, goings_of, pauses_of, timers_of
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule


@rule("DX101", "timer-self-loop", "warning")
def timer_self_loop(step: StepSubject) -> Iterator[Remark]:
    """A Step waits for a timer, asks, and goes to itself again.

    What:
        Each round of the poll is an execution of its own: `wait_for` gives a Timer (or `execute`
        sleeps), `execute` asks another system and leads back to the same Step, at once or by way
        of others. A Step that goes to itself without asking anybody, as a schedule does, is fine.

    Why:
        The history grows with every round, each round costs several turns of the engine, and no
        retry policy, no method timeout and no total_duration bounds the wait as a whole.

    Instead:
        Loop inside one Step, which sleeps, beats and is bounded by its options::

            while True:
                async with asyncio.timeout(10):
                    job = await self._jobs.status(input)
                if job.state.is_over:
                    return graceful_complete(job.result)
                await context.heartbeat(job.state)
                await asyncio.sleep(POLL_INTERVAL.total_seconds())
    """
    hidden = step.step.wait_for is not None and step.wait_for is None
    if not (timers_of(step) or pauses_of(step) or hidden):
        return
    for source, going in ways_back(step):
        method = source.execute
        if method is None or not decides_by_asking(method):
            continue
        name = step.step.step_type
        yield Remark(
            going.spot.node,
            going.spot.frame,
            f"{name} polls by timer: each round is a Step execution of its own, without a bound"
            if not hidden
            else f"{name} goes to itself after it has asked; what it waits for cannot be read",
            "ask in a loop inside one Step, with a sleep and a heartbeat in each round",
            verdict="cannot tell" if hidden else "found",
        )


def ways_back(step: StepSubject) -> Iterator[tuple[StepSubject, Going]]:
    """Give each way on that leads to a Step from itself, or from a Step that it leads to."""
    steps = {each.step.step_type: each for each in step.of.steps}
    after: dict[str, StepSubject] = {}
    waiting = [step]
    while waiting:
        here = waiting.pop()
        for going in [] if here.execute is None else list(goings_of(here.execute)):
            for target in going.targets:
                if target == step.step.step_type:
                    yield here, going
                elif target in steps and target not in after:
                    after[target] = steps[target]
                    waiting.append(steps[target])
