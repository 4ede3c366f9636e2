"""A helper of Steps that stands in a module of its own."""

from __future__ import annotations

from dexnb import StepDecision, force_fail, go_to
from tests.graph.forms import A, B


def elsewhere(input: int) -> StepDecision:
    """Decide for a Step of another module."""
    if input % 3 == 0:
        return go_to(A, input)
    return go_to(B, input) if input % 3 == 1 else force_fail("two")
