"""DX207 no-failure-route."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.flow.timeout_step import TIMEOUT_STEP_TYPE
from dexnb.lint.facts.options import is_hidden, place_of_options
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule

_FAILS = "failure_transition"


@rule("DX207", "no-failure-route", "note")
def no_failure_route(step: StepSubject) -> Iterator[Remark]:
    """A polling Step does not say what follows when its time is up.

    What:
        A Step that polls has no on_execute_failure_proceed_to, neither in its own options nor in
        those that a decision gives it. A Step that is itself the recovery of another is the last
        resort and is fine. What follows a wait_for that fails, wait_for_failure says.

    Why:
        When no retry is left the Flow fails, with the text of the last error: fine where FAIL is
        what is meant. But a wait that expires is an answer of its own. The job may still run,
        somebody may have to be told, and no code of the Flow gets to do it.

    Instead:
        Lead to a Step that sees why, and ends the Flow or cleans up::

            return StepOptions(...).on_execute_failure_proceed_to(GiveUp)


            class GiveUp(Step[str]):
                def execute(self, context: Context, input: str) -> StepDecision:
                    error = context.recovery_error
                    return force_fail(f"{input} took too long: {error.error_type}")
    """
    polls = [poll for method, poll in step.polls if method.name == "execute"]
    if not polls or step.step.step_type == TIMEOUT_STEP_TYPE or _is_routed(step):
        return
    hidden = is_hidden(step, "recovery")
    told = not hidden and any(poll.is_poll == "yes" for poll in polls)
    place = place_of_options(step) if step.options is not None else None
    name = step.step.step_type
    yield Remark(
        *(place or (polls[0].node, polls[0].frame)),
        f"nothing follows when {name} gives up: the Flow fails with the text of its last error"
        if told
        else f"it cannot be told what follows when {name} gives up",
        "lead to a Step that says what that means: on_execute_failure_proceed_to(...)",
        verdict="found" if told else "cannot tell",
    )


def _is_routed(step: StepSubject) -> bool:
    """Tell a Step whose failure leads on, or that the failure of another leads to."""
    if step.step.settings.recovery is not None:
        return True
    return any(
        edge.kind == _FAILS and step.node_id in (edge.source, edge.target)
        for edge in step.of.graph.edges
    )
