"""DX308 unhandled-terminal-state."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dexnb.graph.frames import Frame
from dexnb.graph.redact import code_text
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.pollers import poller_of
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.spots import Around
from dexnb.lint.facts.states import NOTHING, Atom, atoms_of, members
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.facts.words import FAILURE, GOOD, PENDING, SUCCESS, split
from dexnb.lint.rule import Remark, rule

_HINT = "end the wait on every state from which the job does not come back, and say how it went"

_LONGEST = 60
_MOST = 5
"""States that one message names."""


@rule("DX308", "unhandled-terminal-state", "warning")
def unhandled_terminal_state(step: StepSubject) -> Iterator[Remark]:
    """A poll does not end on every state that is final, or ends on one that is not.

    What:
        Only success ends the loop; or a member of the Enum that looks final ends it nowhere; or
        the loop is left as soon as the state is not `running`, which a queued job is not either.
        The same is asked of the condition that a library's poller gets.

    Why:
        A job that has failed is polled until the time is up, and the run then says "timed out"
        where it could have said why. A job that is only queued is taken for done.

    Instead:
        Name the final states, and let each lead somewhere::

            if job.state is JobState.SUCCEEDED:
                return graceful_complete(job.result)
            if job.state in (JobState.FAILED, JobState.CANCELLED):
                return force_fail(job.error)
    """
    for method, poll in step.polls:
        atoms = [atom for test in _ends(poll) for atom in _asked(test, method)]
        if atoms:
            yield from _judge(atoms, poll.node, poll.frame, sure=poll.is_poll == "yes")
    for method in step.methods:
        yield from _of_pollers(method)


def _of_pollers(method: MethodFacts) -> Iterator[Remark]:
    for call in method.spots.calls:
        if poller_of(call):
            for argument in call.call.args[:1]:
                if isinstance(argument, ast.Lambda):
                    atoms = list(atoms_of(argument.body, call.frame))
                    yield from _judge(atoms, argument, call.frame, sure=True)


def _ends(poll: Poll) -> list[Around]:
    """Give the tests that end a poll, without those that a later way out has failed before."""
    taken = {test.node for test in poll.tests if test.passed}
    return [test for test in poll.tests if test.passed or test.node not in taken]


def _asked(test: Around, method: MethodFacts) -> list[Atom]:
    """Take apart a test that comes from what was asked."""
    atoms = list(atoms_of(test.node, test.frame, passed=test.passed))
    case = isinstance(test.node, ast.match_case)
    atoms = [atom for atom in atoms if NOTHING not in atom.words]
    return [atom for atom in atoms if case or _comes_from_asking(atom, method)]


def _comes_from_asking(atom: Atom, method: MethodFacts) -> bool:
    return bool(method.from_foreign(atom.node, atom.frame)) or bool(atom.states)


def _judge(atoms: Sequence[Atom], node: ast.AST, frame: Frame, *, sure: bool) -> Iterator[Remark]:
    message, told = _missing(atoms) or _only_success(atoms) or _too_early(atoms) or ("", False)
    if message:
        verdict = "found" if told and sure else "cannot tell"
        yield Remark(node, frame, message, _HINT, verdict=verdict)  # type: ignore[arg-type]


def _named(atoms: Sequence[Atom]) -> frozenset[str]:
    return frozenset().union(*(atom.states for atom in atoms))


def _missing(atoms: Sequence[Atom]) -> tuple[str, bool] | None:
    """Look for members of the Enum that end nothing though they look final."""
    ends = [atom for atom in atoms if atom.among and atom.states]
    all_ = members(kind for atom in ends for kind in atom.kinds)
    if len(ends) < len([atom for atom in atoms if atom.states]) or _other_ways(atoms):
        return None
    lost = sorted(name for name in all_ - _named(ends) if split(name) & FAILURE)
    if not lost:
        return None
    return f"{_listed(lost)} ends this wait nowhere: it goes on until the time is up", True


def _other_ways(atoms: Sequence[Atom]) -> bool:
    """Tell whether a test that compares with no state may end the wait for the others."""
    return any(not atom.states and not atom.words & GOOD for atom in atoms)


def _only_success(atoms: Sequence[Atom]) -> tuple[str, bool] | None:
    """Look for a wait that success alone ends."""
    if any(not atom.among for atom in atoms) or _other_ways(atoms):
        return None
    states = _named(atoms)
    words = frozenset().union(*(split(state) for state in states))
    good = words & SUCCESS or any(atom.words & GOOD for atom in atoms)
    if words & FAILURE or not good or any(split(state) & PENDING for state in states):
        return None
    if states and any(not split(state) & (SUCCESS | GOOD) for state in states):
        # Another end has a name that says nothing to us, as `BURNT`.
        return None
    return "only success ends this wait: a job that has failed is polled until the time is up", True


def _too_early(atoms: Sequence[Atom]) -> tuple[str, bool] | None:
    """Look for a wait that ends as soon as the state is not the one named."""
    for atom in atoms:
        words = frozenset().union(*(split(state) for state in atom.states))
        if atom.among or not words & PENDING or words & FAILURE:
            continue
        others = sorted(name for name in members(atom.kinds) - atom.states if split(name) & PENDING)
        only = _listed(sorted(atom.states), code_text(atom.node))
        if others:
            return f"this wait ends when the state is not {only}: {_listed(others)} too", True
        if len(atom.states) == 1 and not atom.kinds:
            message = f"this wait ends on every state but {only}: it cannot be told whether a "
            return message + "queued job counts as done", False
    return None


def _listed(states: Sequence[str], about: str = "") -> str:
    """Write states, of which a text that the code compares with may be anything."""
    written = (code_text(ast.Constant(state), _LONGEST, about=about) for state in states[:_MOST])
    told = [text.strip("'\"") for text in written]
    return ", ".join([*told, "…"] if len(states) > _MOST else told)
