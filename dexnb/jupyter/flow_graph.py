"""`dexnb.flow_graph`: a Flow's graph with what the linter says of it, to look at in a notebook."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from dexnb.flow.flow import Flow
from dexnb.flow.registry import RegisteredFlow, read_flow
from dexnb.graph.flow_picture import FlowPicture
from dexnb.graph.read import read_graph
from dexnb.jupyter.cell_names import name_cells_of_kernel
from dexnb.jupyter.findings_shown import FindingsShown
from dexnb.lint import lint_flow, rules
from dexnb.lint.config import config_near
from dexnb.model.finding import Finding
from dexnb.model.markup import escaped


def flow_graph(
    flow: Flow[Any] | RegisteredFlow, *, findings: Iterable[Finding] | None = None
) -> FlowPicture:
    """Read a Flow's graph, lint it, and give both to look at; none of its Steps runs.

    Findings are badges in the picture, and a table below it in a notebook. Settings are those of
    `[tool.dexnb.lint]` in the nearest pyproject.toml. `dexnb.graph.flow_graph` does not lint.

    Args:
        flow: The Flow, or what a registry keeps of it.
        findings: What to show instead of what the linter says.

    Raises:
        FlowDefinitionError: The Flow cannot be registered; lists every problem.
        DefinitionError: The settings cannot be read.
    """
    name_cells_of_kernel()
    registered = flow if isinstance(flow, RegisteredFlow) else read_flow(flow, minimum_heartbeat=0)
    graph = read_graph(registered)
    if findings is not None:
        return FlowPicture(graph, findings)
    settings = config_near(Path.cwd()).settings
    asked = sum(settings.asks(rule.code, rule.name) for rule in rules())
    return _Judged(graph, lint_flow(registered, settings=settings), asked)


class _Judged(FlowPicture):
    """A picture with the linter's words below it.

    Args:
        graph: The document.
        findings: What the linter says of the Flow.
        asked: How many rules it has asked.
    """

    def __init__(self, graph: Any, findings: Iterable[Finding], asked: int) -> None:
        super().__init__(graph, findings)
        self._asked = asked

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        made = super()._repr_mimebundle_(include, exclude)
        if "text/html" in made:
            made["text/html"] += self._table()
        if "text/plain" in made and self.findings:
            made["text/plain"] += f"\n{FindingsShown(self.findings, '1 Flow')!r}"
        return made

    def _table(self) -> str:
        if self.findings:
            return FindingsShown(self.findings, "1 Flow")._repr_html_()
        name = escaped(self.graph.name)
        return f"<p>no findings: {self._asked} rules were asked about {name}</p>"
