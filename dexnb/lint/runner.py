"""Asks the rules about Flows that are alive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dexnb.flow.flow import Flow
from dexnb.flow.registry import RegisteredFlow, look_at_flow, read_flow
from dexnb.lint.facts.problems import problem_of
from dexnb.lint.facts.step import FlowSubject
from dexnb.lint.registry import rules
from dexnb.lint.settings import LintSettings
from dexnb.model.finding import Finding


def lint_flow(
    flow: Flow[Any] | RegisteredFlow, *, settings: LintSettings | None = None
) -> list[Finding]:
    """Give what the rules say about a Flow; runs none of its methods but those that describe it.

    Args:
        flow: The Flow, or what a registry keeps of it.
        settings: What the linter is told; defaults without it.

    Raises:
        FlowDefinitionError: It is no Flow. One that cannot be registered has findings that say so.
    """
    told = settings or LintSettings()
    given: Any = flow
    if isinstance(given, Flow):
        registered, wrong = look_at_flow(given, minimum_heartbeat=0)
        problems = tuple(problem_of(each, registered) for each in wrong)
        return in_order(ask(FlowSubject(registered, told, problems=problems)))
    registered = flow if isinstance(flow, RegisteredFlow) else read_flow(flow, minimum_heartbeat=0)
    return in_order(ask(FlowSubject(registered, told)))


def ask(subject: FlowSubject) -> Iterator[Finding]:
    """Ask every rule that is to be asked about a Flow and its Steps."""
    for rule in rules():
        if not subject.settings.asks(rule.code, rule.name):
            continue
        if rule.of == "flow":
            yield from rule.findings(subject)
        else:
            for step in subject.steps:
                yield from rule.findings(step)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by place and code, and take each place and code once."""
    first: dict[object, Finding] = {}
    for finding in findings:
        key = (finding.place, finding.code, finding.message if not finding.place.line else "")
        kept = first.get(key)
        # What was found outweighs what could not be told from another Step's way to that place.
        if kept is None or (kept.verdict, finding.verdict) == ("cannot tell", "found"):
            first[key] = finding
    return sorted(first.values(), key=lambda each: (each.place, each.code, each.message))
