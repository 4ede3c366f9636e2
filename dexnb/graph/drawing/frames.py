"""Frames: the boxes of a picture, with all that stands inside each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dexnb.graph.drawing import shapes
from dexnb.graph.drawing.blocks import Block, gap, stack, titled
from dexnb.graph.drawing.cards import choice, decision_card, wait_card
from dexnb.graph.drawing.chips import settings_chips
from dexnb.graph.drawing.measure import text_width
from dexnb.graph.drawing.parts import Parts, used
from dexnb.model.flow_graph import Node

PAD = 12.0
_LEAST = 172.0
_MOST = 310.0
_TITLE = 22.0
_POINT = 13.0
"""How far the tips of an RPC's hexagon reach into its width."""

_PILL = 46.0
_SUB = 10.5
_MONO = 11.0
_MOST_ROWS = 4


def frame(parts: Parts, node: Node, state: str, least: float = 0.0) -> Block:
    """Give the frame of a node, at least so wide; its block's width is what it takes."""
    side = _POINT + 4 if node.kind == "rpc" else PAD
    body = stack(list(_body(parts, node)))
    width = min(_MOST, max(_LEAST if node.kind != "unknown" else 0.0, least, body.width + 2 * side))
    height = body.height + 2 * PAD - 4

    def draw(x: float, y: float, width: float) -> str:
        border = _border(node, state, (x, y), (width, height))
        return border + body.draw(x + side, y + PAD - 2, width - 2 * side)

    ports = tuple((key, at + PAD - 2) for key, at in body.ports)
    marks = tuple((key, at + PAD - 2) for key, at in body.marks)
    return Block(height, width, draw, ports, marks)


def _border(node: Node, state: str, at: tuple[float, float], size: tuple[float, float]) -> str:
    (x, y), (width, height) = at, size
    if node.kind == "rpc":
        tip = y + height / 2
        left, right = x + _POINT, x + width - _POINT
        corners = [(x, tip), (left, y), (right, y), (x + width, tip)]
        return shapes.polygon("f rpc", [*corners, (right, y + height), (left, y + height)])
    kind = {"unknown": "unknown", "subflow": "sub"}.get(node.kind, state)
    return shapes.rect(f"f {kind}".strip(), x, y, width, height, 8)


def _body(parts: Parts, node: Node) -> Iterator[Block]:
    yield _title(parts, node)
    chips = settings_chips(node) if "settings" in parts.layers else None
    if chips is not None:
        yield gap(4)
        yield chips
    inner = parts.inner.get(node.id, ())
    if "waits" in parts.layers:
        yield from _waits(node, inner)
    decisions = [decision_card(card, parts.name) for card in _of(inner, "decision")]
    if decisions:
        yield gap(8)
        yield choice(decisions, asked=bool(_of(inner, "decision_dispatch")))
    rows = [_uses(verb, nodes) for verb, nodes in used(parts, node.id)]
    if rows:
        yield gap(6)
        yield from rows


def _of(inner: Sequence[Node], kind: str) -> list[Node]:
    return [node for node in inner if node.kind == kind]


def _waits(node: Node, inner: Sequence[Node]) -> Iterator[Block]:
    words = "waits" if node.waits == ("waits",) else f"waits for {', '.join(node.waits)}"
    cards = [wait_card(card) for card in _of(inner, "wait")]
    if cards:
        yield gap(8)
        waits = choice(cards, asked=bool(_of(inner, "wait_dispatch")))
        yield titled(waits, words) if node.waits else waits
    elif node.waits:
        yield gap(6)
        yield _small("s", words)


def _title(parts: Parts, node: Node) -> Block:
    lead = {"rpc": "RPC", "subflow": "SubFlow"}.get(node.kind, "")
    pill = "START" if node.start else "TIMEOUT" if node.kind == "timeout_handler" else ""
    beside = _PILL + 18 if pill else 0.0
    indent = text_width(lead, _SUB) + 6 if lead else 0.0
    name = node.name
    where = f"{node.path or parts.graph.path or 'cell'}, line {node.line}" if node.line else ""

    def draw(x: float, y: float, width: float) -> str:
        drawn = shapes.text("s", x, y + 15, lead) if lead else ""
        room = width - beside - indent
        drawn += shapes.line("n", (x + indent, y + 15), name, room, 14, face="bold")
        return drawn + (_pill(x + width, y, pill) if pill else "")

    block = Block(_TITLE, indent + text_width(name[:80], 14, "bold") + beside, draw)
    return titled(block, where) if node.kind == "unknown" else block


def _pill(right: float, y: float, words: str) -> str:
    width = _PILL + (12 if len(words) > 5 else 0)  # noqa: PLR2004 - letters of START
    kind = "st" if words == "START" else "st to"
    return shapes.rect(kind, right - width, y + 1, width, 18, 9) + shapes.text(
        "stt", right - width / 2, y + 13.5, words, middle=True
    )


def _small(kind: str, words: str) -> Block:
    def draw(x: float, y: float, width: float) -> str:
        return shapes.line(kind, (x, y + 11), words, width, _SUB)

    return Block(16.0, text_width(words[:80], _SUB), draw)


def _uses(verb: str, nodes: list[Node]) -> Block:
    names = list(dict.fromkeys(node.name for node in nodes))
    more = len(names) - _MOST_ROWS
    shown = names if more < 1 else [*names[:_MOST_ROWS], f"and {more} more"]
    words = ", ".join(shown)
    lead = text_width(verb, _SUB) + 5

    def draw(x: float, y: float, width: float) -> str:
        return shapes.text("s", x, y + 11, verb) + shapes.line(
            "i", (x + lead, y + 11), words, width - lead, _MONO, face="mono"
        )

    return Block(16.0, lead + text_width(words[:60], _MONO, "mono"), draw)


def resource_frame(title: str, nodes: Sequence[Node]) -> Block:
    """Give the frame that lists the resources of one kind."""
    lead = max(text_width(node.name[:40], _MONO, "mono") for node in nodes)
    lead = min(lead, _MOST / 2) + 14

    def row(node: Node) -> Block:
        kind = _type_of(node)

        def draw(x: float, y: float, width: float) -> str:
            name = shapes.line("i", (x, y + 11), node.name, lead - 10, _MONO, face="mono")
            return name + shapes.line("s", (x + lead, y + 11), kind, width - lead, _SUB)

        width = lead + text_width(kind[:60], _SUB)
        return Block(17.0, width, draw, (), ((node.id, 0.0),))

    head = Block(
        20.0, text_width(title, 14, "bold"), lambda x, y, _: shapes.text("s", x, y + 9, title)
    )
    body = stack([head, *map(row, nodes)])
    width, height = min(_MOST, body.width + 2 * PAD), body.height + 2 * PAD - 4

    def draw(x: float, y: float, width: float) -> str:
        border = shapes.rect("r", x, y, width, height, 8)
        return border + body.draw(x + PAD, y + PAD - 2, width - 2 * PAD)

    marks = tuple((key, at + PAD - 2) for key, at in body.marks)
    return Block(height, width, draw, (), marks)


def _type_of(node: Node) -> str:
    if node.kind == "unknown":
        return "not registered"
    what = node.resource or {}
    words = str(what.get("valueType") or "")
    return f"map of {words}".removesuffix(" of ") if what.get("map") else words
