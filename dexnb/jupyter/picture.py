"""The static picture of a Lab's page: the graph as the run has taken it, and the fallback."""

from __future__ import annotations

from typing import Any

from dexnb.graph.svg import Theme, graph_svg
from dexnb.model.finding import Finding
from dexnb.model.flow_graph import FlowGraph
from dexnb.widgets.fallback import fallback_html


def picture_html(
    page: dict[str, Any], graph: FlowGraph, *, theme: Theme = "auto", images: bool = False
) -> str:
    """Draw a page; `images` as of `fallback_html`."""
    view = page["view"]
    taken = [tuple(way) for way in view["taken"]]
    findings = [Finding.from_json(each) for each in page.get("findings", ())]
    drawn = graph_svg(graph, taken=taken, states=step_states(view), theme=theme, findings=findings)
    return fallback_html(page, drawn, theme=theme, images=images)


def step_states(view: dict[str, Any]) -> dict[str, str]:
    """Give what each Step of a run is: `running`, `done` or `failed`; the newest execution says."""
    states: dict[str, str] = {}
    for step in view["steps"].values():
        if step["ended_at"] is None:
            states[step["step_type"]] = "running"
        else:
            failed = step["outcome"] in ("failed", "force_fail")
            states[step["step_type"]] = "failed" if failed else "done"
    return states
