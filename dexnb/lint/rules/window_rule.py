"""DX201 window-rule."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.beside import beating_loops, pauses_in
from dexnb.lint.facts.limits import Limits
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.polls import Answer, Poll
from dexnb.lint.facts.silence import longest_silence
from dexnb.lint.facts.spots import Around
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.facts.stretches import Span
from dexnb.lint.facts.window import (
    Pause,
    call_timeout,
    hides_heartbeat,
    pauses_of,
    window,
)
from dexnb.lint.rule import Remark, rule
from dexnb.model.budget import GRAIN, Window, exact_seconds


@rule("DX201", "window-rule", "error")
def window_rule(step: StepSubject) -> Iterator[Remark]:
    """A round of a poll is longer than its heartbeat timeout allows.

    What:
        The interval and the call timeout of a poll are together more than heartbeat_timeout less
        the margin of 10 s; equality is fine. Several sleeps or calls between two signs of life add
        up; where an inner loop repeats them nobody knows how often, it cannot be told. Durations
        are followed through constants of other cells and modules, arithmetic and helpers; an unset
        heartbeat_timeout is 60 s. Where the interval or the call timeout is not known, it cannot be
        told. The margin is a setting.

    Why:
        One slow call and the sleep behind it are then taken for a dead Step: the attempt is failed
        and begins again, though nothing is wrong.

    Instead:
        Sleep no longer than the rule leaves, or raise heartbeat_timeout: to interval + call timeout
        + margin at least, where it leaves nothing::

            POLL_INTERVAL = timedelta(seconds=40)  # 60 s - 10 s - 10 s
            CALL_TIMEOUT = timedelta(seconds=10)
    """
    for method, poll in step.polls:
        loops = list(beating_loops(method, poll))
        if loops:
            yield from (each for loop in loops for each in _of_beats(step, method, loop))
        else:
            yield from _of_poll(step, method, poll)


def _of_beats(step: StepSubject, method: MethodFacts, loop: Around) -> Iterator[Remark]:
    """Judge the heartbeats of another task: what it sleeps between them."""
    limits = Limits(method.frames)
    for spot in pauses_in(loop, method):
        rule = window(step, limits.pause(spot) or 0.0, None)
        if not rule.holds:
            yield _broken(step, Pause(spot, rule.interval, grows=False), rule, "yes")


def _of_poll(step: StepSubject, method: MethodFacts, poll: Poll) -> Iterator[Remark]:
    limits = Limits(method.frames)
    pauses = list(pauses_of(poll, method, limits))
    if pauses:
        known = {each.spot.node: each.seconds for each in pauses if each.seconds is not None}
        silence = longest_silence(poll, known, method, limits)
        yield from _judge(step, poll, pauses, limits, silence)


def _judge(
    step: StepSubject, poll: Poll, pauses: list[Pause], limits: Limits, silence: Span
) -> Iterator[Remark]:
    call = call_timeout(poll, limits)
    known = [pause for pause in pauses if pause.seconds is not None]
    longest = max(known, key=lambda pause: pause.seconds or 0.0, default=None)
    if longest is not None:
        rule = window(step, longest.seconds or 0.0, call)
        whole = window(step, silence.pause, silence.call)
        if not rule.holds:
            yield _broken(step, longest, rule, poll.is_poll)
            return
        if not whole.holds:
            yield _broken(step, longest, whole, poll.is_poll, _counted(silence))
            return
    for pause in pauses:
        if pause.seconds is None and not pause.grows:
            message = "it cannot be told how long this interval is"
            yield _untold(pause, f"{message}: {_rest(step, call)}")
            return
    if longest is not None and not silence.told:
        message = "it cannot be told how often an inner loop sleeps or calls between two beats"
        yield _untold(longest, f"{message}: {_rest(step, None)}")
    elif call is None and longest is not None:
        message = "no call timeout is known that this interval could be judged with"
        yield _untold(longest, f"{message}: {_rest(step, None)}")
    elif longest is not None and hides_heartbeat(step):
        yield _untold(longest, "the source hides the heartbeat_timeout that this interval is under")


def _counted(silence: Span) -> str:
    """Say what a silence is made of."""
    pauses, calls = silence.pauses, silence.calls
    made = f"{pauses} pause{'s' * (pauses != 1)} and {calls} call{'s' * (calls != 1)}"
    return f"{made} lie between two signs of life: "


def _broken(
    step: StepSubject, pause: Pause, rule: Window, is_poll: Answer, made_of: str = ""
) -> Remark:
    told = is_poll == "yes" and not hides_heartbeat(step)
    if rule.longest_interval > GRAIN:
        hint = f"sleep at most {exact_seconds(rule.longest_interval)}, or give the Step a longer "
        hint += f"heartbeat_timeout: at least {exact_seconds(rule.smallest_heartbeat_timeout)}"
    else:
        hint = "give the Step a heartbeat_timeout of at least "
        hint += exact_seconds(rule.smallest_heartbeat_timeout)
    return Remark(
        pause.spot.node,
        pause.spot.frame,
        f"in {step.step.step_type} {made_of}{rule.problem}",
        hint,
        verdict="found" if told else "cannot tell",
    )


def _untold(pause: Pause, message: str) -> Remark:
    return Remark(
        pause.spot.node,
        pause.spot.frame,
        message,
        "name the interval and a timeout for the call as constants",
        severity="warning",
        verdict="cannot tell",
    )


def _rest(step: StepSubject, call: float | None) -> str:
    """Say what the rule leaves for an interval."""
    rest = window(step, 0.0, call).longest_interval
    if call is None:
        return f"interval and call may take {exact_seconds(max(rest, 0.0))} together"
    return f"it may be {exact_seconds(max(rest, 0.0))} at most"
