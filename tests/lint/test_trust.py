"""What no code may do to the linter: stop it, stall it, or be kept alive by it."""

from __future__ import annotations

import pytest

from tests.lint.marks import shown
from tests.lint.texts import poll, said

UNJUDGED = ("DX900", "DX902")
CODES = ("DX103", "DX104", "DX201", "DX207")


@pytest.mark.parametrize(
    "loop",
    [
        "q = q.copy(); q.send(input)",
        "q = q.next(); q.send(input)",
        "q = q.left or q.right(); r = q.next(r); q = r.next(q); q.send(r)",
    ],
)
def test_a_variable_made_of_itself_is_judged(loop: str) -> None:
    """A list's next item, a query's copy: the Step is judged as any other."""
    text = poll(before="q = r = []", behind=loop.replace("; ", "\n            "))
    assert said(text, UNJUDGED) == []
    assert shown(said(text, CODES)) == shown(said(poll(), CODES))
