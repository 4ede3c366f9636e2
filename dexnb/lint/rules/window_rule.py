"""DX201 window-rule."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.limits import Limits
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.silences import silences_of
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.facts.window import (
    Pause,
    beats_aside,
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
        the margin of 10 s; equality is fine. Where a round pauses or calls several times between
        two signs of life, that is added up. Durations are followed through constants of other
        cells and modules, arithmetic and helpers; an unset heartbeat_timeout is 60 s. Where the
        interval or the call timeout is not known, it cannot be told. The margin is a setting.

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
        if not beats_aside(method):
            limits = Limits(method.frames)
            pauses = list(pauses_of(poll, method, limits))
            if pauses:
                said = list(_judge(step, poll, pauses, limits))
                yield from said
                if not said and not any(pause.grows for pause in pauses):
                    yield from _judge_sums(step, method, poll, limits)


def _judge(step: StepSubject, poll: Poll, pauses: list[Pause], limits: Limits) -> Iterator[Remark]:
    call = call_timeout(poll, limits)
    known = [pause for pause in pauses if pause.seconds is not None]
    longest = max(known, key=lambda pause: pause.seconds or 0.0, default=None)
    if longest is not None:
        rule = window(step, longest.seconds or 0.0, call)
        if not rule.holds:
            yield _broken(step, poll, longest, rule)
            return
    for pause in pauses:
        if pause.seconds is None and not pause.grows:
            message = "it cannot be told how long this interval is"
            yield _untold(pause, f"{message}: {_rest(step, call)}")
            return
    if call is None and longest is not None:
        message = "no call timeout is known that this interval could be judged with"
        yield _untold(longest, f"{message}: {_rest(step, None)}")
    elif longest is not None and hides_heartbeat(step):
        yield _untold(longest, "the source hides the heartbeat_timeout that this interval is under")


def _judge_sums(
    step: StepSubject, method: MethodFacts, poll: Poll, limits: Limits
) -> Iterator[Remark]:
    """Judge several pauses or calls between two signs of life, none of which is too long alone."""
    for silence in silences_of(poll, method.spots.calls, limits):
        rule = window(step, silence.interval, silence.calls)
        spot = silence.pauses[-1] if silence.pauses else poll.pauses[0]
        if not rule.holds:
            yield _broken(step, poll, Pause(spot, silence.interval, grows=False), rule)
            return
        if silence.untold is not None:
            message = "it cannot be told how often a round does this between two signs of life"
            yield _untold(
                Pause(silence.untold, None, grows=False), f"{message}: {_rest(step, silence.calls)}"
            )
            return


def _broken(step: StepSubject, poll: Poll, pause: Pause, rule: Window) -> Remark:
    told = poll.is_poll == "yes" and not hides_heartbeat(step)
    if rule.longest_interval > GRAIN:
        hint = f"sleep at most {exact_seconds(rule.longest_interval)}, or give the Step a longer "
        hint += f"heartbeat_timeout: at least {exact_seconds(rule.smallest_heartbeat_timeout)}"
    else:
        hint = "give the Step a heartbeat_timeout of at least "
        hint += exact_seconds(rule.smallest_heartbeat_timeout)
    return Remark(
        pause.spot.node,
        pause.spot.frame,
        f"in {step.step.step_type} {rule.problem}",
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
