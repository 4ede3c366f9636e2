"""DX310 lock-over-wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dexnb.lint.facts.options import is_hidden
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule


@rule("DX310", "lock-over-wait", "warning")
def lock_over_wait(step: StepSubject) -> Iterator[Remark]:
    """A Step holds locks of Attributes while it polls.

    What:
        A method that polls has execute_lock_attributes, or wait_for_lock_attributes where
        wait_for is what polls. Locks of a wait_for that only makes conditions are fine: they are
        given back when the method ends, before the wait begins.

    Why:
        Locks are taken before the method and kept until it ends, through every retry and every
        sleep. All other Steps that need those Attributes wait as long as the poll does.

    Instead:
        Poll without locks, and go to a Step that holds them for a moment::

            return go_to(RecordResult, job.result)  # this one has execute_lock_attributes
    """
    plan: dict[str, Any] = step.step.plan or {}
    for method, poll in step.polls:
        locks = plan.get("locks", {}).get(method.name, ())
        hidden = is_hidden(step, f"{method.name}_lock_attributes")
        if not (locks or hidden):
            continue
        told = bool(locks) and poll.is_poll == "yes"
        yield Remark(
            poll.node,
            poll.frame,
            f"this poll holds the lock of {', '.join(locks)} until it ends"
            if told
            else "it cannot be told whether this poll holds locks until it ends",
            "poll without locks, and lock in the Step that follows",
            verdict="found" if told else "cannot tell",
        )
