"""DX302 blocking-call."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator

from dexnb.graph.redact import code_text
from dexnb.lint.facts.blocking import is_blocking
from dexnb.lint.facts.loops_started import starts_loop
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.spots import CallKind, CallSpot
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.places import insertion, place_of
from dexnb.lint.rule import Remark, rule
from dexnb.model.finding import Edit, Fix

_HINT = "await the async form of it, or asyncio.to_thread(...)"


@rule("DX302", "blocking-call", "error")
def blocking_call(step: StepSubject) -> Iterator[Remark]:
    """An async Step makes a call that blocks the loop.

    What:
        `time.sleep`, `requests`, a synchronous database driver or the like is called in an `async
        def` Step or in a helper that it calls, and not in a thread. Where a poll asks through a
        call that is not awaited and whose code is not at hand, it cannot be told.

    Why:
        While it waits, nothing else on that loop runs: not the heartbeats of other Steps, which
        then look dead, and not the cancellation of this one.

    Instead:
        Take the library's async form, or a thread::

            async with asyncio.timeout(10):
                reply = await asyncio.to_thread(requests.get, url, timeout=5)
    """
    for method in step.methods:
        if not method.is_async:
            continue
        for call in method.spots.calls:
            if not (call.awaited or call.threaded or starts_loop(call.origin)):
                yield from _of_call(call, method)


def _of_call(call: CallSpot, method: MethodFacts) -> Iterator[Remark]:
    text = code_text(call.call.func, 60)
    if is_blocking(call.origin):
        message = f"{text} blocks the loop that this async Step runs on"
        yield Remark(call.node, call.frame, message, _HINT, fix=_sleep(call))
    elif _may_block(call, method):
        message = f"it cannot be told whether {text} blocks the loop: it is not awaited"
        yield Remark(call.node, call.frame, message, _HINT, verdict="cannot tell")


def _may_block(call: CallSpot, method: MethodFacts) -> bool:
    """Tell what a poll asks, without awaiting it."""
    kinds = (CallKind.FOREIGN, CallKind.HIDDEN)
    return call.kind in kinds and any(call in poll.asks for poll in method.polls)


def _sleep(call: CallSpot) -> Fix | None:
    """Turn `time.sleep(x)` into `await asyncio.sleep(x)` where the name `asyncio` is there."""
    own = isinstance(call.frame.tree, ast.AsyncFunctionDef) and call.dropped
    if not own or call.origin != "time.sleep" or call.frame.scope.name("asyncio") is not asyncio:
        return None
    if call.node is not call.call:
        return None
    return Fix(
        "sleep on the loop",
        (
            Edit(insertion(call.call, call.frame), "await "),
            Edit(place_of(call.call.func, call.frame), "asyncio.sleep"),
        ),
    )
