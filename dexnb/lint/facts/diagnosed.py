"""Where the diagnostics of a Flow's graph stand, and which of its nodes they speak of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dexnb.graph.frames import Frame, file_of, reachable
from dexnb.graph.read import frame_of, methods_of
from dexnb.lint.facts.step import FlowSubject
from dexnb.model.flow_graph import Diagnostic, Node

_SCHEMA = "get_persistence_schema"


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosed:
    """A diagnostic.

    Args:
        diagnostic: It.
        node_id: The graph's node that it speaks of; empty where that is the Flow.
        node: Where it stands; None where no source tells.
        frame: The function that this is of.
    """

    diagnostic: Diagnostic
    node_id: str
    node: ast.AST | None
    frame: Frame | None


def diagnosed(flow: FlowSubject, *codes: str) -> Iterator[Diagnosed]:
    """Give the diagnostics of some codes, each with its place."""
    for each in flow.graph.diagnostics:
        if each.code in codes:
            node_id = _node_of(flow, each)
            place = _of_resource(flow, node_id) or _of_owner(flow, node_id, each)
            yield Diagnosed(each, node_id, *(place or (None, None)))


def _node_of(flow: FlowSubject, diagnostic: Diagnostic) -> str:
    """Give the node that a diagnostic names: at its beginning, or a Step at its end."""
    text = diagnostic.message
    named = [each for each in flow.graph.nodes if _begins_with(text, each)]
    if not named:
        named = [each for each in flow.graph.nodes if text.endswith(f" to Step {_type(each)}")]
    return max(named, key=lambda each: len(each.name)).id if named else ""


def _begins_with(text: str, node: Node) -> bool:
    if node.kind in ("attribute", "channel", "stream"):
        kind = node.kind.capitalize()
        return text.startswith((f"{kind} {node.name} ", f"{kind}Map {node.name} "))
    name = _type(node)
    return bool(name) and text.startswith((f"{name} line ", f"{name}: ", f"{name}."))


def _type(node: Node) -> str:
    """Give the name by which diagnostics call a Step or an RPC; an empty text for another node."""
    if node.kind not in ("step", "timeout_handler", "rpc"):
        return ""
    return node.id.partition(":")[2]


def _of_resource(flow: FlowSubject, node_id: str) -> tuple[ast.AST, Frame] | None:
    """Find what the schema lists: where it is named there."""
    frame = frame_of(flow.flow.flow, _SCHEMA)
    if frame is None or not node_id.startswith("resource:"):
        return None
    kept = flow.flow.persistence
    name = node_id.split(":", 2)[-1]
    wanted = {**kept.attributes, **kept.channels, **kept.streams}.get(name)
    for each in reachable(frame):
        for node in ast.walk(each.tree):
            if not isinstance(node, ast.Name | ast.Attribute) or wanted is None:
                continue
            if each.scope.look(node) is wanted:
                return node, each
    return frame.tree, frame


def _of_owner(
    flow: FlowSubject, node_id: str, diagnostic: Diagnostic
) -> tuple[ast.AST, Frame] | None:
    """Find the line in the methods of a Step or an RPC, or else the method itself."""
    frames = list(_frames(flow, node_id))
    for outer in frames if diagnostic.line else ():
        for each in reachable(outer):
            if file_of(each) == diagnostic.path and (node := _at(each, diagnostic.line)):
                return node, each
    return (frames[0].tree, frames[0]) if frames else None


def _frames(flow: FlowSubject, node_id: str) -> Iterator[Frame]:
    kind, _, name = node_id.partition(":")
    if kind == "step" and name in flow.flow.steps:
        methods = methods_of(flow.flow.steps[name])
        yield from (each for each in (methods.execute, methods.wait_for, methods.options) if each)
    elif kind == "rpc" and name in flow.flow.rpcs:
        frame = frame_of(flow.flow.flow, flow.flow.rpcs[name].method)
        if frame is not None:
            yield frame


def _at(frame: Frame, line: int) -> ast.AST | None:
    """Give the first statement or expression of a function that begins on a line."""
    found = [
        node
        for statement in frame.tree.body
        for node in ast.walk(statement)
        if isinstance(node, ast.stmt | ast.expr) and node.lineno == line
    ]
    if found:
        return min(found, key=lambda node: node.col_offset)
    return frame.tree if frame.tree.lineno == line else None
