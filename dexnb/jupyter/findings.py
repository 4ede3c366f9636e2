"""What a Lab's page warns of before anything goes wrong, as findings of one form.

Those of the linter are of the code; whether rounds fit their heartbeat_timeout is judged by the
values that the run has, or the next one would begin with, and told at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dexnb.graph.knob_values import KnobValues
from dexnb.jupyter.judgement import Judgement
from dexnb.model.budget import GRAIN, Window, seconds_text
from dexnb.model.finding import SEVERITIES, Finding, Place, Verdict
from dexnb.model.flow_graph import Diagnostic, FlowGraph, Node
from dexnb.model.shown import cut

WINDOW = ("DX201", "window-rule")
MOST = 100
"""Findings on a page."""

_LONGEST = 1000
_CANNOT_TELL: Verdict = "cannot tell"
_DIAGNOSED: dict[str, tuple[str, str]] = {
    "unreachable_step": ("DX401", "unreachable-step"),
    "unused_resource": ("DX402", "unused-resource"),
    "unknown_step_target": ("DX403", "unknown-target"),
    "unknown_resource": ("DX403", "unknown-target"),
    "dynamic_step_target": ("DX403", "unknown-target"),
    "dynamic_resource_name": ("DX403", "unknown-target"),
    "dynamic_subflow": ("DX403", "unknown-target"),
}
_HIDDEN = ("DX404", "hidden-definition")


def page_findings(
    judgement: Judgement, graph: FlowGraph, overrides: Mapping[str, Any], *, margin: float
) -> list[Finding]:
    """Give all that is known against a Flow, the worst first.

    Args:
        judgement: Of the linter; what it does not say yet is missing.
        graph: The Flow's.
        overrides: The values of its knobs.
        margin: Seconds that a round leaves free before the heartbeat deadline.
    """
    values = KnobValues(graph, overrides, margin)
    live = {node.id for node in values.steps if values.window(node) is not None}
    places = {each.node: each.place for each in judgement.findings if _is_window(each, live)}
    found = [each for each in judgement.findings if not _is_window(each, live)]
    found += _windows(values, graph, judgement, places)
    # What a rule has looked at it says better, or was told not to say.
    found += (each for each in diagnosed(graph) if each.code not in judgement.judged)
    return sorted(found, key=lambda each: (SEVERITIES.index(each.severity), each.place, each.code))[
        :MOST
    ]


def other_input(text: str) -> Finding:
    """Make the finding that an open run goes on with another input."""
    return Finding("input", "other-input", "warning", text)


def diagnosed(graph: FlowGraph) -> list[Finding]:
    """Give what the reader of a graph could not make out as findings."""
    return [_diagnosed(each, graph) for each in graph.diagnostics]


def _diagnosed(diagnostic: Diagnostic, graph: FlowGraph) -> Finding:
    code, name = _DIAGNOSED.get(diagnostic.code, _HIDDEN)
    unsure = (code, name) == _HIDDEN or diagnostic.code.startswith("dynamic")
    return Finding(
        code,
        name,
        diagnostic.severity,
        diagnostic.message,
        place=Place(diagnostic.path, "", diagnostic.line),
        flow=graph.name,
        verdict=_CANNOT_TELL if unsure else "found",
    )


def _is_window(finding: Finding, live: set[str]) -> bool:
    """Tell whether a finding is of the values that the code has where a run may have others."""
    return finding.code == WINDOW[0] and finding.verdict == "found" and finding.node in live


def _windows(
    values: KnobValues, graph: FlowGraph, judgement: Judgement, places: Mapping[str, Place]
) -> Iterator[Finding]:
    """Name each Step whose rounds do not fit its heartbeat_timeout, the values and the knobs."""
    for node in values.steps:
        window = values.window(node)
        if window is None or window.holds:
            continue
        sleep = values.timing(node, "sleep")
        line = 0 if sleep is None else sleep.line
        yield Finding(
            *WINDOW,
            "error",
            f"{node.name} breaks the window rule: {_sides(window)}; {window.problem}",
            _hint(values, node, window),
            places.get(node.id) or judgement.sources.of_step(node, line),
            graph.name,
            node.id,
        )


def _sides(window: Window) -> str:
    interval, call = seconds_text(window.interval), seconds_text(window.call_timeout)
    heartbeat, margin = seconds_text(window.heartbeat_timeout), seconds_text(window.margin)
    return (
        f"interval {interval} + call timeout {call} is over "
        f"heartbeat_timeout {heartbeat} - margin {margin}"
    )


def _hint(values: KnobValues, node: Node, window: Window) -> str:
    """Name the knobs that mend a window by themselves, with the values that they need."""
    ways = []
    for name in values.names:
        if node not in values.touched(name):
            continue
        by = {feed: values.slope(node, feed, name) for feed in ("sleep", "call_timeout")}
        slope = values.slope(node, "heartbeat_timeout", name) - sum(by.values())
        if abs(slope) < GRAIN:
            continue
        limit = round(values.value(name) - window.slack / slope, 6)
        if slope > 0 or limit > 0:
            ways.append(f"{name} to at {'least' if slope > 0 else 'most'} {limit:g} s")
    return f"turn {', or '.join(ways)}" if ways else ""


def sent(finding: Finding) -> dict[str, Any]:
    """Give a finding as it is sent to a page: long texts are cut."""
    message, hint = cut(finding.message, _LONGEST), cut(finding.hint, _LONGEST)
    return replace(finding, message=message, hint=hint).to_json()
