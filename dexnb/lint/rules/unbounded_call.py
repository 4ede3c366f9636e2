"""DX104 unbounded-call."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.graph.redact import code_text
from dexnb.lint.facts.blocking import is_blocking
from dexnb.lint.facts.bounds import is_bounded, makers_of
from dexnb.lint.facts.kinds import OUTSIDE
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.origin import top_of
from dexnb.lint.facts.spots import CallKind, CallSpot
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule


@rule("DX104", "unbounded-call", "warning")
def unbounded_call(step: StepSubject) -> Iterator[Remark]:
    """A call of another system has no timeout of its own.

    What:
        A Step waits for somebody else's answer without saying for how long. A timeout around the
        whole loop does not count: it bounds the wait and not the call. In loops that wait for
        nothing (pages, rows, messages) calls are not judged.

    Why:
        A connection that hangs looks like a Step that works, until the heartbeat timeout fails the
        whole attempt; and the window rule can promise nothing about a call without a limit.

    Instead:
        Bound each call, by less than the heartbeat timeout leaves::

            async with asyncio.timeout(CALL_TIMEOUT.total_seconds()):
                job = await self._jobs.status(input)
    """
    for method in step.methods:
        going_out = {call.node for call in method.calls(CallKind.FOREIGN) if call.awaited}
        for call in (*method.calls(CallKind.FOREIGN, CallKind.HIDDEN), *method.stand_ins):
            # What reads the answer to a call is judged with that call.
            if not any(made in going_out for made in makers_of(call)):
                yield from _of_call(call, method)


def _of_call(call: CallSpot, method: MethodFacts) -> Iterator[Remark]:
    loops = [each for each in call.around if each.kind == "loop"]
    polls = [poll for poll in method.polls if loops and poll.loop.loop is loops[-1]]
    if loops and not polls:
        return
    asked = any(call in poll.asks for poll in polls)
    bounded = is_bounded(call, call.within(loops[-1]) if loops else None)
    if bounded == "yes" or not _is_judged(call, asked=asked):
        return
    sure = call.kind is CallKind.FOREIGN and _is_sure(call) and bounded == "no"
    text = code_text(call.call.func, 60)
    yield Remark(
        call.node,
        call.frame,
        f"{text} may take for ever: nothing limits how long this call may take"
        if sure
        else f"it cannot be told whether {text} has a timeout of its own",
        "put it under asyncio.timeout(...), or give the client a timeout",
        verdict="found" if sure else "cannot tell",
    )


def _is_judged(call: CallSpot, *, asked: bool) -> bool:
    """Tell a call that goes out of the process for certain, or is what a poll asks."""
    if call.kind is not CallKind.FOREIGN:
        return asked
    return asked or call.awaited or _goes_out(call)


def _is_sure(call: CallSpot) -> bool:
    return call.awaited or _goes_out(call)


def _goes_out(call: CallSpot) -> bool:
    return top_of(call.origin) in _CLIENTS and is_blocking(call.origin)


_CLIENTS = frozenset({"requests", "urllib3", *OUTSIDE} - {"dbm", "socket", "sqlite3", "ssl"})
