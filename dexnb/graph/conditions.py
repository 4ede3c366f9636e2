"""What stands among the conditions of a wait: timers, Channels, SubFlows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from dexnb.flow.channel import Channel
from dexnb.flow.channel_map import ChannelMap
from dexnb.flow.condition import ChannelCondition, Condition
from dexnb.flow.flow import Flow
from dexnb.flow.physical import definition_of
from dexnb.flow.subflow import SubFlow, SubFlowCondition
from dexnb.flow.timer import Timer, TimerCondition
from dexnb.flow.wait import ConditionCombination
from dexnb.graph.alternatives import Alternatives, Leaf
from dexnb.graph.amounts import Amounts
from dexnb.graph.frames import Frame, argument
from dexnb.graph.gathered import gathered
from dexnb.graph.guards import Guards, condition_text
from dexnb.graph.redact import code_text
from dexnb.graph.resources import Resource, resource_of
from dexnb.graph.scope import UNKNOWN
from dexnb.model.budget import seconds_text

_OF_CHANNELS = ("for_one", "for_n", "at_least", "at_most", "for_range")


@dataclass(frozen=True, slots=True)
class Awaited:
    """One condition of a wait.

    Args:
        kind: What it is.
        label: What stands on its row.
        expression: The code that makes it.
        resource: The Channel; None where only running the code can tell.
        flow: The type of the SubFlow's Flow; empty where only running the code can tell.
        guards: What leads to it, as text.
    """

    kind: Literal["timer", "channel", "subflow", "unknown"]
    label: str
    expression: str
    resource: Resource | None = None
    flow: str = ""
    guards: str = ""


def awaited(
    given: ast.expr, frame: Frame, guards: Guards = (), *, element: bool = False
) -> Iterator[Awaited]:
    """Give the conditions that an expression may stand for, those of combinations one by one.

    Args:
        given: A condition, or with `element` a collection of them; a starred one is one.
        frame: The function that it is of.
        guards: What leads there.
        element: Whether the conditions are in what the expression gives.
    """
    element = element or isinstance(given, ast.Starred)
    for leaf in Alternatives().of(given, frame, guards, element=element):
        yield from _of_leaf(leaf)


def _of_leaf(leaf: Leaf) -> Iterator[Awaited]:
    where, frame, guards = leaf.expression, leaf.frame, condition_text(leaf.guards)
    if isinstance(leaf.value, ConditionCombination):
        yield from (of_object(each, where, guards) for each in leaf.value.conditions)
    elif isinstance(leaf.value, Condition):
        yield of_object(leaf.value, where, guards)
    elif isinstance(where, ast.Call):
        yield from _of_call(where, leaf)
    elif isinstance(where, ast.Name) and (put := gathered(where.id, frame)):
        for each in put:
            yield from awaited(each.expression, frame, leaf.guards, element=each.element)
    elif not isinstance(where, ast.List | ast.Tuple):
        yield _hidden(leaf)


def _of_call(call: ast.Call, leaf: Leaf) -> Iterator[Awaited]:
    frame, guards = leaf.frame, condition_text(leaf.guards)
    callee = frame.scope.look(call.func)
    made = getattr(callee, "__func__", callee)
    code = code_text(call)
    if made is ConditionCombination.of.__func__:  # type: ignore[attr-defined]
        for each in call.args:
            yield from awaited(each, frame, leaf.guards)
    elif callee is ConditionCombination and (given := argument(call, 0, "conditions")) is not None:
        yield from awaited(given, frame, leaf.guards, element=True)
    elif callee is Timer.by_duration or callee is TimerCondition:
        yield Awaited("timer", _timer(call, frame), code, guards=guards)
    elif callee is SubFlow.run or callee is SubFlowCondition:
        for name in _flows(call, frame):
            label = f"SubFlow {name}" if name else "SubFlow"
            yield Awaited("subflow", label, code, flow=name, guards=guards)
    elif isinstance(call.func, ast.Attribute) and call.func.attr in _OF_CHANNELS:
        yield from _of_channel(call.func.value, call, leaf)
    else:
        yield from list(_inside(call, leaf)) or [_hidden(leaf)]


def _inside(call: ast.Call, leaf: Leaf) -> Iterator[Awaited]:
    """Give the conditions in a form that is not followed, such as a call of `map`."""
    for given in (*call.args, *(keyword.value for keyword in call.keywords)):
        for node in ast.walk(given):
            if isinstance(node, ast.Call):
                inner = Leaf(node, leaf.frame, leaf.guards)
                yield from (each for each in _of_call(node, inner) if each.kind != "unknown")


def _hidden(leaf: Leaf) -> Awaited:
    code = code_text(leaf.expression)
    return Awaited("unknown", "Unknown", code, guards=condition_text(leaf.guards))


def of_object(condition: Condition, where: ast.expr, guards: str = "") -> Awaited:
    """Describe a condition that is there already."""
    code = code_text(where)
    if isinstance(condition, TimerCondition):
        return Awaited("timer", f"timer {seconds_text(condition.seconds)}", code, guards=guards)
    if isinstance(condition, SubFlowCondition):
        name = flow_type_of(condition.flow)
        return Awaited("subflow", f"SubFlow {name}", code, flow=name, guards=guards)
    if isinstance(condition, ChannelCondition):
        name, is_map = definition_of(condition.channel), "/" in condition.channel
        least, most = condition.at_least, condition.at_most
        label = f"{name}/…" if is_map else name
        text = f"at least {least}" if most is None else _range(least, most)
        channel = Resource("channel", name, is_map)
        return Awaited("channel", f"{label} {text}", code, channel, guards=guards)
    return Awaited("unknown", "Unknown", code, guards=guards)


def _range(least: int, most: int) -> str:
    if least == most:
        return str(least)
    return f"at most {most}" if least == 0 else f"{least} to {most}"


def _timer(call: ast.Call, frame: Frame) -> str:
    duration = argument(call, 0, "duration") or argument(call, 0, "seconds")
    value = None if duration is None else Amounts().of(duration, frame).value
    return "timer" if value is None else f"timer {seconds_text(value)}"


def _flows(call: ast.Call, frame: Frame) -> list[str]:
    """Name the Flows that a SubFlow may be; empty for one that cannot be told."""
    given = argument(call, 0, "flow")
    leaves = [] if given is None else list(Alternatives().of(given, frame))
    return list(dict.fromkeys(_flow_of(leaf) for leaf in leaves)) or [""]


def _flow_of(leaf: Leaf) -> str:
    value: Any = leaf.value
    if value is UNKNOWN and isinstance(leaf.expression, ast.Call):
        value = leaf.frame.scope.look(leaf.expression.func)
    return flow_type_of(value)


def flow_type_of(flow: Any) -> str:
    """Name a Flow, or what an instance of its class is called; empty for anything else."""
    given = flow if isinstance(flow, type) else type(flow)
    if not issubclass(given, Flow):
        return ""
    if given.get_flow_type is Flow.get_flow_type:
        return given.__name__
    instance = object.__new__(given) if isinstance(flow, type) else flow
    try:
        name: object = instance.get_flow_type()
    except Exception:  # noqa: BLE001 - a user's get_flow_type() may raise anything
        return given.__name__
    return name if isinstance(name, str) else given.__name__


def _of_channel(base: ast.expr, call: ast.Call, leaf: Leaf) -> Iterator[Awaited]:
    code, guards = code_text(call), condition_text(leaf.guards)
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    for each in Alternatives().of(base, leaf.frame):
        if isinstance(each.value, Channel | ChannelMap):
            label = _channel(each.value, method, call, leaf.frame)
            resource = resource_of(each.value)
            yield Awaited("channel", label, code, resource, guards=guards)
        elif each.value is UNKNOWN:
            yield Awaited("channel", "Channel", code, guards=guards)
        else:
            yield _hidden(leaf)


def _channel(
    channel: Channel[Any] | ChannelMap[Any], method: str, call: ast.Call, frame: Frame
) -> str:
    place = 1 if isinstance(channel, ChannelMap) else 0
    name = f"{channel.name}/…" if place else channel.name

    def number(at: int, keyword: str) -> str:
        given = argument(call, at, keyword)
        value = UNKNOWN if given is None else frame.scope.look(given)
        return str(value) if isinstance(value, int) else "…"

    match method:
        case "for_one":
            return f"{name} 1"
        case "for_n":
            return f"{name} {number(place, 'count')}"
        case "for_range":
            least, most = number(-1, "at_least"), number(-1, "at_most")
            return f"{name} {least} to {most}"
        case _:
            return f"{name} {method.replace('_', ' ')} {number(place, 'count')}"
