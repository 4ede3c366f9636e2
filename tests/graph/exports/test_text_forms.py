"""Mermaid, DOT, JSON and networkx: all of the graph is there, and names stay text in each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dexnb import Context, Flow, Step, StepDecision, StepList, go_to, graceful_complete
from dexnb.errors import DocumentError
from dexnb.examples.polling import PollingFlow
from dexnb.graph import read_graph
from dexnb.graph.exports import (
    from_dex_json,
    to_dex_json,
    to_dot,
    to_mermaid,
    to_networkx,
    to_svg,
)
from dexnb.jobs import InProcessJobs
from dexnb.model.flow_graph import FlowGraph, Node
from tests.data import orders
from tests.graph import made

NAMES = st.one_of(
    st.sampled_from(made.HOSTILE),
    st.text(max_size=60),
    st.lists(st.sampled_from(made.HOSTILE), min_size=2, max_size=4).map("".join),
)
SHOP = to_dex_json(made.shop())
GRAPHS: list[Callable[[], FlowGraph]] = [
    made.shop,
    made.large,
    lambda: made.tangle(1),
    lambda: read_graph(PollingFlow(InProcessJobs())),
    lambda: read_graph(orders.ORDER),
]

TEXT = r'"(?!")(?:[^"\\#&<>`;{}%\n]|\#\d+;|<br/>)*"'
MERMAID = re.compile(
    rf"""%%\ note:\ [^\n]+
    |flowchart\ LR
    |\ \ n\d+(?:\[{TEXT}\]|\(\[{TEXT}\]\)|\{{\{{{TEXT}\}}\}}|\[\[{TEXT}\]\]|\[\({TEXT}\)\]
        |\[/{TEXT}/\]|>{TEXT}\])(?::::\w+)?
    |\ \ start\(\("START"\)\)\ -->\ n\d+
    |\ \ n\d+\ (?:-->|-\.->)(?:\|{TEXT}\|)?\ n\d+
    |\ \ classDef\ \w+\ [-\w:\#,\ ]+
    |\ \ linkStyle\ [\d,]+\ stroke:\#\w+""",
    re.VERBOSE,
)
STRING = r'"(?:[^"\\\n]|\\\\|\\"|\\l)*"'
LOOKS = rf"\[\w+=(?:{STRING}|[\w.]+)(?:,\ \w+=(?:{STRING}|[\w.]+))*\]"
DOT = re.compile(rf"digraph\ {STRING}\ \{{|\}}|\ \ \w+(?:\ ->\ n\d+)?(?:\ {LOOKS})?;", re.VERBOSE)


def lines_that_break(pattern: re.Pattern[str], text: str) -> list[str]:
    """Give the lines that are no line of the grammar that we write."""
    return [line for line in text.split("\n")[:-1] if pattern.fullmatch(line) is None]


@settings(max_examples=80)
@given(NAMES, NAMES)
@example("x" * 10_000, "y" * 10_000)
def test_names_from_outside_stay_text_in_every_form(name: str, guard: str) -> None:
    """Each form parses, has as many nodes and ways as for a plain name, and stays small."""
    graph, plain = made.named(name, guard), made.named("Plain", "guard")
    mermaid, dot, svg = to_mermaid(graph), to_dot(graph), to_svg(graph)
    assert lines_that_break(MERMAID, mermaid) == []
    assert lines_that_break(DOT, dot) == []
    assert mermaid.count("\n") == to_mermaid(plain).count("\n")
    assert dot.count("\n") == to_dot(plain).count("\n")
    tags = [each.tag for each in ET.fromstring(svg).iter()]  # noqa: S314 - what we drew ourselves
    assert not {tag.rpartition("}")[2] for tag in tags} - {
        *("svg", "title", "style", "g", "rect", "text", "path", "polygon")
    }
    for text in (mermaid, dot, svg):
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
        assert len(text) < 40_000
    assert from_dex_json(json.loads(json.dumps(to_dex_json(graph)))) == graph
    assert to_networkx(graph).number_of_edges() == len({edge.id for edge in graph.edges})


