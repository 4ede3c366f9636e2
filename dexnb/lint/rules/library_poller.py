"""DX312 library-poller."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.graph.redact import code_text
from dexnb.lint.facts.pollers import poller_of, pollers_around
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule

_HINT = "write the loop in the Step: ask, beat, sleep; and leave errors to the retry policy"


@rule("DX312", "library-poller", "warning")
def library_poller(step: StepSubject) -> Iterator[Remark]:
    """A library waits or retries inside a Step.

    What:
        `polling`, `tenacity`, `backoff`, a client's waiter or the `result()` of a long running
        operation holds the loop that the Step should have.

    Why:
        Nothing beats while the library waits, so that a healthy attempt looks dead; its interval,
        its deadline and its retries add to those of the runtime and are seen by nobody.

    Instead:
        Ask in a loop of the Step's own::

            while not (await self._status(input)).done:
                await context.heartbeat()
                await asyncio.sleep(POLL_INTERVAL.total_seconds())
    """
    for method in step.methods:
        for call in method.spots.calls:
            library = poller_of(call)
            if library:
                text = code_text(call.call.func, 60)
                message = f"{text} waits by itself ({library}), and nothing beats meanwhile"
                yield Remark(call.node, call.frame, message, _HINT)
        for frame in method.frames:
            for decorator, library in pollers_around(frame):
                message = f"{library} repeats {frame.tree.name} out of the runtime's sight"
                yield Remark(decorator, frame, message, _HINT)
