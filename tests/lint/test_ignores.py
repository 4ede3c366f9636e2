"""Comments that silence rules, on a line, for a statement, a file or a cell."""

from __future__ import annotations

import pytest

from dexnb.graph import read_source
from dexnb.lint import LintSettings
from dexnb.lint.ignores import read_ignores
from dexnb.lint.paths import lint_reading
from tests.lint.marks import Marks, shown

FLOW = '''"""A Flow."""
{top}
from __future__ import annotations

import asyncio

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from sources import Source


class Wait(Step[str]):
    def __init__(self, source: Source) -> None:
        self.source = source

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:{loop}
            job = await self.source.status({first}
                input{last}
            )
            if job.done:
                return graceful_complete()
            await asyncio.sleep(1)


class Waiting(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Wait(Source()))
'''
LOOP, CALL, SLEEP = 16, 17, 22
PLACES = {"top": "", "loop": "", "first": "", "last": ""}
ROUTE, ROUND = (LOOP, "DX207"), (SLEEP, "DX201?")
ALL: Marks = [(LOOP, "DX103"), (LOOP, "DX203"), (CALL, "DX104"), ROUTE, ROUND]


def found(**comments: str) -> Marks:
    """Lint the Flow with comments at some places."""
    reading = read_source(FLOW.format(**{**PLACES, **comments}))
    return shown(lint_reading(reading, LintSettings()))


def test_without_a_comment_all_is_said() -> None:
    """The Flow has something to silence."""
    assert found() == sorted(ALL)


@pytest.mark.parametrize(
    ("place", "comment", "left"),
    [
        ("loop", "ignore[DX103]", [(CALL, "DX104"), (LOOP, "DX203"), ROUTE, ROUND]),
        ("loop", "ignore[silent-loop, DX203]", [(CALL, "DX104"), ROUTE, ROUND]),
        ("loop", "ignore", [(CALL, "DX104"), ROUND]),
        ("first", "ignore[unbounded-call]", [(LOOP, "DX103"), (LOOP, "DX203"), ROUTE, ROUND]),
        ("first", "ignore[DX103]", ALL),
        ("top", "ignore[DX103, unbounded-call]", [(LOOP, "DX203"), ROUTE, ROUND]),
        ("top", "ignore", []),
        (
            "loop",
            "ignore[DX103] the source beats",
            [(CALL, "DX104"), (LOOP, "DX203"), ROUTE, ROUND],
        ),
        ("loop", "ignore[DX103] # dexnb: ignore[DX203]", [(CALL, "DX104"), ROUTE, ROUND]),
        ("loop", "ignore  # the source beats", [(CALL, "DX104"), ROUND]),
    ],
)
def test_a_comment_silences_what_it_names(place: str, comment: str, left: Marks) -> None:
    """By code or by name, on its line or before the first statement."""
    space = "" if place == "top" else "  "
    assert found(**{place: f"{space}# dexnb: {comment}"}) == sorted(left)


def test_a_comment_may_stand_behind_another() -> None:
    """Other tools have theirs on the same line."""
    said = found(first="  # noqa: E501 # dexnb: ignore[unbounded-call]")
    assert said == sorted([(LOOP, "DX103"), (LOOP, "DX203"), ROUTE, ROUND])


@pytest.mark.parametrize(
    "said",
    [
        "ignore[DX104",
        "ignore [DX104]",
        "ignore(DX104)",
        "ignore[[DX104]]",
        "ignore[DX104], ignore[DX103]",
        "ignore[]",
        "ignore: DX104",
        "ignored",
        "IGNORE[DX104]",
        "ignore comments are explained in the handbook",
    ],
)
@pytest.mark.parametrize("place", ["top", "first"])
def test_a_mistyped_comment_silences_nothing_and_is_reported(said: str, place: str) -> None:
    """What was meant for one rule is not taken for all of them."""
    text = FLOW.format(**{**PLACES, place: f"# dexnb: {said}"})
    findings = lint_reading(read_source(text), LintSettings())
    mistyped = [each for each in findings if each.code == "DX901"]
    assert [each.place.line for each in mistyped] == [2 if place == "top" else CALL]
    assert repr(said) in mistyped[0].message
    assert shown(each for each in findings if each.code != "DX901") == sorted(ALL)


def test_a_text_that_looks_like_a_comment_silences_nothing() -> None:
    """Only comments count, wherever the words stand."""
    text = FLOW.format(**PLACES).replace("A Flow.", "# dexnb: ignore")
    assert shown(lint_reading(read_source(text), LintSettings())) == sorted(ALL)


def test_a_comment_on_another_line_of_the_file_is_for_that_line() -> None:
    """Alone on a line after the first statement it silences nothing."""
    text = FLOW.format(**PLACES).replace("import asyncio\n", "import asyncio  \n# dexnb: ignore\n")
    said = shown(lint_reading(read_source(text), LintSettings()))
    assert said == [(line + 1, code) for line, code in sorted(ALL)]


def test_a_name_that_is_no_rule_is_reported() -> None:
    """A misspelt code would silence nothing, and nobody would know."""
    text = FLOW.format(**{**PLACES, "top": "# dexnb: ignore[DX999]"})
    said = lint_reading(read_source(text), LintSettings())
    unknown = [each for each in said if each.code == "DX901"]
    assert [each.place.line for each in unknown] == [2]
    assert "'DX999'" in unknown[0].message
    assert len(said) == len(ALL) + 1


@pytest.mark.parametrize("end", ["\f", "\x1c", "\u2028", "\x85"])
def test_only_pythons_own_line_ends_count(end: str) -> None:
    """A form feed or a Unicode separator ends no line, so that what is behind is not alone."""
    head = f'"""{end}\n\nA Flow."""'
    text = FLOW.format(**PLACES).replace('"""A Flow."""', f"{head}  # dexnb: ignore", 1)
    said = shown(lint_reading(read_source(text), LintSettings()))
    assert said == [(line + 2, code) for line, code in sorted(ALL)]
    assert read_ignores(f"{head}\n# dexnb: ignore[DX103]\n").everywhere == {"DX103"}
