"""A Flow's graph to look at and to save: what `dexnb.flow_graph` gives."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dexnb.errors import DefinitionError
from dexnb.flow.flow import Flow
from dexnb.flow.registry import RegisteredFlow
from dexnb.graph import exports
from dexnb.graph.drawing.theme import Theme
from dexnb.graph.read import read_graph
from dexnb.model.finding import Finding
from dexnb.model.flow_graph import FlowGraph

if TYPE_CHECKING:
    import networkx as nx


LEAST_SCALE = 0.6
"""Of a picture in a notebook: smaller, its text is hard to read."""


def flow_graph(
    flow: Flow[Any] | RegisteredFlow, *, findings: Iterable[Finding] = ()
) -> FlowPicture:
    """Read a Flow's graph and give it to look at; none of its Steps runs.

    Args:
        flow: The Flow, or what a registry keeps of it.
        findings: What a linter says of it.

    Raises:
        FlowDefinitionError: The Flow cannot be registered; lists every problem.
    """
    return FlowPicture(read_graph(flow), findings)


def picture(graph: FlowGraph, findings: Iterable[Finding] = ()) -> FlowPicture:
    """Give a graph to look at, with what a linter says of it as badges on its nodes."""
    return FlowPicture(graph, findings)


class FlowPicture:
    """A graph that a notebook shows and that saves itself in the form that a file's name asks for.

    Args:
        graph: The document.
        findings: What a linter says of the Flow; badges on the nodes that they name.
    """

    def __init__(self, graph: FlowGraph, findings: Iterable[Finding] = ()) -> None:
        self.graph = graph
        self.findings = tuple(findings)

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """Give it for networkx; see `dexnb.graph.exports.networkx_graph`."""
        return exports.to_networkx(self.graph)

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON 1.0 of Dex's definition graph; see `dexnb.graph.exports.dex_json`."""
        return exports.to_dex_json(self.graph)

    def to_mermaid(self) -> str:
        """Write it as a Mermaid flowchart; see `dexnb.graph.exports.mermaid`."""
        return exports.to_mermaid(self.graph)

    def to_dot(self) -> str:
        """Write it as Graphviz DOT; see `dexnb.graph.exports.dot`."""
        return exports.to_dot(self.graph)

    def to_svg(self, *, theme: Theme = "auto", layers: Iterable[str] | None = None) -> str:
        """Draw it as SVG; see `dexnb.graph.exports.svg`."""
        return exports.to_svg(self.graph, theme=theme, layers=layers, findings=self.findings)

    def to_png(
        self,
        *,
        scale: float = 2,
        theme: Literal["light", "dark"] = "light",
        layers: Iterable[str] | None = None,
    ) -> bytes:
        """Draw it as PNG; see `dexnb.graph.exports.png`."""
        return exports.to_png(
            self.graph, scale=scale, theme=theme, layers=layers, findings=self.findings
        )

    def save(self, path: str | PathLike[str]) -> Path:
        """Write it to a file in the form of its suffix, and give the file's path.

        Args:
            path: Ends with `.svg`, `.png`, `.mmd`, `.dot` or `.json`.

        Raises:
            DefinitionError: It ends otherwise.
        """
        file = Path(path)
        form = _FORMS.get(file.suffix.lower())
        if form is None:
            known = ", ".join(_FORMS)
            message = f"save({str(path)!r}): a graph is saved by suffix, one of {known}"
            raise DefinitionError(message)
        file.write_bytes(form(self))
        return file

    def __repr__(self) -> str:
        """Say what it is of, the same for the same graph."""
        steps = sum(node.kind == "step" for node in self.graph.nodes)
        remarks = len(self.graph.diagnostics)
        parts = [_counted(steps, "Step"), _counted(len(self.graph.edges), "edge")]
        parts += [_counted(remarks, "remark")] if remarks else []
        parts += [_counted(len(self.findings), "finding")] if self.findings else []
        return f"FlowPicture({self.graph.name}: {', '.join(parts)})"

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        svg = self.to_svg()
        made = {"text/plain": repr(self), "image/svg+xml": svg, "text/html": scrolled(svg)}
        return {
            kind: value
            for kind, value in made.items()
            if (not include or kind in include) and kind not in (exclude or ())
        }


def scrolled(svg: str) -> str:
    """Give a picture of ours as HTML that stays readable: a wide one scrolls rather than shrinks.

    As an image, which stays in a notebook that its host does not trust; inline SVG does not.
    """
    name = svg.partition('aria-label="')[2].partition('"')[0]
    width = float(svg.partition(' width="')[2].partition('"')[0])
    data = b64encode(svg.encode()).decode()
    size = f"width:100%;min-width:{LEAST_SCALE * width:.0f}px;max-width:{width:.0f}px;height:auto"
    return (
        f'<div style="overflow-x:auto"><img alt="{name}" style="{size}" '
        f'src="data:image/svg+xml;base64,{data}"></div>'
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


_FORMS: dict[str, Callable[[FlowPicture], bytes]] = {
    ".svg": lambda each: each.to_svg().encode(),
    ".png": lambda each: each.to_png(),
    ".mmd": lambda each: each.to_mermaid().encode(),
    ".dot": lambda each: each.to_dot().encode(),
    ".json": lambda each: json.dumps(each.to_json(), indent=2).encode() + b"\n",
}
