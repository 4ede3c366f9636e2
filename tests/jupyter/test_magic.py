"""`%dexnb`: findings and graphs of the cells that ran, in a real IPython shell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from dexnb.jupyter.findings_shown import FindingsShown
from dexnb.model.finding import Finding, Place

ROOT = Path(__file__).parents[2]
BAD = (ROOT / "tests/data/lint/dropped-output/bad.py").read_text()
GOOD = (ROOT / "dexnb/examples/polling.py").read_text()


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """Give a shell of its own in an empty folder, with the extension loaded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(history_length=0)
    assert made.history_manager is not None
    made.history_manager.enabled = False
    run(made, "%load_ext dexnb")
    yield made
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, text: str) -> Any:
    """Run a cell; what it raises is raised here."""
    result = shell.run_cell(text, store_history=True)  # type: ignore[no-untyped-call]
    result.raise_error()
    return result.result


def test_cells_that_ran_are_linted_by_their_labels(shell: InteractiveShell) -> None:
    """A magic and a shell line in a cell do not disturb it."""
    run(shell, BAD + "\n%who_ls\n!true\n")
    found = run(shell, "%dexnb lint")
    assert {finding.code for finding in found} == {"DX313"}
    assert {finding.place.cell for finding in found} == {"In [2]"}
    assert {finding.place.path for finding in found} == {""}
    assert repr(found).startswith("In [2]:")
    run(shell, BAD.replace("class Counting(", "class Other("))
    assert {finding.flow for finding in run(shell, "%dexnb lint Other")} == {"Other"}


def test_cells_without_a_history_have_the_numbers_that_it_would_give(
    shell: InteractiveShell,
) -> None:
    """As nbval runs them; what a front end runs silently is no cell."""
    shell.run_cell("SILENT = 1", silent=True)  # type: ignore[no-untyped-call]
    shell.run_cell("FIRST = 1")  # type: ignore[no-untyped-call]
    shell.run_cell(BAD)  # type: ignore[no-untyped-call]
    found = shell.run_cell("%dexnb lint").result  # type: ignore[no-untyped-call]
    assert {finding.place.cell for finding in found} == {"In [3]"}


def test_a_corrected_cell_takes_the_place_of_the_first(shell: InteractiveShell) -> None:
    """Names are what the cells made of them in the order in which they ran."""
    run(shell, BAD)
    assert len(run(shell, "%dexnb lint"))
    before = len(run(shell, "%dexnb lint"))
    mended = BAD.replace("            LINES.write", "            yield LINES.write")
    run(shell, mended)
    found = run(shell, "%dexnb lint")
    assert len(found) == before - 1
    assert {finding.place.cell for finding in found} == {"In [5]"}


def test_a_flow_in_several_cells_is_drawn_with_its_findings(shell: InteractiveShell) -> None:
    """The graph is that of the file."""
    head, tail = GOOD.split("class PollingFlow", 1)
    run(shell, head)
    run(shell, f"class PollingFlow{tail}")
    picture = run(shell, "%dexnb graph")
    assert picture.graph.name == "PollingFlow"
    assert picture.graph.valid
    assert run(shell, "%dexnb graph PollingFlow").graph == picture.graph
    assert shell.display_formatter is not None
    shown, _ = shell.display_formatter.format(picture)  # type: ignore[no-untyped-call]
    assert set(shown) == {"text/plain", "text/html", "image/svg+xml"}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("frobnicate", "%dexnb frobnicate is no command"),
        ("graph Other", "there is no Flow or file 'Other'; the cells that ran here define none"),
        ("lint nowhere.py", "there is no Flow or file 'nowhere.py'"),
        ("lint . Counting", "give Flows of the cells, or files and folders"),
        ("explain DX999", "there is no rule 'DX999'"),
    ],
)
def test_a_command_that_cannot_be_done_says_why(
    shell: InteractiveShell, line: str, told: str
) -> None:
    """It is an error of ours, which names what was asked for."""
    with pytest.raises(Exception, match=re.escape(told)) as raised:
        run(shell, f"%dexnb {line}")
    assert type(raised.value).__module__ == "dexnb.errors"


def test_files_are_linted_and_rules_explained(shell: InteractiveShell, tmp_path: Path) -> None:
    """Without a command the commands are listed."""
    (tmp_path / "bad.py").write_text(BAD)
    assert {finding.place.path for finding in run(shell, "%dexnb lint bad.py")} == {"bad.py"}
    assert "Instead:" in str(run(shell, "%dexnb explain dropped-output"))
    assert "%dexnb lint" in str(run(shell, "%dexnb"))


def test_help_lists_the_commands(shell: InteractiveShell) -> None:
    """`%dexnb?` shows them."""
    magic = shell.find_line_magic("dexnb")  # type: ignore[no-untyped-call]
    assert "%dexnb explain RULE" in (magic.__doc__ or "")


def test_findings_are_a_table_whose_text_stays_text() -> None:
    """Names and messages come from sources."""
    hostile = Finding(
        "DX104",
        "unbounded-call",
        "warning",
        "</td><script>alert(1)</script>",
        "\x1b[2J<b>",
        Place("<img>.py", "", 3, 4),
    )
    page = FindingsShown([hostile], "1 file")._repr_html_()
    assert "<script" not in page
    assert "<b>" not in page
    assert "<img" not in page
    assert "&lt;img&gt;.py:3:5" in page
    assert "\x1b" not in repr(FindingsShown([hostile], "1 file"))
    assert FindingsShown([], "1 file")._repr_html_() == "<p>no findings in 1 file</p>"
