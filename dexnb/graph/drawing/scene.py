"""A whole picture: the boxes and ways of a graph, laid out, under a header and above a legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dexnb.graph.drawing import shapes
from dexnb.graph.drawing.badges import badges, by_node
from dexnb.graph.drawing.blocks import Block
from dexnb.graph.drawing.frames import frame, resource_frame
from dexnb.graph.drawing.header import draw_header
from dexnb.graph.drawing.legend import draw_legend, legend_entries
from dexnb.graph.drawing.parts import (
    RESOURCES,
    Parts,
    is_resource,
    resource_kind,
    sort_parts,
)
from dexnb.graph.drawing.theme import Theme, root_class, style
from dexnb.graph.drawing.ways import (
    LOOP,
    LOOPING,
    Label,
    draw_label,
    draw_loop,
    draw_way,
    kind_of,
    label_of,
    link_of,
)
from dexnb.graph.layout import Layout, Link, Size, arrange
from dexnb.model.finding import Finding
from dexnb.model.flow_graph import FlowGraph, Node
from dexnb.model.markup import escaped

MARGIN = 24.0
_HEADER = 44.0
_LEGEND = 40.0
_MORE = 24.0
_STATES = ("running", "done", "failed")


@dataclass(frozen=True, slots=True)
class Run:
    """What a run has made of a graph.

    Args:
        taken: The ways that it took: from Step, to Step, kind of edge.
        states: What Steps are: `running`, `done` or `failed`, by name.
    """

    taken: frozenset[tuple[str, str, str]] = frozenset()
    states: Mapping[str, str] = field(default_factory=dict)


def draw_graph(
    graph: FlowGraph,
    layers: frozenset[str],
    *,
    theme: Theme,
    findings: Iterable[Finding] = (),
    run: Run | None = None,
    most: int | None = None,
) -> str:
    """Draw a graph as SVG: the same text for the same graph."""
    parts = sort_parts(graph, layers, most)
    return _Scene(parts, run or Run(), tuple(findings)).picture(theme)


class _Scene:
    def __init__(self, parts: Parts, run: Run, findings: tuple[Finding, ...]) -> None:
        self.parts, self.run = parts, run
        self.loops = [way for way in parts.ways if way.edge.source == way.edge.target]
        self.ways = [way for way in parts.ways if way.edge.source != way.edge.target]
        wide = dict.fromkeys((way.edge.source for way in self.loops), LOOPING)
        self.frames = {
            name: frame(parts, node, self._state(node), wide.get(name, 0.0))
            for name, node in parts.boxes.items()
        }
        guards = "guards" in parts.layers
        self.labels = {id(way): label_of(way, guards=guards) for way in parts.ways}
        self.panels = dict(_panels(parts))
        self.layout = self._arranged()
        self.all_findings = findings
        self.findings = by_node(findings, dict.fromkeys(self._marks()))

    def _state(self, node: Node) -> str:
        state = self.run.states.get(node.id.removeprefix("step:"), "")
        return state if state in _STATES else ""

    def _label(self, way: object) -> Label | None:
        return self.labels[id(way)]

    def _arranged(self) -> Layout:
        looping = {way.edge.source for way in self.loops}
        sizes = {
            name: Size(block.width, block.height, LOOP if name in looping else 8.0)
            for name, block in (self.frames | self.panels).items()
        }
        links: list[Link] = [
            link_of(way, self.frames[way.edge.source], self._label(way)) for way in self.ways
        ]
        return arrange(sizes, links, self.parts.graph.startStepId)

    def _marks(self) -> Iterable[str]:
        for name, block in (self.frames | self.panels).items():
            yield name
            yield from (mark for mark, _ in block.marks)

    def picture(self, theme: Theme) -> str:
        layers, graph, layout = self.parts.layers, self.parts.graph, self.layout
        parts = [self._lines(), self._boxes(), self._words(), self._badges()]
        left, top, right, bottom = layout.left, layout.top, layout.right, layout.bottom
        if self.parts.left_out:
            bottom += _MORE
            parts.append(shapes.text("s", 0, bottom - 6, f"… and {self.parts.left_out} more"))
        if "legend" in layers and (entries := legend_entries(self.parts)):
            wide, tall, drawn = draw_legend(entries, left, bottom + _LEGEND, max(right, 560.0))
            parts.append(drawn)
            right, bottom = max(right, wide), bottom + _LEGEND + tall
        if "header" in layers:
            top -= _HEADER
            about = self.findings.get("", ())
            attention = any(each.severity != "note" for each in self.all_findings)
            end, drawn = draw_header(graph, (left, top), about, attention=attention)
            parts.append(drawn)
            right = max(right, end)
        area = (left - MARGIN, top - MARGIN, right - left + 2 * MARGIN, bottom - top + 2 * MARGIN)
        if "ground" in layers:
            parts.insert(0, shapes.rect("g", *area, 0))
        return _document(graph.name, area, theme, "".join(parts))

    def _lines(self) -> str:
        drawn = []
        for number, way in enumerate(self.ways):
            route = self.layout.routes.get(number)
            if route is not None:
                drawn.append(draw_way(route, kind_of(way.edge, self.run.taken)))
        return "".join(drawn)

    def _boxes(self) -> str:
        drawn = []
        for name, block in (self.frames | self.panels).items():
            box = self.layout.boxes[name]
            drawn.append(f"<g>{block.draw(box.x, box.y, box.width)}</g>")
        return "".join(drawn)

    def _words(self) -> str:
        drawn = []
        for number, way in enumerate(self.ways):
            route, label = self.layout.routes.get(number), self._label(way)
            if route is not None and label is not None:
                drawn.append(draw_label(label, route.label, kind_of(way.edge, self.run.taken)))
        seen: dict[str, int] = {}
        for way in self.loops:
            order = seen[way.edge.source] = seen.get(way.edge.source, -1) + 1
            box, kind = self.layout.boxes[way.edge.source], kind_of(way.edge, self.run.taken)
            drawn.append(draw_loop(box, kind, self._label(way), order))
        return "".join(drawn)

    def _badges(self) -> str:
        drawn = []
        for name, block in (self.frames | self.panels).items():
            box = self.layout.boxes[name]
            if name in self.findings:
                drawn.append(badges(self.findings[name], box.x + 10, box.y))
            right = box.x + box.width - (8 if name in self.panels else 26)
            for mark, at in block.marks:
                if mark in self.findings:
                    drawn.append(badges(self.findings[mark], right, box.y + at + 2))
        return "".join(drawn)


def _panels(parts: Parts) -> Iterable[tuple[str, Block]]:
    for kind, layer in RESOURCES.items():
        nodes = [
            node for node in parts.graph.nodes if is_resource(node) and resource_kind(node) == kind
        ]
        if nodes and "resources" in parts.layers and layer in parts.layers:
            yield f"panel:{kind}", resource_frame(layer.capitalize(), nodes)


def _document(name: str, area: tuple[float, float, float, float], theme: Theme, body: str) -> str:
    title = escaped(f"Definition graph of {name}")
    box = [shapes.number(each) for each in area]
    return (
        f'<svg class="dxg {root_class(theme)}" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{title}" viewBox="{" ".join(box)}" width="{box[2]}" height="{box[3]}" '
        f'style="max-width:100%;height:auto"><title>{title}</title>'
        f"<style>{style(theme)}</style>{body}</svg>"
    )
