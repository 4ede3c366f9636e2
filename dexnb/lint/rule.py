"""`Rule` and `@rule`: one thing that the linter looks for, with its page.

A rule is a function in a file of its own under `rules/`, named after it. It gets a `StepSubject`,
or a `FlowSubject` if it is made with `of="flow"`, and gives a `Remark` for each place. Its
docstring is its page: a summary, then the sections What, Why and Instead.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from dexnb.graph.frames import Frame
from dexnb.lint.facts.step import FlowSubject, StepSubject
from dexnb.lint.ignores import read_ignores
from dexnb.lint.places import lines_of, place_of
from dexnb.model.finding import Finding, FindingSeverity, Fix, Place, Verdict


@dataclass(frozen=True, slots=True)
class Remark:
    """What a rule says about one place, before the rule's own name is put to it.

    Args:
        node: Where; None for what is in no function.
        frame: The function that it is of.
        message: What is wrong there.
        hint: What to do instead.
        verdict: Whether it was found, or could not be told.
        severity: How much it matters, where not as much as the rule says.
        fix: Edits that are safe to apply.
        place: Where, for what is in no function.
        node_id: The graph's node that carries its badge, where it is not the Step's own.
    """

    node: ast.AST | None
    frame: Frame | None
    message: str
    hint: str = ""
    verdict: Verdict = "found"
    severity: FindingSeverity | None = None
    fix: Fix | None = None
    place: Place = field(default_factory=Place)
    node_id: str = ""


Check = Callable[[Any], Iterator[Remark]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule.

    Args:
        code: Its stable code, `DX101`.
        name: Its stable name, `timer-self-loop`.
        severity: How much a finding of it matters, where it does not say otherwise.
        page: Its page: a summary, then What, Why and Instead.
        of: What it is asked about.
        check: The function.
    """

    code: str
    name: str
    severity: FindingSeverity
    page: str
    of: Literal["step", "flow"]
    check: Check

    @property
    def summary(self) -> str:
        """The first line of its page."""
        return self.page.partition("\n")[0]

    def findings(self, subject: StepSubject | FlowSubject) -> Iterator[Finding]:
        """Ask it about a Step or a Flow."""
        flow = subject.of.flow if isinstance(subject, StepSubject) else subject.flow
        node_id = subject.node_id if isinstance(subject, StepSubject) else ""
        for remark in self.check(subject):
            place = remark.place
            if remark.node is not None and remark.frame is not None:
                place = place_of(remark.node, remark.frame)
                text = "\n".join(line.rstrip("\n") for line in lines_of(remark.frame))
                if read_ignores(text).silences(place.line, self.code, self.name):
                    continue
            yield Finding(
                self.code,
                self.name,
                remark.severity or self.severity,
                remark.message,
                remark.hint,
                place,
                flow.flow_type,
                remark.node_id or node_id,
                remark.verdict,
                remark.fix,
            )


def rule(
    code: str, name: str, severity: FindingSeverity, of: Literal["step", "flow"] = "step"
) -> Callable[[Check], Rule]:
    """Make a rule of a function; its docstring becomes the page."""

    def make(check: Check) -> Rule:
        return Rule(code, name, severity, inspect.getdoc(check) or "", of, check)

    return make
