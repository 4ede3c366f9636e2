"""DX311 loop-in-loop."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.graph.redact import code_text
from dexnb.lint.facts.following import dotted_name
from dexnb.lint.facts.loops_started import starts_loop
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule


@rule("DX311", "loop-in-loop", "error")
def loop_in_loop(step: StepSubject) -> Iterator[Remark]:
    """A Step starts an event loop of its own.

    What:
        `asyncio.run`, `run_until_complete`, `anyio.run` or `nest_asyncio` is called in a Step or in
        a helper that it calls.

    Why:
        In an async Step a loop is running already, and the call raises RuntimeError; in a notebook
        it does so everywhere. In a sync Step it works, but cancellation and the virtual clock do
        not reach what runs inside (a warning).

    Instead:
        Write the Step as `async def` and await what there is to await::

            async def execute(self, context: AsyncContext, input: str) -> StepDecision:
                job = await self._jobs.status(input)
    """
    for method in step.methods:
        for call in method.spots.calls:
            if call.threaded or not starts_loop(call.origin, dotted_name(call.call.func)):
                continue
            text = code_text(call.call.func, 60)
            where = "an async Step, whose loop is running" if method.is_async else "a Step"
            yield Remark(
                call.node,
                call.frame,
                f"{text} starts an event loop inside {where}",
                "make the Step async and await the coroutine",
                severity=None if method.is_async else "warning",
            )
