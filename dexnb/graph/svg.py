"""A `FlowGraph` as one SVG picture: the same bytes for the same graph, and no script in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from dexnb.graph.layout import GAP_X, Box, Size, lay_out
from dexnb.model.budget import seconds_text
from dexnb.model.decision_name import written
from dexnb.model.flow_graph import Edge, FlowGraph, Node
from dexnb.model.markup import escaped

Theme = Literal["auto", "light", "dark"]

MOST_STEPS = 80
"""Steps drawn; of the others the picture gives the number."""

MOST_CARDS = 8
_BOXES = ("step", "timeout_handler", "unknown")
_WAYS = ("transition", "failure_transition")
MARGIN = 24.0
LOOP = 46.0
_TITLE = 52.0
_CARD = 34.0
_WIDTH = 210.0
_MOST_LETTERS = 48

_LIGHT = (
    "--bg:#fff;--fg:#1f2430;--sub:#667085;--line:#d5dae3;--panel:#f7f9fc;--go:#0072b2;"
    "--ok:#007f5c;--bad:#c65200;--rec:#b3176f;--unknown:#a06800"
)
_DARK = (
    "--bg:#15181e;--fg:#e6e9ef;--sub:#98a2b3;--line:#39414e;--panel:#20262f;--go:#56a8e0;"
    "--ok:#35c79a;--bad:#ff8a4c;--rec:#f06ab0;--unknown:#e69f00"
)
_RULES = (
    ".dxg text{fill:var(--fg);font:12px system-ui,sans-serif}"
    ".dxg .n{font-weight:600;font-size:14px}.dxg .s{fill:var(--sub);font-size:10px}"
    ".dxg .m{font:11px ui-monospace,monospace}"
    ".dxg .f{fill:var(--bg);stroke:var(--line);stroke-width:1.5}"
    ".dxg .f.running{stroke:var(--go);stroke-width:2.5}.dxg .f.done{stroke:var(--ok)}"
    ".dxg .f.failed{stroke:var(--bad)}.dxg .f.unknown{stroke:var(--unknown);stroke-dasharray:4 3}"
    ".dxg .c{fill:var(--panel);stroke:var(--line)}.dxg .c.go{stroke:var(--go)}"
    ".dxg .c.ok{stroke:var(--ok)}.dxg .c.bad{stroke:var(--bad)}"
    ".dxg .c.unknown{stroke:var(--unknown)}"
    ".dxg .e{fill:none;stroke:var(--sub);stroke-width:1.6}.dxg .e.taken{stroke:var(--go);"
    "stroke-width:2.4}.dxg .e.rec{stroke:var(--rec)}.dxg .a{fill:var(--sub)}"
    ".dxg .a.taken{fill:var(--go)}.dxg .a.rec{fill:var(--rec)}"
    ".dxg .l{fill:var(--rec);font-size:10px}"
    ".dxg .st{fill:var(--ok)}.dxg .stt{fill:#fff;font-size:10px;font-weight:700}"
)
_CARD_CLASSES = {
    "goTo": "go",
    "goToMany": "go",
    "gracefulComplete": "ok",
    "forceComplete": "ok",
    "forceCompleteIfChannelsEmpty": "ok",
    "deadEnd": "ok",
    "forceFail": "bad",
    "unknown": "unknown",
}


def graph_svg(
    graph: FlowGraph,
    *,
    taken: Iterable[tuple[str, str, str]] = (),
    states: Mapping[str, str] | None = None,
    theme: Theme = "auto",
) -> str:
    """Draw a graph.

    Args:
        graph: What to draw.
        taken: Ways that a run has taken: from Step, to Step, kind of edge.
        states: What Steps of a run are: `running`, `done` or `failed`, by name.
        theme: `auto` follows the notebook's theme, or else the reader's system.
    """
    drawing = _Drawing(graph, set(taken), dict(states or {}))
    return drawing.picture(theme)


class _Drawing:
    def __init__(
        self, graph: FlowGraph, taken: set[tuple[str, str, str]], states: dict[str, str]
    ) -> None:
        self.graph = graph
        self.taken = taken
        self.states = states
        all_boxes = [node for node in graph.nodes if node.kind in _BOXES]
        self.nodes = all_boxes[:MOST_STEPS]
        self.left_out = len(all_boxes) - len(self.nodes)
        self.cards: dict[str, list[Node]] = {node.id: [] for node in self.nodes}
        for node in graph.nodes:
            if node.kind == "decision" and node.parentId in self.cards:
                self.cards[node.parentId].append(node)
        self.streams: dict[str, list[str]] = {}
        for edge in graph.edges:
            if edge.target.startswith("resource:stream:"):
                name = edge.target.rpartition(":")[2]
                self.streams.setdefault(edge.source, []).append(name)
        self.edges = [
            edge
            for edge in graph.edges
            if edge.kind in _WAYS and {edge.source, edge.target} <= self.cards.keys()
        ]
        sizes = {node.id: self._size(node) for node in self.nodes}
        ways = [(edge.source, edge.target) for edge in self.edges]
        self.boxes = lay_out(sizes, ways, graph.startStepId)

    def _size(self, node: Node) -> Size:
        if node.kind == "unknown":
            return Size(110.0, 40.0)
        lines = (node.id in self.streams) + bool(node.waits)
        rows = min(len(self.cards[node.id]), MOST_CARDS + 1) + lines * 0.6
        texts = [len(_card_text(card)) * 6.8 + 40 for card in self.cards[node.id][:MOST_CARDS]]
        texts.append(len(_waits(node)) * 5.3 + 24 if node.waits else 0.0)
        longest = max(len(node.name) * 9.0 + (70 if node.start else 24), _WIDTH, *texts)
        return Size(min(longest, 420.0), _TITLE + rows * _CARD + 8)

    def picture(self, theme: Theme) -> str:
        right = max((box.x + box.width for box in self.boxes.values()), default=200.0)
        bottom = max((box.y + box.height for box in self.boxes.values()), default=40.0)
        parts = [self._edge(edge) for edge in self.edges]
        parts += [self._node(node) for node in self.nodes]
        if self.left_out:
            text = f"… and {self.left_out} more"
            parts.append(f'<text class="s" x="0" y="{bottom + 18:g}">{text}</text>')
        loops = any(edge.source == edge.target for edge in self.edges)
        top = MARGIN + (LOOP if loops else 0.0)
        width, height = right + 2 * MARGIN, bottom + top + MARGIN + 20 + _back_room(self)
        name = escaped(f"Definition graph of {self.graph.name}")
        return (
            f'<svg class="dxg" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{name}" '
            f'viewBox="{-MARGIN:g} {-top:g} {width:g} {height:g}" '
            f'style="max-width:100%;width:{width:g}px"><title>{name}</title>'
            f"<style>{_style(theme)}</style>{''.join(parts)}</svg>"
        )

    def _node(self, node: Node) -> str:
        box = self.boxes[node.id]
        state = (
            "unknown"
            if node.kind == "unknown"
            else self.states.get(node.id.removeprefix("step:"), "")
        )
        state = state if state in ("running", "done", "failed", "unknown") else ""
        parts = [_rect(f"f {state}".strip(), box.x, box.y, box.width, box.height, 8)]
        name = escaped(node.name, 44)
        parts.append(f'<text class="n" x="{box.x + 12:g}" y="{box.y + 24:g}">{name}</text>')
        if node.kind == "unknown":
            return "".join(parts)
        if node.start:
            parts.append(_start_mark(box))
        chips = _titled(escaped(_chips(node), 80), _chips_title(node))
        parts.append(f'<text class="s" x="{box.x + 12:g}" y="{box.y + 41:g}">{chips}</text>')
        y = box.y + _TITLE
        if node.waits:
            text = escaped(_waits(node), 60)
            parts.append(f'<text class="s" x="{box.x + 12:g}" y="{y + 8:g}">{text}</text>')
            y += 0.6 * _CARD
        for card in self.cards[node.id][:MOST_CARDS]:
            parts.append(_card(card, box, y))
            y += _CARD
        more = len(self.cards[node.id]) - MOST_CARDS
        if more > 0:
            parts.append(
                f'<text class="s" x="{box.x + 12:g}" y="{y + 16:g}">… and {more} more</text>'
            )
            y += _CARD
        if streams := self.streams.get(node.id):
            text = escaped("writes " + ", ".join(streams), 40)
            parts.append(f'<text class="s" x="{box.x + 12:g}" y="{y + 14:g}">{text}</text>')
        return "".join(parts)

    def _edge(self, edge: Edge) -> str:
        source, target = self.boxes.get(edge.source), self.boxes.get(edge.target)
        if source is None or target is None:
            return ""
        names = (edge.source.removeprefix("step:"), edge.target.removeprefix("step:"), edge.kind)
        kind = "rec" if edge.kind == "failure_transition" else ""
        kind = f"{kind} taken".strip() if names in self.taken and not kind else kind
        path, tip, middle = _route(source, target, below=edge.kind == "failure_transition")
        label = ""
        if edge.label:
            x, y = middle
            text = escaped(edge.label, 30)
            label = f'<text class="l" text-anchor="middle" x="{x:g}" y="{y:g}">{text}</text>'
        return f'<path class="e {kind}" d="{path}"/>{_arrow(tip, kind)}{label}'


Point = tuple[float, float]


def _route(source: Box, target: Box, *, below: bool) -> tuple[str, tuple[Point, str], Point]:
    """Give a way's path, its tip with the side it comes from, and the place for its label."""
    if source == target:
        x1, x2, y = source.x + source.width - 78, source.x + source.width - 30, source.y
        path = f"M{x1:g} {y:g}C{x1:g} {y - LOOP:g} {x2:g} {y - LOOP:g} {x2:g} {y:g}"
        return path, ((x2, y), "down"), (x1 - 20, y - 22)
    shift = 14.0 if below else 0.0
    if target.rank > source.rank:
        x1, y1 = source.x + source.width, source.y + source.height / 2 + shift
        x2, y2 = target.x, target.y + min(target.height / 2, 30.0) + shift
        bend = max((x2 - x1) / 2, GAP_X / 2)
        path = f"M{x1:g} {y1:g}C{x1 + bend:g} {y1:g} {x2 - bend:g} {y2:g} {x2:g} {y2:g}"
        return path, ((x2, y2), "right"), ((x1 + x2) / 2, (y1 + y2) / 2 - 8)
    x1, y1 = source.x + source.width / 2 - shift, source.y + source.height
    x2, y2 = target.x + target.width / 2 + shift, target.y + target.height
    low = max(y1, y2) + 40 + shift
    path = f"M{x1:g} {y1:g}C{x1:g} {low:g} {x2:g} {low:g} {x2:g} {y2:g}"
    return path, ((x2, y2), "up"), ((x1 + x2) / 2, low - 14)


