"""What a Step's wait_for waits for, as far as its source tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dexnb.flow.channel import Channel
from dexnb.flow.channel_map import ChannelMap
from dexnb.flow.flow import Flow
from dexnb.flow.subflow import SubFlow
from dexnb.flow.timer import Timer
from dexnb.graph.amounts import Amounts
from dexnb.graph.frames import Frame
from dexnb.graph.movements import argument
from dexnb.graph.scope import UNKNOWN
from dexnb.model.budget import seconds_text

HIDDEN = "waits"
"""Stands where a wait_for says nothing that can be read."""

MOST = 12


def read_waits(frame: Frame | None) -> tuple[str, ...]:
    """Give each condition that a wait_for and its helpers make, once, in the order of the source.

    Args:
        frame: The wait_for; None where its source is not there.
    """
    if frame is None:
        return (HIDDEN,)
    return tuple(dict.fromkeys(islice(_conditions(frame), MOST))) or (HIDDEN,)


def _conditions(frame: Frame) -> Iterator[str]:
    for call in sorted(frame.calls(), key=lambda call: (call.lineno, call.col_offset)):
        texts = list(_condition(call, frame))
        yield from texts
        helper = None if texts else frame.follow(call)
        if helper is not None:
            yield from _conditions(helper)


def _condition(call: ast.Call, frame: Frame) -> Iterator[str]:
    callee = frame.scope.look(call.func)
    if callee is Timer.by_duration:
        yield _timer(call, frame)
    elif callee is SubFlow.run:
        yield _subflow(call, frame)
    elif isinstance(call.func, ast.Attribute):
        channel = frame.scope.look(call.func.value)
        if isinstance(channel, Channel | ChannelMap):
            yield from _channel(channel, call.func.attr, call, frame)


def _timer(call: ast.Call, frame: Frame) -> str:
    duration = argument(call, 0, "duration")
    value = None if duration is None else Amounts().of(duration, frame).value
    return "timer" if value is None else f"timer {seconds_text(value)}"


def _subflow(call: ast.Call, frame: Frame) -> str:
    flow: Any = argument(call, 0, "flow")
    made = frame.scope.look(flow.func if isinstance(flow, ast.Call) else flow) if flow else UNKNOWN
    if isinstance(made, Flow):
        made = type(made)
    return f"SubFlow {made.__name__}" if isinstance(made, type) else "SubFlow"


def _channel(
    channel: Channel[Any] | ChannelMap[Any], method: str, call: ast.Call, frame: Frame
) -> Iterator[str]:
    place = 1 if isinstance(channel, ChannelMap) else 0
    name = f"{channel.name}/…" if place else channel.name

    def number(at: int, keyword: str) -> str:
        given = argument(call, at, keyword)
        value = UNKNOWN if given is None else frame.scope.look(given)
        return str(value) if isinstance(value, int) else "…"

    match method:
        case "for_one":
            yield f"{name} 1"
        case "for_n":
            yield f"{name} {number(place, 'count')}"
        case "at_least" | "at_most":
            yield f"{name} {method.replace('_', ' ')} {number(place, 'count')}"
        case "for_range":
            least, most = number(-1, "at_least"), number(-1, "at_most")
            yield f"{name} {least} to {most}"
        case _:
            pass
