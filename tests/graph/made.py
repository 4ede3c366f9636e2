"""Graphs made by hand: every kind of node and edge, Flows of many Steps, and names from outside."""

from __future__ import annotations

import itertools
import random
from typing import Any

from dexnb.model.flow_graph import Diagnostic, Edge, EdgeKind, FlowGraph, Node
from dexnb.model.settings import StepSettings

SETTINGS = StepSettings().to_json()

HOSTILE = (
    '"><script>alert(1)</script>',
    "</svg><svg onload=alert(1)>",
    "--> end",
    "]]> <!-- x",
    "`${x}` #quot; &lt; #35;",
    "click n0 href javascript:alert(1)",
    "end",
    "graph",
    'a"\n  n9 -> n8; subgraph x',
    "back\\slash\\",
    "%%{init: {'theme':'dark'}}%%",
    "style n0 fill:#f00;",
    "\u202eturned\u202c \u2066isolated\u2069",
    "nul\x00 bell\x07 esc\x1b[2J \ud800 \ufffe",
    "a\u2028b\x85c",
    "\u0627\u0646\u062a\u0638\u0627\u0631",
    "\u5f85\u6a5f\u3059\u308b\u30b9\u30c6\u30c3\u30d7",
    "e\u0301\u200d\U0001f469\u200d\U0001f680",
    "x" * 10_000,
    "",
)
"""Names that mean something to XML, HTML, Mermaid, DOT, terminals, or to nobody."""


def step(name: str, **more: Any) -> Node:
    """Make a Step's node."""
    return Node(f"step:{name}", "step", name, settings=SETTINGS, **more)


def card(owner: str, number: int, kind: str, *targets: str, when: str = "", **more: Any) -> Node:
    """Make the card of a decision; `owner` and targets are ids."""
    decision = {"type": kind, "targets": list(targets), **more}
    name = f"decision:{owner}:{number}"
    where = {"parentId": owner, "line": 10 + number, "column": 8}
    return Node(name, "decision", kind, condition=when, decision=decision, **where)  # type: ignore[arg-type]  # of their own types each


def way(
    source: str, target: str, kind: EdgeKind = "transition", label: str = "", when: str = ""
) -> Edge:
    """Make an edge between two ids."""
    return Edge(f"{kind}:{source}:{target}", kind, source, target, label, when)


def flow(*names: str, ways: list[tuple[str, str]]) -> FlowGraph:
    """Make a graph of Steps; the first is the start."""
    edges = tuple(way(f"step:{source}", f"step:{target}") for source, target in ways)
    nodes = tuple(step(name, start=name == names[0]) for name in names)
    return FlowGraph("Flow", f"step:{names[0]}", "flow.py", nodes, edges)


def large(steps: int = 500, ways: int = 700) -> FlowGraph:
    """Make a Flow of many Steps, some of which lead far ahead or back."""
    names = [f"Step{number:03}" for number in range(steps)]
    pairs = list(itertools.pairwise(names))
    more = ways - len(pairs)
    pairs += [(names[n], names[(n * 7 + 13) % steps]) for n in range(more)]
    return flow(*names, ways=list(dict.fromkeys(pairs)))


def tangle(seed: int, steps: int = 12) -> FlowGraph:
    """Make a Flow whose Steps lead wherever chance has it, with guards on the ways."""
    chance = random.Random(seed)
    names = [f"S{number}" for number in range(steps)]
    edges = {}
    for _ in range(2 * steps):
        source, target = chance.choice(names), chance.choice(names)
        when = chance.choice(["", "input > 3", "job.state is JobState.SUCCEEDED"])
        edges[source, target] = way(f"step:{source}", f"step:{target}", when=when)
    nodes = tuple(step(name, start=name == "S0") for name in names)
    return FlowGraph("Tangle", "step:S0", "tangle.py", nodes, tuple(edges.values()))


AWAIT = "step:AwaitPayment"
SHIP = "step:ShipParcel"
REFUND = "step:RefundCustomer"
NOTIFY = "step:NotifyCustomer"
RESERVE = "step:ReserveStock"
PARCEL = "subflow:ParcelFlow"
LOST = "unknown:step:ShipParcel?"
TIMEOUT = "step:sys:timeout_handler"
CANCEL = "rpc:cancel_order"
ASK = "rpc:get_status"
PAID = "paid >= order.total"


def _waits() -> list[Node]:
    def wait(owner: str, number: int, kind: str, *conditions: dict[str, Any], when: str) -> Node:
        return Node(
            f"wait:{owner}:{number}",
            "wait",
            kind,
            parentId=owner,
            condition=when,
            wait={"type": kind, "conditions": list(conditions)},
            line=20 + number,
        )

    timer = {"kind": "timer", "label": "timer 15 min"}
    paid = {
        "kind": "channel",
        "label": "payments at least 1",
        "resourceId": "resource:channel:payments",
    }
    parcel = {"kind": "subflow", "label": "SubFlow ParcelFlow", "subFlowId": PARCEL}
    return [
        Node(f"wait-dispatch:{AWAIT}", "wait_dispatch", "?", parentId=AWAIT),
        wait(AWAIT, 1, "anyOf", timer, paid, when="not input.prepaid"),
        wait(AWAIT, 2, "skipWaitImmediately", when="otherwise"),
        wait(SHIP, 1, "until", parcel, when=""),
    ]