def _waits(node: Node) -> str:
    return "waits" if node.waits == ("waits",) else f"waits for {', '.join(node.waits)}"


def _back_room(drawing: _Drawing) -> float:
    """Give the height that ways leading back take below the boxes."""
    for edge in drawing.edges:
        source, target = drawing.boxes.get(edge.source), drawing.boxes.get(edge.target)
        if source and target and source != target and target.rank <= source.rank:
            return 50.0
    return 0.0


def _arrow(tip: tuple[Point, str], kind: str) -> str:
    (x, y), side = tip
    points = {
        "right": f"{x - 9:g},{y - 4.5:g} {x:g},{y:g} {x - 9:g},{y + 4.5:g}",
        "down": f"{x - 4.5:g},{y - 9:g} {x:g},{y:g} {x + 4.5:g},{y - 9:g}",
        "up": f"{x - 4.5:g},{y + 9:g} {x:g},{y:g} {x + 4.5:g},{y + 9:g}",
    }[side]
    return f'<polygon class="a {kind}" points="{points}"/>'


def _card_text(card: Node) -> str:
    targets = [] if card.decision is None else card.decision.get("targets", [])
    names = ", ".join(str(target).rpartition(":")[2] for target in targets)
    return f"{written(card.name)} {names}".strip()[: 2 * _MOST_LETTERS]


