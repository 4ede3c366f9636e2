"""DX205 heartbeat-under-minimum."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.graph.frames import Frame
from dexnb.lint.facts.limits import Limits
from dexnb.lint.facts.options import options_in, place_of_options
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule
from dexnb.model.budget import seconds_text

_OPTION = "heartbeat_timeout"


@rule("DX205", "heartbeat-under-minimum", "error")
def heartbeat_under_minimum(step: StepSubject) -> Iterator[Remark]:
    """A heartbeat_timeout is shorter than the runtime takes.

    What:
        A Step's options, or options that a decision gives a Step, set a heartbeat_timeout below
        the minimum. That is 10 s unless the linter is told otherwise.

    Why:
        The runtime refuses the Flow, and so does Dex. A shorter one would fail attempts that are
        only slow: recording a beat takes its time, too.

    Instead:
        Give at least 10 s, or let a runtime for demonstrations allow less::

            Runtime(provider, options=RuntimeOptions(minimum_heartbeat_timeout=...))
    """
    least = step.settings.minimum_heartbeat
    own = step.step.settings.heartbeat_timeout
    place = place_of_options(step, _OPTION)
    if own < least and place is not None:
        yield _remark(place, own, least)
    for method in step.methods:
        limits = Limits(method.frames)
        for option in options_in((spot.call, spot.frame) for spot in method.spots.calls):
            seconds = limits.seconds(option.value, option.frame) if option.name == _OPTION else None
            if seconds and 0 < seconds < least:
                yield _remark((option.value, option.frame), seconds, least)


def _remark(place: tuple[ast.AST, Frame], seconds: float, least: float) -> Remark:
    return Remark(
        *place,
        f"heartbeat_timeout is {seconds_text(seconds)}: the runtime takes no less than "
        f"{seconds_text(least)}",
        f"give at least {seconds_text(least)}, or leave it out for 60 s",
    )
