"""`FlowGraph`: a Flow's shape as a document, with the field names of Dex's definition graph 1.0.

Beyond those it carries what that page lacks: each Step's settings and the constants that feed them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from dexnb.errors import DocumentError

NodeKind = Literal[
    "step",
    "timeout_handler",
    "rpc",
    "wait",
    "wait_dispatch",
    "decision",
    "decision_dispatch",
    "attribute",
    "channel",
    "stream",
    "subflow",
    "unknown",
]
EdgeKind = Literal[
    "transition",
    "failure_transition",
    "wait_condition",
    "resource_read",
    "resource_write",
    "resource_publish",
    "resource_lock",
    "subflow",
]
Severity = Literal["error", "warning"]

SCHEMA_VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something that the reader of a Flow could not make out, or that cannot hold."""

    code: str
    severity: Severity
    message: str
    line: int = 0
    path: str = ""


@dataclass(frozen=True, slots=True)
class Constant:
    """A named constant that a Step reads.

    Args:
        name: Its name in the Step's module, in the function around it, or on the Step (`self.X`
            counts as `X`).
        value: Seconds, a number or text; None where it is nothing that can be shown.
        unit: `s` for durations given as timedelta, `number` for plain numbers.
        feeds: What it decides: `sleep`, `call_timeout`, or an option's name.
    """

    name: str
    value: float | int | str | None
    unit: str
    feeds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """One duration in a Step's code, as an affine function of the constants that it is made of.

    Args:
        feeds: What it decides: `sleep`, `call_timeout`, or an option's name.
        value: Seconds (for counts, the number) with the constants as they are; None where the
            code does not tell.
        parts: Each constant's name, and by how much `value` grows when the constant grows by 1.
        line: First line of the expression in its file or cell.
        end_line: Last line of it.
    """

    feeds: str
    value: float | None
    parts: tuple[tuple[str, float], ...] = ()
    line: int = 0
    end_line: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """A part of the picture.

    Args:
        id: `step:NAME`, `rpc:NAME`, `decision:OWNER:N` (the N-th decision in the source of a Step
            or RPC, by its id), `decision-dispatch:OWNER`, `wait:step:NAME:N`,
            `wait-dispatch:step:NAME`, `resource:KIND:NAME` for Attributes, Channels and Streams,
            `subflow:FLOW`, `unknown:step:NAME` (a Step that is not registered) or
            `unknown:OWNER?` (what that Step or RPC does there cannot be told).
        kind: What it is.
        name: What stands on it.
        parentId: The Step or RPC whose frame holds it.
        start: Whether it is the start Step.
        condition: The guards that lead to it, as text.
        decision: `{"type": ..., "targets": [node ids], "checkedChannels": [node ids],
            "cancellations": [{"stepId": ..., "scope": "all" | "siblings"}]}` for decision cards.
        wait: `{"type": "anyOf" ... | "unknown", "conditions": [{"kind": "timer" | "channel" |
            "subflow" | "unknown", "label": ..., "resourceId": ..., "subFlowId": ...,
            "expression": ...}]}` for wait cards.
        resource: `{"valueType": ..., "map": bool}` for Attributes, Channels and Streams.
        settings: A Step's StepSettings as JSON.
        given: The options that the Step sets itself.
        constants: What feeds its sleeps, its call timeouts and its options.
        timings: Those durations themselves, literals too.
        waits: What its wait_for waits for, as far as the source tells.
        path: Its file's name; empty for a cell, and where it is the graph's own.
        line: In its file or cell, for views; ids with lines appear in exports only.
        column: The same.
    """

    id: str
    kind: NodeKind
    name: str
    parentId: str = ""  # noqa: N815 - the format's name
    start: bool = False
    condition: str = ""
    decision: dict[str, Any] | None = None
    wait: dict[str, Any] | None = None
    resource: dict[str, Any] | None = None
    settings: dict[str, Any] | None = None
    given: tuple[str, ...] = ()
    constants: tuple[Constant, ...] = ()
    timings: tuple[Timing, ...] = ()
    waits: tuple[str, ...] = ()
    path: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from one node to another, by their ids.

    Args:
        id: `KIND:FROM:TO` with the names; between two nodes there is one of a kind.
        kind: What it is.
        source: A Step's or an RPC's node id.
        target: A Step's, a resource's, a SubFlow's or an unknown node's id.
        label: What stands on it.
        condition: The guards of the decisions that take it, as text.
    """

    id: str
    kind: EdgeKind
    source: str
    target: str
    label: str = ""
    condition: str = ""


@dataclass(frozen=True, slots=True)
class FlowGraph:
    """A whole Flow."""

    name: str
    startStepId: str = ""  # noqa: N815 - the format's name
    path: str = ""
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = field(default=())

    @property
    def valid(self) -> bool:
        """Tell whether no diagnostic is an error."""
        return all(diagnostic.severity != "error" for diagnostic in self.diagnostics)

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form."""
        return {
            "schemaVersion": SCHEMA_VERSION,
            "valid": self.valid,
            "source": {"language": "python", "path": self.path},
            "flow": {"name": self.name, "startStepId": self.startStepId},
            "nodes": [_plain(node) for node in self.nodes],
            "edges": [
                {
                    "id": edge.id,
                    "kind": edge.kind,
                    "from": edge.source,
                    "to": edge.target,
                    "label": edge.label,
                    "condition": edge.condition,
                }
                for edge in self.edges
            ],
            "diagnostics": [_plain(diagnostic) for diagnostic in self.diagnostics],
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> FlowGraph:
        """Read the plain JSON form.

        Raises:
            DocumentError: It is no graph of this version.
        """
        try:
            if document["schemaVersion"] != SCHEMA_VERSION:
                message = f"FlowGraph schemaVersion is {document['schemaVersion']!r}, not 1.0"
                raise DocumentError(message)
            return cls(
                name=document["flow"]["name"],
                startStepId=document["flow"]["startStepId"],
                path=document["source"]["path"],
                nodes=tuple(_node_from(node) for node in document["nodes"]),
                edges=tuple(
                    Edge(
                        edge["id"],
                        edge["kind"],
                        edge["from"],
                        edge["to"],
                        edge["label"],
                        edge["condition"],
                    )
                    for edge in document["edges"]
                ),
                diagnostics=tuple(Diagnostic(**item) for item in document["diagnostics"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            message = f"FlowGraph cannot be read: {type(error).__name__} {error}"
            raise DocumentError(message) from error


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


def _node_from(document: dict[str, Any]) -> Node:
    constants = tuple(
        Constant(**{**constant, "feeds": tuple(constant["feeds"])})
        for constant in document["constants"]
    )
    timings = tuple(
        Timing(**{**timing, "parts": tuple((name, by) for name, by in timing["parts"])})
        for timing in document["timings"]
    )
    return Node(
        **{
            **document,
            "given": tuple(document["given"]),
            "constants": constants,
            "timings": timings,
            "waits": tuple(document.get("waits", ())),
        }
    )