def test_guards_have_no_credentials_in_any_form() -> None:
    """They come from the reader, which hides them."""

    class Ask(Step[str]):
        """Has a guard that nobody should have written."""

        def execute(self, context: Context, input: str) -> StepDecision:
            """Compare."""
            if input == "ghp_16C7e42F292c6912E7710c838347Ae178B4a":
                return go_to(Ask, input)
            return graceful_complete()

    class Secretive(Flow[str]):
        """Has that Step."""

        def get_steps(self) -> StepList[str]:
            """Start with it."""
            return StepList.start_step(Ask())

    graph = read_graph(Secretive())
    forms = [to_mermaid(graph), to_dot(graph), to_svg(graph), json.dumps(to_dex_json(graph))]
    forms.append(repr(list(to_networkx(graph).edges(data=True))))
    for form in forms:
        assert "hidden" in form
        assert "ghp_" not in form


@pytest.mark.parametrize("make", GRAPHS)
def test_a_graph_comes_back_from_dexs_json(make: Callable[[], FlowGraph]) -> None:
    """All of it, ids and settings included."""
    graph = make()
    assert from_dex_json(json.loads(json.dumps(to_dex_json(graph)))) == graph


def without_own(value: Any) -> Any:
    """Take out what only dexnb writes."""
    if isinstance(value, list):
        return [without_own(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: without_own(each) for name, each in value.items() if name != "dexnb"}
    return {name: each for name, each in kept.items() if (name, each) != ("metadata", {})}


def test_a_document_of_another_tool_is_read_as_far_as_both_know() -> None:
    """Ids become dexnb's own, and the way from node to node is the same."""
    shop = made.shop()
    document = without_own(to_dex_json(shop))
    assert "dexnb" not in json.dumps(document)
    back = from_dex_json(document)
    assert [(n.id, n.kind, n.name, n.parentId) for n in back.nodes] == [
        (n.id, n.kind, n.name, n.parentId) for n in shop.nodes
    ]
    assert [(e.kind, e.source, e.target, e.condition) for e in back.edges] == [
        (e.kind, e.source, e.target, e.condition) for e in shop.edges
    ]
    assert [n.wait for n in back.nodes] == [n.wait for n in shop.nodes]
    assert back.startStepId == shop.startStepId
    assert back.diagnostics[0].line == 48


def test_ids_and_edges_have_the_forms_of_dexs_json() -> None:
    """Lines and columns in ids, numbers on edges, and nothing of ours beside `metadata`."""
    document = to_dex_json(made.shop())
    ids = [node["id"] for node in document["nodes"]]
    for known in (
        "step:AwaitPayment",
        "decision:step:AwaitPayment:12:8",
        "decision-dispatch:step:AwaitPayment",
        "wait:AwaitPayment:21:0:1",
        "wait-dispatch:AwaitPayment",
        "timeout_handler:OrderFlow",
        "subflow:ParcelFlow:44",
        "rpc:cancel_order",
        "resource:channel:payments",
        "unknown:step:ShipParcel?",
    ):
        assert known in ids
    assert len(set(ids)) == len(ids)
    edges = {(edge["kind"], edge["to"]): edge for edge in document["edges"]}
    assert document["edges"][0]["id"] == "edge:0001"
    written = edges["resource_write", "resource:stream:Progress"]["metadata"]
    assert written["role"] == "progress"
    assert edges["failure_transition", "step:RefundCustomer"]["metadata"]["skipWaitFor"] is True
    assert {name for node in document["nodes"] for name in node} <= {
        *("id", "kind", "name", "parentId", "condition", "start", "span", "resource", "wait"),
        *("decision", "metadata"),
    }
    assert set(edges["subflow", "subflow:ParcelFlow:44"]) == {
        *("id", "kind", "from", "to", "label", "condition", "multiplicity", "metadata")
    }
    decisions = [node["decision"] for node in document["nodes"] if "decision" in node]
    assert {name for each in decisions for name in each} == {
        *("type", "checkedChannels", "cancellations")
    }


def test_decisions_on_one_spot_have_ids_of_their_own() -> None:
    """A conditional expression makes two of them at the same line and column."""
    one = made.step("One")
    cards = tuple(
        Node(
            f"decision:step:One:{number}",
            "decision",
            "goTo",
            parentId="step:One",
            decision={"type": "goTo", "targets": []},
            line=5,
            column=4,
        )
        for number in (1, 2)
    )
    graph = FlowGraph("F", nodes=(one, *cards))
    ids = [node["id"] for node in to_dex_json(graph)["nodes"]]
    assert ids[1:] == ["decision:step:One:5:4", "decision:step:One:5:4:2"]
    assert from_dex_json(to_dex_json(graph)) == graph


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"schemaVersion": "2.0"},
        {"schemaVersion": "1.0", "flow": None},
        {**SHOP, "nodes": [{"id": "x"}]},
        {**SHOP, "edges": ["x"]},
        {
            **to_dex_json(made.shop()),
            "nodes": [{"id": "x", "kind": "step", "name": "x", "metadata": {"dexnb": 3}}],
        },
    ],
)
def test_a_document_that_is_none_is_refused_by_name(broken: dict[str, Any]) -> None:
    """With what is missing."""
    with pytest.raises(DocumentError, match="definition graph"):
        from_dex_json(broken)


