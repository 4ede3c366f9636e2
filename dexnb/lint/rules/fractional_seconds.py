"""DX206 fractional-seconds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from dexnb.graph.frames import Frame, argument
from dexnb.lint.facts.goes import timers_of
from dexnb.lint.facts.limits import Limits
from dexnb.lint.facts.options import options_in, place_in_policy, place_of_options
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule
from dexnb.model.budget import GRAIN

_RETRY = ("initial_interval", "maximum_interval", "total_duration")
_METHODS = {
    "execute_method_timeout": ("retry", "execute_retry"),
    "heartbeat_timeout": ("", ""),
    "wait_for_method_timeout": ("wait_for_retry", "wait_for_retry"),
}


@rule("DX206", "fractional-seconds", "note")
def fractional_seconds(step: StepSubject) -> Iterator[Remark]:
    """A duration is no whole number of seconds, which Dex refuses.

    What:
        Under the target `dex`: an option of a Step, a retry policy or a Timer has a duration with
        a fraction of a second. Sleeps and call timeouts inside a Step may have one.

    Why:
        dexnb takes such durations, so that a demonstration may be quick. Dex refuses them when the
        Step is mapped: "duration must be whole seconds".

    Instead:
        Give whole seconds::

            StepOptions(heartbeat_timeout=timedelta(seconds=60))
    """
    if step.settings.target != "dex":
        return
    for name, policy, seconds in _settings(step):
        if _is_fractional(seconds):
            place = place_in_policy(step, policy, name) if policy else place_of_options(step, name)
            if place is not None:
                yield _remark(*place, name, seconds)
    for method in step.methods:
        limits = Limits(method.frames)
        for option in options_in((spot.call, spot.frame) for spot in method.spots.calls):
            if option.name in (*_RETRY, *_METHODS):
                yield from _judge(option.name, option.value, option.frame, limits)
    yield from _timers(step)


def _timers(step: StepSubject) -> Iterator[Remark]:
    method = step.wait_for
    for spot in timers_of(step) if method is not None else ():
        duration = argument(spot.call, 0, "duration")
        if duration is not None and method is not None:
            yield from _judge("this Timer", duration, spot.frame, Limits(method.frames))


def _settings(step: StepSubject) -> Iterator[tuple[str, str, float]]:
    """Give the durations of a Step's own options, each with the policy that it is of."""
    settings: Any = step.step.settings
    for name, (policy, option) in _METHODS.items():
        yield name, "", getattr(settings, name)
        for each in _RETRY if policy else ():
            yield each, option, getattr(getattr(settings, policy), each)


def _judge(name: str, value: ast.expr, frame: Frame, limits: Limits) -> Iterator[Remark]:
    seconds = limits.seconds(value, frame)
    if seconds is None:
        message = f"it cannot be told whether {name} is whole seconds"
        yield Remark(value, frame, message, "name a constant", verdict="cannot tell")
    elif _is_fractional(seconds):
        yield _remark(value, frame, name, seconds)


def _is_fractional(seconds: float) -> bool:
    return abs(seconds - round(seconds)) > GRAIN


def _remark(node: ast.AST, frame: Frame, name: str, seconds: float) -> Remark:
    message = f"{name} is {seconds:g} s: Dex takes whole seconds"
    return Remark(node, frame, message, "give whole seconds")