def _card(card: Node, box: Box, y: float) -> str:
    x, width = box.x + 10, box.width - 20
    kind = _CARD_CLASSES.get(card.name, "unknown")
    text = escaped(_card_text(card), _MOST_LETTERS)
    parts = _rect(f"c {kind}", x, y, width, _CARD - 6, 5)
    middle = y + (13 if card.condition else 18)
    parts += f'<text class="m" x="{x + 8:g}" y="{middle:g}">{text}</text>'
    if card.condition:
        full = escaped(card.condition, 240)
        short = escaped(card.condition, 33)
        parts += f'<text class="s" x="{x + 8:g}" y="{y + 24:g}"><title>{full}</title>{short}</text>'
    return parts


def _start_mark(box: Box) -> str:
    x = box.x + box.width - 62
    return (
        _rect("st", x, box.y + 10, 50, 18, 9)
        + f'<text class="stt" text-anchor="middle" x="{x + 25:g}" y="{box.y + 23:g}">START</text>'
    )


def _chips(node: Node) -> str:
    settings: dict[str, Any] = node.settings or {}
    if not settings:
        return ""
    retry = settings["retry"]
    tries = retry["maximum_attempts"]
    parts = [
        seconds_text(settings["execute_method_timeout"]),
        f"♥ {seconds_text(settings['heartbeat_timeout'])}",
        f"↻ {tries}" if tries else f"↻ {seconds_text(retry['total_duration'])}",
    ]
    return " · ".join(parts)


def _chips_title(node: Node) -> str:
    """Say what each of a Step's settings is."""
    settings: dict[str, Any] = node.settings or {}
    if not settings:
        return ""
    retry = settings["retry"]
    tries, total = retry["maximum_attempts"], seconds_text(retry["total_duration"])
    limit = f"{tries} attempts, and no retry after {total}"
    longest = seconds_text(settings["execute_method_timeout"])
    parts = [
        f"execute_method_timeout {longest}: one attempt at most",
        f"♥ heartbeat_timeout {seconds_text(settings['heartbeat_timeout'])}: silence at most",
        f"↻ execute_retry {limit if tries else f'{total}: no retry after that'}",
    ]
    return " · ".join(parts)


def _titled(text: str, title: str) -> str:
    return f"<title>{escaped(title, 300)}</title>{text}" if title else text


def _rect(kind: str, x: float, y: float, width: float, height: float, round_: float) -> str:
    size = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round_:g}"'
    return f'<rect class="{kind}" {size}/>'


def _style(theme: Theme) -> str:
    if theme == "auto":
        # The notebook's own colours first, where the page has them.
        light = _LIGHT.replace("--bg:#fff", "--bg:var(--jp-layout-color1,#fff)")
        light = light.replace("--fg:#1f2430", "--fg:var(--jp-ui-font-color1,#1f2430)")
        return f".dxg{{{light}}}@media(prefers-color-scheme:dark){{.dxg{{{_DARK}}}}}{_RULES}"
    return f".dxg{{{_LIGHT if theme == 'light' else _DARK}}}{_RULES}"
