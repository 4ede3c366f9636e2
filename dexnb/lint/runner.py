"""Asks the rules about Flows that are alive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from dexnb.flow.flow import Flow
from dexnb.flow.registry import RegisteredFlow, look_at_flow, read_flow
from dexnb.graph.place import place_of
from dexnb.graph.source import plain_function
from dexnb.graph.still.unit import Unit
from dexnb.lint.facts.problems import problem_of
from dexnb.lint.facts.step import FlowSubject, StepSubject
from dexnb.lint.facts.walk import TooMuch
from dexnb.lint.notices import NOT_JUDGED
from dexnb.lint.registry import rules
from dexnb.lint.rule import Rule
from dexnb.lint.settings import LintSettings
from dexnb.model.finding import Finding, Place

RAISES_FAULTS = False
"""Whether a rule's own fault is raised, as tests want it, instead of becoming a finding."""

Failures = dict[FlowSubject | StepSubject, list[str]]
"""Why something is not judged, or not by every rule."""

_TOO_MUCH = "it is nested too deeply, or calls too much"
_SPLIT = "split it into Steps, or what is nested into parts"


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

    What is nested too deeply, or is too much to be read, is not judged and gets a finding instead,
    which also names the rules that failed.
    """
    failures: Failures = {}
    steps = [step for step in subject.steps if _can_be_read(step, failures)]
    for rule in rules():
        if subject.settings.asks(rule.code, rule.name):
            asked = (subject,) if rule.of == "flow" else steps
            for each in asked:
                yield from _said(rule, each, failures)
    for each, reasons in failures.items():
        if reasons:
            yield _not_judged(each, reasons)


def _can_be_read(step: StepSubject, failures: Failures) -> bool:
    with _told("reading it", failures.setdefault(step, [])):
        for method in step.methods:
            method.polls  # noqa: B018 - read here once, and kept for all rules
    return not failures[step]


def _said(rule: Rule, subject: FlowSubject | StepSubject, failures: Failures) -> list[Finding]:
    found: list[Finding] = []
    with _told(rule.name, failures.setdefault(subject, [])):
        found += rule.findings(subject)
    return found


@contextmanager
def _told(doing: str, reasons: list[str]) -> Iterator[None]:
    """Note what is too much, and a fault of the linter's own, instead of ending the whole lint."""
    try:
        yield
    except (RecursionError, TooMuch):
        reasons.append(_TOO_MUCH)
    except Exception as error:
        if RAISES_FAULTS:
            raise
        # Not its text, which may quote what the code says.
        reasons.append(f"{doing} failed with {type(error).__name__}")


def _not_judged(subject: FlowSubject | StepSubject, reasons: list[str]) -> Finding:
    flow = subject if isinstance(subject, FlowSubject) else subject.of
    owner: Any = flow.flow.flow if isinstance(subject, FlowSubject) else subject.step.step
    function = plain_function(getattr(owner, "execute", None) or owner.get_steps)
    too_much = _TOO_MUCH in reasons
    told = "; ".join(dict.fromkeys(reasons))
    hint = _SPLIT if too_much else "report this fault of the linter; all other rules have judged it"
    return Finding(
        NOT_JUDGED.code,
        NOT_JUDGED.name,
        NOT_JUDGED.severity if too_much else "warning",
        f"{type(owner).__name__} is not judged, or not by every rule: {told}",
        hint,
        Place() if function is None else place_of(function),
        flow.flow.flow_type,
    )


def in_order(findings: Iterable[Finding], units: Iterable[Unit] = ()) -> list[Finding]:
    """Sort findings by place and code, and take each place and code once.

    Args:
        findings: What was found.
        units: The files and cells that were read: a notebook's cells stand in this order.
    """
    first: dict[object, Finding] = {}
    for finding in findings:
        key = (finding.place, finding.code, finding.message if not finding.place.line else "")
        kept = first.get(key)
        # What was found outweighs what could not be told from another Step's way to that place.
        if kept is None or (kept.verdict, finding.verdict) == ("cannot tell", "found"):
            first[key] = finding
    numbers = {(unit.path, unit.cell): number for number, unit in enumerate(units)}

    def rank(each: Finding) -> tuple[str, int, Place, str, str]:
        place = each.place
        return place.path, numbers.get((place.path, place.cell), -1), place, each.code, each.message

    return sorted(first.values(), key=rank)
