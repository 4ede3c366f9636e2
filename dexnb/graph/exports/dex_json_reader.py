"""JSON 1.0 of Dex's definition graph read back, as far as both know the same things."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from dexnb.errors import DocumentError
from dexnb.graph.exports.dex_ids import Ids, with_ids
from dexnb.graph.exports.dex_json import OWN
from dexnb.model.flow_graph import (
    SCHEMA_VERSION,
    Constant,
    Diagnostic,
    Edge,
    EdgeKind,
    FlowGraph,
    Node,
    NodeKind,
    Timing,
)

_TIMEOUT = "step:sys:timeout_handler"


def from_dex_json(document: Mapping[str, Any]) -> FlowGraph:
    """Read a document that `to_dex_json` or a tool of Dex's has written.

    Ids with lines and columns become dexnb's own. Settings and constants are there only where
    dexnb wrote them; kinds of nodes that it does not know become `unknown`, edges of kinds that it
    does not know are left out.

    Raises:
        DocumentError: It is no definition graph of version 1.0.
    """
    try:
        if document["schemaVersion"] != SCHEMA_VERSION:
            message = f"definition graph schemaVersion is {document['schemaVersion']!r}, not 1.0"
            raise DocumentError(message)
        return _graph(document)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        message = f"definition graph cannot be read: {type(error).__name__} {error}"
        raise DocumentError(message) from error


def _graph(document: Mapping[str, Any]) -> FlowGraph:
    ids = _ids(document["nodes"])
    start = document["flow"].get("startStepId", "")
    names = {ids[each["id"]]: str(each["name"]) for each in document["nodes"]}
    return FlowGraph(
        name=str(document["flow"]["name"]),
        startStepId=ids.get(start, start),
        path=str(document["source"].get("path", "")),
        nodes=tuple(_node(each, ids) for each in document["nodes"]),
        edges=tuple(
            _edge(each, ids, names)
            for each in document["edges"]
            if each["kind"] in get_args(EdgeKind)
        ),
        diagnostics=tuple(_diagnostic(each) for each in document["diagnostics"]),
    )


def _own(document: Mapping[str, Any]) -> Mapping[str, Any]:
    found = (document.get("metadata") or {}).get(OWN) or {}
    if not isinstance(found, Mapping):
        message = f"metadata.{OWN} is a {type(found).__name__}"
        raise TypeError(message)
    return found


def _ids(nodes: list[Mapping[str, Any]]) -> Ids:
    """Give dexnb's id of each node: its own where dexnb wrote it, or made from what it is."""
    found: dict[str, str] = {}
    counts: dict[str, int] = {}
    for each in [
        *(node for node in nodes if not node.get("parentId")),
        *(node for node in nodes if node.get("parentId")),
    ]:
        parent = found.get(each.get("parentId", ""), each.get("parentId", ""))
        found[each["id"]] = str(_own(each).get("id") or _made_id(each, parent, counts))
    return found


def _made_id(node: Mapping[str, Any], parent: str, counts: dict[str, int]) -> str:
    match node["kind"]:
        case "timeout_handler":
            return _TIMEOUT
        case "decision" | "wait" as kind:
            key = f"{kind}:{parent}"
            counts[key] = counts.get(key, 0) + 1
            return f"{key}:{counts[key]}"
        case "decision_dispatch":
            return f"decision-dispatch:{parent}"
        case "wait_dispatch":
            return f"wait-dispatch:{parent}"
        case "subflow":
            return f"subflow:{node['name']}"
        case _:
            return str(node["id"])


def _node(document: Mapping[str, Any], ids: Ids) -> Node:
    own, span = _own(document), document.get("span") or {}
    parent = document.get("parentId", "")
    known: tuple[NodeKind, ...] = get_args(NodeKind)
    return Node(
        id=ids[document["id"]],
        kind=document["kind"] if document["kind"] in known else "unknown",
        name=str(document["name"]),
        parentId=ids.get(parent, parent),
        start=bool(document.get("start", False)),
        condition=str(document.get("condition", "")),
        decision=_decision(document, own, ids),
        wait=None if document.get("wait") is None else with_ids(document["wait"], ids),
        resource=document.get("resource"),
        settings=own.get("settings"),
        given=tuple(own.get("given", ())),
        constants=tuple(
            Constant(**{**each, "feeds": tuple(each["feeds"])}) for each in own.get("constants", ())
        ),
        timings=tuple(
            Timing(**{**each, "parts": tuple((name, by) for name, by in each["parts"])})
            for each in own.get("timings", ())
        ),
        waits=tuple(own.get("waits", ())),
        path=str(own.get("path", "")),
        line=int(span.get("startLine", 0)),
        column=int(span.get("startColumn", 0)),
    )


def _decision(
    document: Mapping[str, Any], own: Mapping[str, Any], ids: Ids
) -> dict[str, Any] | None:
    found = document.get("decision")
    if found is None:
        return None
    return with_ids({**found, **({"targets": own["targets"]} if "targets" in own else {})}, ids)


def _edge(document: Mapping[str, Any], ids: Ids, names: Mapping[str, str]) -> Edge:
    source, target = (ids.get(document[end], document[end]) for end in ("from", "to"))
    ends = ":".join(names.get(end, end) for end in (source, target))
    return Edge(
        id=str(_own(document).get("id") or f"{document['kind']}:{ends}"),
        kind=document["kind"],
        source=str(source),
        target=str(target),
        label=str(document.get("label", "")),
        condition=str(document.get("condition", "")),
    )


def _diagnostic(document: Mapping[str, Any]) -> Diagnostic:
    return Diagnostic(
        code=str(document["code"]),
        severity="error" if document["severity"] == "error" else "warning",
        message=str(document["message"]),
        line=int((document.get("span") or {}).get("startLine", 0)),
        path=str(_own(document).get("path", "")),
    )
