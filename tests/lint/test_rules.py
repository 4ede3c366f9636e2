"""Each rule finds what is marked in its files, and nothing else; so does every other rule there."""

from __future__ import annotations

from pathlib import Path

import pytest

from dexnb.examples.polling import PollingFlow
from dexnb.lint import lint_flow, lint_paths, lint_text
from dexnb.model.finding import Finding
from tests.house.tree import ROOT
from tests.lint.marks import DATA, SHAPES, marked, shown

FILES = sorted([*DATA.glob("*/*.py"), *SHAPES.glob("*.py")])
BROKEN = SHAPES / "broken.py"


def name_of(path: Path) -> str:
    """Name a file by its folder."""
    return f"{path.parent.name}/{path.name}"


def of(findings: tuple[Finding, ...], path: Path) -> list[Finding]:
    """Give the findings of one file."""
    return [each for each in findings if each.place.path == str(path)]


@pytest.mark.parametrize("path", [path for path in FILES if path != BROKEN], ids=name_of)
def test_the_linter_finds_what_is_marked(path: Path) -> None:
    """Codes, lines and verdicts are those of the marks; the Flows of the file are all read."""
    report = lint_paths([path])
    assert shown(report.findings) == marked(path)
    assert report.flows
    assert report.problems == ()


def test_f_all_a_broken_file_leaves_the_others_as_they_are() -> None:
    """All files in one call, one of them no Python: it is reported, the findings are the same."""
    report = lint_paths([SHAPES, DATA])
    assert [(each.code, each.place.line) for each in of(report.findings, BROKEN)] == [("DX900", 4)]
    for path in FILES:
        if path != BROKEN:
            assert shown(of(report.findings, path)) == marked(path)
    assert len(report.files) == len(FILES)


def test_f_none_ordinary_loops_are_no_polls() -> None:
    """All loops that wait for nobody's state give nothing, and the linter has seen them all."""
    text = (SHAPES / "ordinary.py").read_text("utf-8")
    assert [text.count(f"# {number}: ") for number in range(1, 37)] == [1] * 36
    assert lint_paths([SHAPES / "ordinary.py"]).findings == ()


EXCEPT = """
import asyncio
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from kilns import status

class AwaitKiln(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while await asyncio.wait_for(status(input), 5) == "hot":
            await context.heartbeat()
            try:
                await asyncio.sleep(5)
            {handler}:
                continue
        return graceful_complete()

class Firing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitKiln())
"""


@pytest.mark.parametrize(
    ("handler", "codes"),
    [
        ("except", ["DX306"]),
        ("except BaseException", ["DX306"]),
        ("except asyncio.CancelledError", ["DX306"]),
        ("except Exception", []),
        ("except (OSError, TimeoutError)", []),
    ],
)
def test_f_except_a_bare_handler_around_the_sleep_swallows_cancellation(
    handler: str, codes: list[str]
) -> None:
    """One for Exception does not: a cancellation is none."""
    report = lint_text(EXCEPT.replace("{handler}", handler), path="kiln.py")
    assert [each.code for each in report.findings if each.code == "DX306"] == codes
    assert any(each.code == "DX203" for each in report.findings)


def test_the_examples_are_clean() -> None:
    """Neither their text nor a live Flow of theirs gives a finding."""
    assert lint_paths([ROOT / "dexnb/examples"]).findings == ()
    assert lint_flow(PollingFlow()) == []


def test_the_same_call_gives_the_same_order() -> None:
    """Findings come by place and code, each once, whatever the order of the paths."""
    paths = [DATA / "silent-loop", DATA / "blocking-call"]
    one, other = lint_paths(paths), lint_paths([*reversed(paths), paths[0]])
    assert one.findings == other.findings
    keys = [(each.place, each.code) for each in one.findings]
    assert keys == sorted(set(keys))
