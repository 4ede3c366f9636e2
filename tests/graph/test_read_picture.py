"""Whole graphs, node for node and edge for edge, against pictures that were drawn by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dexnb import Flow
from dexnb.examples.polling import PollingFlow
from dexnb.graph import read_graph
from dexnb.jobs import InProcessJobs
from dexnb.model.flow_graph import Node
from tests.data import orders

PICTURES = json.loads((Path(orders.__file__).parent / "pictures.json").read_text("utf-8"))


def said(node: Node) -> list[Any]:
    """Give what a picture says of a node."""
    if node.decision is not None:
        return [node.decision["type"], node.condition, node.decision["targets"]]
    if node.wait is not None:
        rows = [
            [each["label"], each["resourceId"] or each["subFlowId"]]
            for each in node.wait["conditions"]
        ]
        return [node.wait["type"], node.condition, *rows]
    if node.resource is not None:
        return [node.kind, node.name, node.resource["valueType"], node.resource["map"]]
    return [node.kind, node.name]


@pytest.mark.parametrize(
    "flow", [PollingFlow(InProcessJobs()), orders.ORDER], ids=lambda flow: type(flow).__name__
)
def test_a_graph_is_the_picture_that_was_drawn_by_hand(flow: Flow[Any]) -> None:
    """Nothing more and nothing less, and nothing to complain of."""
    graph = read_graph(flow)
    picture = PICTURES[graph.name]
    assert {node.id: said(node) for node in graph.nodes} == picture["nodes"]
    assert {edge.id: [edge.source, edge.target] for edge in graph.edges} == picture["edges"]
    assert graph.startStepId == picture["start"]
    assert [node.id for node in graph.nodes if node.start] == [picture["start"]]
    assert graph.diagnostics == ()
    for node in graph.nodes:
        if node.kind in ("decision", "decision_dispatch", "wait", "wait_dispatch"):
            assert f":{node.parentId}" in node.id
