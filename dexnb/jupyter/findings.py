"""What a Lab's page warns of before anything goes wrong: broken windows, another run's input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dexnb.graph.knobs import find_budgets
from dexnb.model.budget import Window, seconds_text
from dexnb.model.flow_graph import FlowGraph

Finding = dict[str, Any]


def window_findings(
    graph: FlowGraph, overrides: Mapping[str, Any], *, margin: float
) -> list[Finding]:
    """Name each Step whose rounds do not fit its heartbeat_timeout, with the values and the fix."""
    return [
        finding(
            "window",
            "error",
            f"{budget.step_type} breaks the window rule: {_sides(window)}; {window.problem}",
        )
        for budget in find_budgets(graph, overrides, margin=margin)
        if (window := budget.window) is not None and not window.holds
    ]


def _sides(window: Window) -> str:
    interval, call = seconds_text(window.interval), seconds_text(window.call_timeout)
    heartbeat, margin = seconds_text(window.heartbeat_timeout), seconds_text(window.margin)
    return (
        f"interval {interval} + call timeout {call} is over "
        f"heartbeat_timeout {heartbeat} - margin {margin}"
    )


def finding(code: str, severity: str, message: str) -> Finding:
    """Make a finding in the form of a graph's diagnostics."""
    return {"code": code, "severity": severity, "message": message, "line": 0}
