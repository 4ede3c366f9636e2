"""A Step that knows when to try again says so; what failed stays what failed."""

from __future__ import annotations

from typing import Any

import pytest

from dexnb import RetryAfterError, retry_after
from dexnb.errors import DefinitionError
from dexnb.flow.mapping import failure_of
from dexnb.model.decision import Failure


def test_the_cause_is_what_is_recorded() -> None:
    """A recovery Step sees it, and not what carried it; in layers too."""
    cause = KeyError("k")
    error = retry_after(7, cause)
    assert isinstance(error, RetryAfterError)
    assert (error.after_seconds, error.cause, error.__cause__) == (7.0, cause, cause)
    assert str(error) == "'k'"
    assert failure_of(error) == Failure("builtins.KeyError", "'k'")
    assert failure_of(retry_after(0.5, error)) == Failure("builtins.KeyError", "'k'")
    assert str(retry_after(1, TimeoutError())) == "TimeoutError"


DELAYS = [0, -1, -0.0, float("nan"), float("inf"), 1e300, 10**5000, True, "5", None]


@pytest.mark.parametrize("delay", DELAYS, ids=[str(index) for index in range(len(DELAYS))])
def test_a_delay_that_cannot_be_waited_for_is_refused(delay: Any) -> None:
    """With what is, and never by another error."""
    fix = "give a number of seconds above 0 and at most 100 years"
    with pytest.raises(DefinitionError, match=rf"^retry_after after_seconds is .*: {fix}$"):
        retry_after(delay, ValueError("x"))


def test_the_smallest_delay_is_taken() -> None:
    """Fractions of a second too."""
    assert retry_after(1e-3, ValueError("x")).after_seconds == 0.001
