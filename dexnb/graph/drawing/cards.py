"""Cards: what a Step waits for and what it may decide, and the diamond before several of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dexnb.graph.drawing import shapes
from dexnb.graph.drawing.blocks import Block, indented, stack
from dexnb.graph.drawing.measure import fit_lines, text_width
from dexnb.model.decision_name import written
from dexnb.model.flow_graph import Node

MOST_CARDS = 8
MOST_ROWS = 6
_ROW = 16.0
_SMALL = 13.0
_PAD = 8.0
_MONO = 11.0
_SUB = 10.5
_DIAMOND = 11.0
_INDENT = 34.0
_MOST_GUARD = 210.0
_MOST_LINES = 2

Names = Callable[[str], str]
"""Gives what stands on the node of an id."""

_CLASSES = {
    "goTo": "go",
    "goToMany": "go",
    "rpcResult": "go",
    "gracefulComplete": "ok",
    "forceComplete": "ok",
    "forceCompleteIfChannelsEmpty": "ok",
    "deadEnd": "ok",
    "forceFail": "bad",
}


def decision_card(card: Node, names: Names) -> Block:
    """Give the card of a decision: its name, where it leads, what it cancels, its guards."""
    what: dict[str, Any] = card.decision or {}
    targets = [str(target) for target in what.get("targets", ())]
    tag, kind = written(card.name), _CLASSES.get(card.name, "unknown")
    single = len(targets) == 1 and card.name == "goTo"
    rows = [_Row(tag, names(targets[0]), targets[0])] if single else [_Row(tag)]
    if what.get("checkedChannels"):
        empty = ", ".join(names(str(each)) for each in what["checkedChannels"])
        rows.append(_Row("if empty", empty))
    rows += [_Row("→", names(target), target) for target in ([] if single else targets)]
    for each in what.get("cancellations", ()):
        scope = " (siblings)" if each.get("scope") == "siblings" else ""
        rows.append(_Row("cancels", names(str(each.get("stepId", ""))) + scope))
    return _card(card, kind, rows)


def wait_card(card: Node) -> Block:
    """Give the card of a wait: how its conditions count, and each of them."""
    what: dict[str, Any] = card.wait or {}
    rows = [_Row(written(str(what.get("type", card.name))))]
    for each in what.get("conditions", ()):
        words = each.get("label") or each.get("expression") or each.get("kind") or "unknown"
        rows.append(_Row("·", str(words), str(each.get("subFlowId") or "")))
    return _card(card, "w", rows)


class _Row:
    def __init__(self, tag: str, words: str = "", target: str = "") -> None:
        self.tag, self.words, self.target = tag, words, target
        self.lead = text_width(tag, _MONO, "mono") + 6

    @property
    def width(self) -> float:
        return self.lead + text_width(self.words, _MONO, "mono")

    def draw(self, x: float, y: float, room: float) -> str:
        kind = "k" if self.words else "m"
        drawn = shapes.line(kind, (x, y), self.tag, room, _MONO, face="mono")
        if self.words:
            at, left = (x + self.lead, y), room - self.lead
            drawn += shapes.line("m", at, self.words, left, _MONO, face="mono")
        return drawn


def _card(card: Node, kind: str, rows: list[_Row]) -> Block:
    more = len(rows) - MOST_ROWS - 1
    ports = {
        row.target: 3 + _ROW * (min(at, MOST_ROWS) + 0.5)
        for at, row in reversed(list(enumerate(rows)))
        if row.target
    }
    shown = rows if more < 1 else [*rows[:MOST_ROWS], _Row(f"… and {more + 1} more")]
    guard = card.condition
    wide = min(text_width(guard, _SUB), _MOST_GUARD) if guard else 0.0
    inner = max([wide, *(min(row.width, _MOST_GUARD) for row in shown)])
    lines = fit_lines(guard, inner, _SUB, _MOST_LINES)
    rows_end = 6 + _ROW * len(shown)
    height = rows_end + _SMALL * len(lines)

    def draw(x: float, y: float, width: float) -> str:
        room = width - 2 * _PAD
        parts = [shapes.rect(f"c {kind}", x, y, width, height, 5)]
        parts += [row.draw(x + _PAD, y + 15 + at * _ROW, room) for at, row in enumerate(shown)]
        said = "".join(
            shapes.text("s", x + _PAD, y + rows_end + 6 + at * _SMALL, words)
            for at, words in enumerate(lines)
        )
        parts.append(shapes.titled(said, guard))
        return "".join(parts)

    natural = max([wide, *(row.width for row in shown)]) + 2 * _PAD
    return Block(height, natural, draw, tuple(ports.items()), ((card.id, 0.0),))


def choice(cards: Sequence[Block], *, asked: bool) -> Block:
    """Put cards under one another; `asked` for a diamond that leads to each of them."""
    more = len(cards) - MOST_CARDS
    shown = list(cards[:MOST_CARDS]) if more > 0 else list(cards)
    body = stack([*shown, _more(more)] if more > 0 else shown, 6.0)
    if more > 0:
        # Ways of cards that are not drawn leave where the picture says that there are more.
        hidden = (key for card in cards[MOST_CARDS:] for key, _ in card.ports)
        ports = {**dict.fromkeys(hidden, body.height - _ROW / 2), **dict(body.ports)}
        body = Block(body.height, body.width, body.draw, tuple(ports.items()), body.marks)
    if not asked:
        return body
    inner = indented(body, _INDENT)
    middles = []
    y = 0.0
    for card in shown:
        middles.append(y + min(card.height / 2, 14.0))
        y += card.height + 6

    def draw(x: float, y: float, width: float) -> str:
        trunk = x + _DIAMOND
        lines = [shapes.path("t", f"M{trunk:.1f} {y + middles[0]:.1f}V{y + middles[-1]:.1f}")]
        lines += [
            shapes.path("t", f"M{trunk:.1f} {y + middle:.1f}H{x + _INDENT:.1f}")
            for middle in middles
        ]
        mark = shapes.diamond(trunk, y + middles[0], _DIAMOND)
        return "".join(lines) + mark + inner.draw(x, y, width)

    return Block(inner.height, inner.width, draw, inner.ports, inner.marks)


def _more(count: int) -> Block:
    words = f"… and {count} more"
    return Block(_ROW, 0.0, lambda x, y, _width: shapes.text("s", x + _PAD, y + 11, words))
