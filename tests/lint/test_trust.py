"""What no code may do to the linter: stop it, stall it, or be kept alive by it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from weakref import ref

import pytest

from dexnb import Flow, StepList
from dexnb.lint import lint_flow, rules, runner
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark
from tests.lint.marks import shown
from tests.lint.slow_poll import Await
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


@pytest.mark.parametrize(
    "call", ["asyncio.to_thread(functools.partial())", "asyncio.to_thread(partial())"]
)
def test_a_partial_of_nothing_is_judged(call: str) -> None:
    """Code that is half written, in an editor or a notebook, is linted all the same."""
    text = poll("import functools\nfrom functools import partial", behind=f"await {call}")
    assert shown(said(text, ["DX103", "DX201", "DX207"])) == shown(
        said(poll("\n"), ["DX103", "DX201", "DX207"])
    )


def test_a_rule_that_fails_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name and the Step are told, and so is what all other rules find."""

    def fails(step: StepSubject) -> Iterator[Remark]:
        raise KeyError("secret")

    text = poll(loop="while True", sleep="500")
    whole = said(text, [rule.code for rule in rules()])
    broken = tuple(replace(each, check=fails) if each.code == "DX201" else each for each in rules())
    monkeypatch.setattr(runner, "rules", lambda: broken)
    with pytest.raises(KeyError):
        said(text, ["DX902"])
    monkeypatch.setattr(runner, "RAISES_FAULTS", False)
    (notice,) = said(text, ["DX902"])
    assert "window-rule" in notice.message
    assert "KeyError" in notice.message
    assert "secret" not in notice.message
    assert (notice.severity, notice.place.line > 0) == ("warning", True)
    rest = said(text, [rule.code for rule in rules()])
    assert shown(rest) == [each for each in shown(whole) if each[1] != "DX201"]
    assert len(rest) < len(whole)


class Held(Flow[str]):
    """A Flow whose Step somebody else holds."""

    def __init__(self, step: Await) -> None:
        """Hold it."""
        self.step = step

    def get_steps(self) -> StepList[str]:
        """Give its Step."""
        return StepList.start_step(self.step)


def test_what_was_linted_is_not_kept_alive() -> None:
    """A Step may hold a client, a model, a connection: they go when the user lets go of it."""
    step = Await()
    gone = ref(step)
    assert lint_flow(Held(step))
    del step
    gc.collect()
    assert gone() is None
