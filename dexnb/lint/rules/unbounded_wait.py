"""DX203 unbounded-wait."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.flow.channel import Channel
from dexnb.flow.channel_map import ChannelMap
from dexnb.flow.timeout_step import handles_timeout
from dexnb.lint.facts.goes import decides_by_asking, pauses_of, tests_of, timers_of
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule
from dexnb.lint.rules.timer_self_loop import ways_back

_BOUNDS = ("execute_method_timeout", "total_duration")
_CONDITIONS = frozenset({"for_one", "for_n", "at_least", "at_most", "for_range"})


@rule("DX203", "unbounded-wait", "warning")
def unbounded_wait(step: StepSubject) -> Iterator[Remark]:
    """A wait says nowhere how long it may last.

    What:
        A polling Step sets neither execute_method_timeout nor total_duration; a Step that goes to
        itself until somebody answers counts nothing; a `wait_for` waits for a Channel alone, in a
        Flow that does not handle its timeout (a note).

    Why:
        With the defaults a job that never ends is polled for 4 h and more, and a Step that goes to
        itself has no limit at all: nobody learns that the wait has become pointless.

    Instead:
        Say how long the wait may last, and where it leads then::

            return StepOptions(
                execute_method_timeout=MAX_WAIT,
                execute_retry=RetryPolicy(total_duration=MAX_WAIT),
            ).on_execute_failure_proceed_to(GiveUp)
    """
    yield from _polls(step)
    if not handles_timeout(step.of.flow.flow):
        yield from _self_loops(step)
        yield from _channels(step)


def _polls(step: StepSubject) -> Iterator[Remark]:
    node = step.node
    if node is None or any(name in node.given for name in _BOUNDS):
        return
    for _, poll in step.polls:
        yield Remark(
            poll.node,
            poll.frame,
            f"{step.step.step_type} polls without a bound of its own: neither "
            "execute_method_timeout nor total_duration is set",
            "set both to the longest wait that makes sense",
            verdict="found" if poll.is_poll == "yes" else "cannot tell",
        )


def _self_loops(step: StepSubject) -> Iterator[Remark]:
    if not (timers_of(step) or pauses_of(step)):
        return
    for source, going in ways_back(step):
        method = source.execute
        if method is None or not decides_by_asking(method):
            continue
        if all(method.from_foreign(test.node, test.frame) for test in tests_of(method)):
            yield Remark(
                going.spot.node,
                going.spot.frame,
                f"{step.step.step_type} goes to itself for as long as the answer stays the same: "
                "nothing bounds the wait",
                "poll inside one Step and set execute_method_timeout and total_duration",
            )


def _channels(step: StepSubject) -> Iterator[Remark]:
    method = step.wait_for
    if method is None or timers_of(step):
        return
    for spot in method.spots.calls:
        function = spot.call.func
        base = spot.frame.scope.look(getattr(function, "value", function))
        if isinstance(base, Channel | ChannelMap) and getattr(function, "attr", "") in _CONDITIONS:
            yield Remark(
                spot.node,
                spot.frame,
                f"{step.step.step_type} waits for Channel {base.name} for ever",
                "add a Timer with Wait.any_of(...), or handle the Flow's timeout",
                severity="note",
            )
