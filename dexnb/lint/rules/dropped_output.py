"""DX313 dropped-output."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.lint.facts.following import follow
from dexnb.lint.facts.kinds import is_context
from dexnb.lint.facts.method import MethodFacts, is_generator
from dexnb.lint.facts.spots import SHOWS, CallKind, CallSpot
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.places import insertion
from dexnb.lint.rule import Remark, rule
from dexnb.model.finding import Edit, Fix

_BEAT = "yield heartbeat(value), with the function of that name"
_YIELD = "yield it, in a generator that returns Generator[StepOutput, None, StepDecision]"


@rule("DX313", "dropped-output", "error")
def dropped_output(step: StepSubject) -> Iterator[Remark]:
    """A heartbeat or a Stream message is made and dropped.

    What:
        `heartbeat(...)` is called and not yielded; in a generator Step that holds for
        `Stream.write(...)` and for a helper that yields them, too. In an async Step the coroutine
        of `context.heartbeat(...)` is not awaited. Under the target `dex`, a plain sync Step drops
        what `Stream.write(...)` gives as well; dexnb sends it at once.

    Why:
        Nothing is sent and nothing raises: the Step looks as if it were silent, until its
        heartbeat timeout fails it.

    Instead:
        Yield the output, or await the beat::

            yield heartbeat(state)
            yield PROGRESS.write(context, job)
            await context.heartbeat(state)
    """
    for method in step.methods:
        for call in method.spots.calls:
            if call.dropped and not call.awaited and call.node is call.call:
                yield from _of_call(call, method, step.settings.target)


def _of_call(call: CallSpot, method: MethodFacts, target: str) -> Iterator[Remark]:
    if call.kind is CallKind.BEAT:
        if not _is_coroutine(call):
            yield _remark(call, "this heartbeat is made and never sent", _YIELD, _yield(call))
        elif not method.is_async:
            yield _remark(call, "a sync Step's context has no heartbeat()", _BEAT, None)
        else:
            message = "this heartbeat is never sent: its coroutine is not awaited"
            yield _remark(call, message, "await it", _await(call))
    elif call.kind is CallKind.WRITE and not method.is_async:
        if method.is_generator or target == "dex":
            fix = _yield(call) if _is_plain_write(call) else None
            yield _remark(call, "this Stream message is made and never sent", _YIELD, fix)
    elif call.kind is CallKind.FOLLOWED and _yields(call, method):
        message = "this helper is a generator: what it yields is never sent"
        yield _remark(call, message, "yield from it", _insert(call, "yield from "))


def _is_coroutine(call: CallSpot) -> bool:
    """Tell `context.heartbeat(...)`, which only an AsyncContext has."""
    function = call.call.func
    return isinstance(function, ast.Attribute) and is_context(function.value, call.frame)


def _remark(call: CallSpot, message: str, hint: str, fix: Fix | None) -> Remark:
    return Remark(call.node, call.frame, message, hint, fix=fix)


def _is_plain_write(call: CallSpot) -> bool:
    """Tell the write of a Stream; that of a buffer gives several outputs."""
    return len(call.call.args) + len(call.call.keywords) > 1


def _yields(call: CallSpot, method: MethodFacts) -> bool:
    helper = follow(call.call, call.frame)
    if helper is None or not is_generator(helper):
        return False
    return any(spot.frame.tree is helper.tree for spot in method.calls(*SHOWS))


def _yield(call: CallSpot) -> Fix | None:
    return _insert(call, "yield ")


def _await(call: CallSpot) -> Fix | None:
    if not isinstance(call.frame.tree, ast.AsyncFunctionDef):
        return None
    return Fix("await it", (Edit(insertion(call.node, call.frame), "await "),))


def _insert(call: CallSpot, text: str) -> Fix | None:
    """Put `yield` before a call, where the function is a generator already."""
    frame = call.frame
    if not is_generator(frame) or isinstance(frame.tree, ast.AsyncFunctionDef):
        return None
    return Fix(f"{text.strip()} it", (Edit(insertion(call.node, frame), text),))