def _cards() -> list[Node]:
    payments = ["resource:channel:payments"]
    siblings = [{"stepId": NOTIFY, "scope": "siblings"}]
    everyone = [{"stepId": AWAIT, "scope": "all"}]
    fired = "context.has_timer_fired()"
    done = "parcel.delivered"
    return [
        card(RESERVE, 1, "goTo", AWAIT),
        Node(f"decision-dispatch:{AWAIT}", "decision_dispatch", "?", parentId=AWAIT),
        card(AWAIT, 1, "goToMany", SHIP, NOTIFY, when=PAID),
        card(AWAIT, 2, "goTo", AWAIT, when=fired),
        card(AWAIT, 3, "forceFail", when="otherwise"),
        Node(f"decision-dispatch:{SHIP}", "decision_dispatch", "?", parentId=SHIP),
        card(SHIP, 1, "forceCompleteIfChannelsEmpty", AWAIT, when=done, checkedChannels=payments),
        card(SHIP, 2, "goTo", LOST, when="otherwise", cancellations=siblings),
        card(NOTIFY, 1, "deadEnd"),
        card(REFUND, 1, "gracefulComplete"),
        card(TIMEOUT, 1, "goTo", REFUND),
        card(CANCEL, 1, "rpcResult", REFUND, cancellations=everyone),
        card(ASK, 1, "rpcResult"),
    ]


def _resources() -> list[Node]:
    def resource(kind: Any, name: str, value: str, *, many: bool = False) -> Node:
        what = {"valueType": value, "map": many}
        return Node(f"resource:{kind}:{name}", kind, name, resource=what)

    return [
        resource("attribute", "status", "str"),
        resource("attribute", "lines", "Line", many=True),
        resource("channel", "payments", "Payment"),
        resource("stream", "Progress", "str"),
        Node("resource:stream:Nowhere", "unknown", "Nowhere"),
    ]


def _edges() -> list[Edge]:
    return [
        way(RESERVE, AWAIT),
        way(AWAIT, SHIP, when=PAID),
        way(AWAIT, NOTIFY, when=PAID),
        way(AWAIT, AWAIT, when="context.has_timer_fired()"),
        way(AWAIT, REFUND, "failure_transition", "Execute failure"),
        way(SHIP, AWAIT, when="parcel.delivered"),
        way(SHIP, LOST, when="otherwise"),
        way(SHIP, PARCEL, "subflow"),
        way(TIMEOUT, REFUND),
        way(CANCEL, REFUND),
        way(RESERVE, "resource:attribute:status", "resource_write"),
        way(RESERVE, "resource:attribute:lines", "resource_lock"),
        way(AWAIT, "resource:channel:payments", "wait_condition"),
        way(AWAIT, "resource:stream:Progress", "resource_write"),
        way(AWAIT, "resource:stream:Nowhere", "resource_write"),
        way(ASK, "resource:attribute:status", "resource_read"),
        way(CANCEL, "resource:channel:payments", "resource_publish"),
    ]


def shop() -> FlowGraph:
    """Make a Flow with every kind of node and edge that a graph may have."""
    nodes = [
        step("ReserveStock", start=True, line=3),
        step("AwaitPayment", line=14),
        step("ShipParcel", line=40),
        step("NotifyCustomer", line=60),
        step("RefundCustomer", line=70),
        Node(TIMEOUT, "timeout_handler", "handle_timeout", settings=SETTINGS, line=90),
        *_waits(),
        *_cards(),
        Node(CANCEL, "rpc", "cancel_order", line=100),
        Node(ASK, "rpc", "get_status", line=110),
        Node(PARCEL, "subflow", "ParcelFlow", line=44),
        Node(LOST, "unknown", "Unknown", line=48),
        *_resources(),
    ]
    message = "ShipParcel line 48: goTo leads to a value that only running the code can tell"
    found = Diagnostic("dynamic_step_target", "warning", message, 48, "orders.py")
    return FlowGraph("OrderFlow", RESERVE, "orders.py", tuple(nodes), tuple(_edges()), (found,))


def named(name: str, when: str = "") -> FlowGraph:
    """Make a Flow with this name, or these guards, wherever a graph may have text."""
    one, other = f"step:{name}", f"unknown:step:{name}?"
    stream = Node(f"resource:stream:{name}", "stream", name, resource={"valueType": name})
    nodes = (
        step(name, start=True, waits=(name,), path=name, line=1),
        Node(other, "unknown", name, line=2),
        Node(f"rpc:{name}", "rpc", name),
        Node(f"subflow:{name}", "subflow", name),
        card(one, 1, name, other, name, when=when or name),
        card(one, 2, "goTo", one, when=when or name),
        Node(f"decision-dispatch:{one}", "decision_dispatch", "?", parentId=one),
        stream,
    )
    edges = (
        way(one, other, label=name, when=when or name),
        way(one, one, when=when or name),
        way(one, stream.id, "resource_write"),
        way(f"rpc:{name}", one),
        way(one, f"subflow:{name}", "subflow", when=when or name),
    )
    found = Diagnostic("hidden_dex_decision", "warning", name, 1, name)
    return FlowGraph(name, one, name, nodes, edges, (found,))
