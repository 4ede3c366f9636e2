"""Asks the rules about Flows that are alive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dexnb.flow.flow import Flow
from dexnb.flow.registry import RegisteredFlow, look_at_flow, read_flow
from dexnb.graph.place import place_of
from dexnb.graph.source import plain_function
from dexnb.lint.facts.problems import problem_of
from dexnb.lint.facts.step import FlowSubject, StepSubject
from dexnb.lint.facts.walk import TooMuch
from dexnb.lint.registry import NOT_PARSED, rules
from dexnb.lint.rule import Rule
from dexnb.lint.settings import LintSettings
from dexnb.model.finding import Finding, Place


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
    """Ask every rule that is to be asked about a Flow and its Steps.

    What is nested too deeply, or is too much to be read, is not judged and gets a finding instead.
    """
    steps = [step for step in subject.steps if _can_be_read(step)]
    yield from (_too_much(step) for step in subject.steps if step not in steps)
    for rule in rules():
        if subject.settings.asks(rule.code, rule.name):
            asked = (subject,) if rule.of == "flow" else steps
            for each in asked:
                yield from _said(rule, each)


def _can_be_read(step: StepSubject) -> bool:
    try:
        return all(method.polls is not None for method in step.methods)
    except (RecursionError, TooMuch):
        return False


def _said(rule: Rule, subject: FlowSubject | StepSubject) -> list[Finding]:
    try:
        return list(rule.findings(subject))
    except (RecursionError, TooMuch):
        return [_too_much(subject)]


def _too_much(subject: FlowSubject | StepSubject) -> Finding:
    flow = subject if isinstance(subject, FlowSubject) else subject.of
    owner: Any = flow.flow.flow if isinstance(subject, FlowSubject) else subject.step.step
    function = plain_function(getattr(owner, "execute", None) or owner.get_steps)
    code, name = NOT_PARSED
    return Finding(
        code,
        name,
        "error",
        f"{type(owner).__name__} is nested too deeply, or calls too much, to be judged",
        "split it into Steps, or what is nested into parts",
        Place() if function is None else place_of(function),
        flow.flow.flow_type,
    )


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
