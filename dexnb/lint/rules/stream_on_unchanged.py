"""DX303 stream-on-unchanged."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.lint.facts.leaving import leaves
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.sources import carried, names_in
from dexnb.lint.facts.spots import Around, CallKind, CallSpot
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule

_HINT = "write when the state has changed, and beat otherwise"


@rule("DX303", "stream-on-unchanged", "warning")
def stream_on_unchanged(step: StepSubject) -> Iterator[Remark]:
    """A poll writes to a Stream in every round, changed or not.

    What:
        A Stream message is written in a round that goes on, and no test on the way to it looks at
        what was written before.

    Why:
        All runs of the Flow share the Stream's byte budget: the same state again and again pushes
        out the messages that say something, and a reader sees a thousand lines for one change.

    Instead:
        Compare with what was reported last::

            if job.state is not reported:
                PROGRESS.write(context, job)
                reported = job.state
            else:
                await context.heartbeat(reported)
    """
    for method, poll in step.polls:
        for call in method.calls(CallKind.WRITE):
            if not poll.loop.holds(call) or _is_last(call, poll):
                continue
            guards = [each for each in call.within(poll.loop.loop) if each.kind == "guard"]
            exits = {(each.node, each.passed) for each in poll.tests}
            own = [each for each in guards if (each.node, each.passed) not in exits]
            own = [each for each in own if not _is_way_on(each, poll)]
            if any(_compares(each, poll) for each in own):
                continue
            told = not own and poll.is_poll == "yes"
            yield Remark(
                call.node,
                call.frame,
                "this message is written in every round, whether the state has changed or not"
                if told
                else "it cannot be told whether this message is written on a change alone",
                _HINT,
                verdict="found" if told else "cannot tell",
            )


def _is_last(call: CallSpot, poll: Poll) -> bool:
    """Tell a message after which the loop is left."""
    block = _block_of(call.node, poll.node)
    return bool(block) and leaves(block) and not isinstance(block[-1], ast.Continue)


def _block_of(node: ast.AST, loop: ast.AST) -> list[ast.stmt]:
    """Give the innermost block of a loop's that holds a node."""
    found: list[ast.stmt] = []
    for each in ast.walk(loop):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(each, name, None)
            if isinstance(block, list) and any(node in ast.walk(part) for part in block):
                found = block
    return found


def _is_way_on(guard: Around, poll: Poll) -> bool:
    """Tell the failed test of a way out, which holds in every round that goes on."""
    return any(guard.node is test.node for test in poll.tests)


def _compares(guard: Around, poll: Poll) -> bool:
    """Tell a test that looks at what an earlier round has left."""
    frame = guard.frame
    if frame is not poll.frame:
        # In a helper what is handed over, or kept in the Step, may be what was written before.
        names = set(names_in(guard.node))
        given = {text for name in names for text in _given(name, guard)}
        return bool(given & carried(poll.node, poll.frame)) or any(
            name.startswith("self.") for name in names
        )
    return bool(set(names_in(guard.node)) & carried(poll.node, poll.frame))


def _given(name: str, guard: Around) -> list[str]:
    if name not in guard.frame.arguments:
        return []
    return list(names_in(guard.frame.arguments[name][0]))