def test_networkx_answers_questions_about_the_flow() -> None:
    """What is reachable and what goes in circles, by the document's ids and with its attributes."""
    shop = made.shop()
    graph = to_networkx(shop)
    assert graph.graph["start"] == made.RESERVE
    assert nx.has_path(graph, graph.graph["start"], made.PARCEL)
    plain: nx.DiGraph[str] = nx.DiGraph(graph)
    circles = nx.simple_cycles(plain)
    assert {frozenset(each) for each in circles} == {
        frozenset([made.AWAIT]),
        frozenset([made.AWAIT, made.SHIP]),
    }
    assert graph.nodes[made.AWAIT]["settings"]["heartbeat_timeout"] == 60
    (key,) = graph[made.AWAIT][made.REFUND]
    assert key == f"failure_transition:{made.AWAIT}:{made.REFUND}"
    assert graph[made.AWAIT][made.REFUND][key]["label"] == "Execute failure"


def test_an_edge_to_nowhere_makes_an_unknown_node_for_networkx() -> None:
    """Instead of one without attributes."""
    graph = FlowGraph("F", nodes=(made.step("A"),), edges=(made.way("step:A", "step:B"),))
    assert to_networkx(graph).nodes["step:B"] == {"kind": "unknown", "name": "step:B"}


@pytest.mark.parametrize("make", GRAPHS)
def test_text_forms_have_every_way_of_the_graph(make: Callable[[], FlowGraph]) -> None:
    """Ways to the same Step and back included, and all lines are of the grammar."""
    graph = make()
    mermaid, dot = to_mermaid(graph), to_dot(graph)
    assert lines_that_break(MERMAID, mermaid) == []
    assert lines_that_break(DOT, dot) == []
    starts = sum(node.start for node in graph.nodes)
    assert len(re.findall(r"^  \w+(?:\S+)? -", mermaid, re.MULTILINE)) == len(graph.edges) + starts
    assert dot.count(" -> ") == len(graph.edges) + starts


def test_d05_mermaid_says_where_a_page_needs_settings_of_its_own() -> None:
    """Past what it draws as it comes; nothing is cut, and smaller graphs have no such line."""
    large = to_mermaid(made.large(900, 1200))
    first, second = large.split("\n")[:2]
    letters = len(large.split("\n", 2)[2])
    assert first.startswith(f"%% note: {letters} letters are more than the 50000")
    assert second.startswith("%% note: 1199 edges are more than the 500")
    assert "note" not in to_mermaid(made.shop())


def test_mermaid_shows_a_step_with_its_settings_waits_and_decisions() -> None:
    """In lines, with the failure's way in the colour that pictures have for it."""
    text = to_mermaid(made.shop())
    (line,) = [each for each in text.split("\n") if each.startswith('  n1["')]
    assert line == (
        '  n1["AwaitPayment<br/>2 h · ♥ 1 min · ↻ 4 h<br/>waits#58; any_of timer 15 min, payments '
        "at least 1 (not input.prepaid)<br/>waits#58; skip_wait_immediately (otherwise)<br/>"
        "go_to_many ShipParcel, NotifyCustomer (paid #62;= order.total)<br/>go_to AwaitPayment "
        '(context.has_timer_fired())<br/>force_fail (otherwise)"]'
    )
    assert "  linkStyle 5 stroke:#b3176f" in text
    assert '  n1 -->|"Execute failure"| n4' in text
