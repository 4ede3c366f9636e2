"""A graph for networkx: to ask for paths, circles, reachability and the like."""

from __future__ import annotations

from dataclasses import asdict

import networkx as nx

from dexnb.model.flow_graph import FlowGraph


def to_networkx(graph: FlowGraph) -> nx.MultiDiGraph[str]:
    """Give a graph with all that the document has: nodes by id, edges by id as their keys.

    The graph's own attributes are `name`, `start` (a node's id), `path`, `valid` and
    `diagnostics`. A node has what the document's nodes have but its id, an edge has `kind`,
    `label` and `condition`. An edge's end that has no node becomes one of kind `unknown`.
    """
    made: nx.MultiDiGraph[str] = nx.MultiDiGraph(
        name=graph.name,
        start=graph.startStepId,
        path=graph.path,
        valid=graph.valid,
        diagnostics=[asdict(each) for each in graph.diagnostics],
    )
    for node in graph.nodes:
        values = asdict(node)
        made.add_node(values.pop("id"), **values)
    for edge in graph.edges:
        for end in (edge.source, edge.target):
            if end not in made:
                made.add_node(end, kind="unknown", name=end)
        made.add_edge(
            edge.source,
            edge.target,
            key=edge.id,
            kind=edge.kind,
            label=edge.label,
            condition=edge.condition,
        )
    return made
