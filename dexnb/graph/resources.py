"""Which Attributes, Channels and Streams a method reads, writes and publishes to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from dexnb.flow.attribute import Attribute, AttributeMap
from dexnb.flow.channel import Channel
from dexnb.flow.channel_map import ChannelMap
from dexnb.flow.stream import Stream
from dexnb.graph.alternatives import Alternatives
from dexnb.graph.frames import Frame, argument, file_of
from dexnb.graph.scope import UNKNOWN
from dexnb.graph.visits import own_nodes
from dexnb.model.flow_graph import EdgeKind

ResourceKind = Literal["attribute", "channel", "stream"]

_READ: EdgeKind = "resource_read"
_WRITE: EdgeKind = "resource_write"
_OF_MAPS: dict[str, EdgeKind] = {"get_map_size": _READ, "get_all_instance_keys": _READ}
_OF_ATTRIBUTES: dict[str, EdgeKind] = {"get": _READ, "set": _WRITE, "delete": _WRITE}
_OF_CHANNELS: dict[str, EdgeKind] = {
    "publish": "resource_publish",
    "delete": _WRITE,
    "size": _READ,
    "pending_messages": _READ,
    "find_pending_message": _READ,
    "results": _READ,
}
_KINDS: dict[type[Any], tuple[ResourceKind, dict[str, EdgeKind]]] = {
    Attribute: ("attribute", _OF_ATTRIBUTES),
    AttributeMap: ("attribute", {**_OF_ATTRIBUTES, **_OF_MAPS}),
    Channel: ("channel", _OF_CHANNELS),
    ChannelMap: ("channel", {**_OF_CHANNELS, **_OF_MAPS}),
    Stream: ("stream", {"write": _WRITE, "buffered_text": _WRITE}),
}
_METHODS = frozenset(name for _, methods in _KINDS.values() for name in methods)


@dataclass(frozen=True, slots=True)
class Resource:
    """What a Flow keeps, by kind and name; `map` tells one of instances."""

    kind: ResourceKind
    name: str
    map: bool = False

    @property
    def id(self) -> str:
        """Its node's id."""
        return f"resource:{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Use:
    """One place where a method uses a resource.

    Args:
        kind: What it does.
        resource: What it does it to; None where only running the code can tell.
        line: Where it stands in its file or cell.
        column: The same.
        path: Its file's name; empty for a cell.
    """

    kind: EdgeKind
    resource: Resource | None
    line: int
    column: int
    path: str


def resource_of(value: Any) -> Resource | None:
    """Give what a live definition is; None for anything else."""
    for class_, (kind, _) in _KINDS.items():
        if isinstance(value, class_):
            return Resource(kind, value.name, isinstance(value, AttributeMap | ChannelMap))
    return None


def channels_of(given: ast.expr, frame: Frame, *, element: bool = False) -> list[Resource | None]:
    """Give the Channels that an expression may stand for; None for one that cannot be told.

    Args:
        given: A Channel, or with `element` a collection of them; a starred one is one.
        frame: The function that it is of.
        element: Whether the Channels are in what the expression gives.
    """
    element = element or isinstance(given, ast.Starred)
    leaves = Alternatives().of(given, frame, element=element)
    return list(dict.fromkeys(resource_of(leaf.value) for leaf in leaves))


def read_uses(visited: list[Frame]) -> list[Use]:
    """Give all uses in a method and its helpers, in the order of their sources.

    Args:
        visited: The method first; what `visits` gives.
    """
    found = dict.fromkeys(use for each in visited for use in _uses(each, visited[0]))
    return sorted(found, key=lambda use: (use.path, use.line, use.column))


def _uses(frame: Frame, method: Frame) -> Iterator[Use]:
    calls: dict[ast.expr, ast.Call] = {}
    for node in own_nodes(frame):
        if isinstance(node, ast.Call):
            calls[node.func] = node
        elif isinstance(node, ast.Attribute) and node.attr in _METHODS:
            handed = _takes_context(calls.get(node), frame, method)
            for leaf in Alternatives().of(node.value, frame):
                kind = _kind_of(leaf.value, node.attr, handed=handed)
                if kind is not None:
                    place = (node.lineno, node.col_offset, file_of(frame))
                    yield Use(kind, resource_of(leaf.value), *place)


def _kind_of(value: Any, method: str, *, handed: bool) -> EdgeKind | None:
    """Tell what a method does to a resource; None where its owner is none."""
    if value is UNKNOWN:
        # Only what takes the context can be a resource's.
        found = (methods[method] for _, methods in _KINDS.values() if method in methods)
        return next(found) if handed else None
    for class_, (_, methods) in _KINDS.items():
        if isinstance(value, class_):
            return methods.get(method)
    return None


def _takes_context(call: ast.Call | None, frame: Frame, method: Frame) -> bool:
    """Tell a call whose first argument is the context that the method itself was given."""
    given = argument(call, 0, "context") if call is not None else None
    while isinstance(given, ast.Name) and given.id in frame.arguments:
        given, frame = frame.arguments[given.id]
    parameters = [*method.tree.args.posonlyargs, *method.tree.args.args][1:2]
    return isinstance(given, ast.Name) and any(each.arg == given.id for each in parameters)
