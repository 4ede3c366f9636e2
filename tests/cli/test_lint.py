"""`dexnb lint`: what it prints in each format, what it mends, and its exit codes."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from dexnb.cli import main
from dexnb.lint.registry import pages
from tests.cli.linted import BAD, MENDABLE, UNSURE, lint, notebook
from tests.cli.processes import ROOT

CODES = [each.code for each in pages()]


def results(text: str) -> list[dict[str, Any]]:
    """Give the results of a SARIF document."""
    found: list[dict[str, Any]] = json.loads(text)["runs"][0]["results"]
    return found


def test_findings_are_lines_that_editors_link(
    capsys: pytest.CaptureFixture[str], bad: Path
) -> None:
    """Path, line, column, severity, code, name, message; then the hint, and a count."""
    code, out = lint(capsys, "bad.py")
    marked = [
        number
        for number, line in enumerate(bad.read_text().splitlines(), 1)
        if "# expect: DX313" in line
    ]
    assert code == 1
    first, hint, *_, last = out.splitlines()
    assert first.startswith(f"bad.py:{marked[0]}:13: error DX313 dropped-output: ")
    assert hint.startswith("    yield it")
    assert last.startswith(f"{len(marked)} errors in 1 file")


def test_a_clean_folder_is_told_with_what_was_read(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """The folder itself is read where no path is given; what is hidden is left out."""
    shutil.copy(ROOT / "dexnb/examples/polling.py", folder / "flow.py")
    (folder / ".hidden").mkdir()
    shutil.copy(BAD, folder / ".hidden/bad.py")
    assert lint(capsys) == (0, "no findings in 1 file\n")


def test_json_holds_every_finding_as_a_document(
    capsys: pytest.CaptureFixture[str], bad: Path
) -> None:
    """Strict JSON, with places and fixes."""
    code, out = lint(capsys, str(bad), "--format", "json")
    document = json.loads(out)
    assert code == 1
    assert document["files"] == 1
    assert {finding["code"] for finding in document["findings"]} == {"DX313"}
    assert document["findings"][0]["fix"]["edits"]


def test_sarif_has_the_rules_the_places_and_the_fixes(
    capsys: pytest.CaptureFixture[str], bad: Path
) -> None:
    """Columns count from 1; each result points into the list of rules."""
    _, out = lint(capsys, "bad.py", "--format", "sarif")
    document = json.loads(out)
    driver = document["runs"][0]["tool"]["driver"]
    assert document["version"] == "2.1.0"
    assert [rule["id"] for rule in driver["rules"]] == CODES
    first = results(out)[0]
    assert driver["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "DX313"
    physical = first["locations"][0]["physicalLocation"]
    line = bad.read_text().splitlines()[physical["region"]["startLine"] - 1]
    assert physical["artifactLocation"]["uri"] == "bad.py"
    assert line[physical["region"]["startColumn"] - 1 :].startswith("heartbeat(")
    change = first["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert change["insertedContent"]["text"] == "yield "


def test_sarif_asks_for_a_review_of_what_cannot_be_told(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """Such a result has the kind `review`, which must have no level."""
    shutil.copy(UNSURE, folder / "unsure.py")
    _, out = lint(capsys, "unsure.py", "--format", "sarif", "--select", "silent-loop")
    kinds = {(result["kind"], result["level"]) for result in results(out)}
    assert ("review", "none") in kinds


def test_github_commands_keep_a_message_on_one_line(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """A path with the characters that end a property is escaped."""
    odd = folder / "a,b:c%.py"
    shutil.copy(BAD, odd)
    _, out = lint(capsys, odd.name, "--format", "github")
    first = out.splitlines()[0]
    assert first.startswith("::error file=a%2Cb%3Ac%25.py,title=DX313 dropped-output,line=")
    assert "::" in first.removeprefix("::error ")


def test_what_cannot_be_told_fails_under_strict_only(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """It is printed either way."""
    text = UNSURE.read_text()
    assert "# expect: DX103?" in text
    (folder / "unsure.py").write_text(text)
    asked = ("unsure.py", "--select", "DX103")
    found = [
        line for line in text.splitlines() if "# expect: DX103" in line and "DX103?" not in line
    ]
    code, out = lint(capsys, *asked)
    assert "(cannot tell)" in out
    assert code == (1 if found else 0)
    assert lint(capsys, *asked, "--strict")[0] == 1


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ((), 1),
        (("--fail-on", "never"), 0),
        (("--ignore", "DX313"), 0),
        (("--ignore", "dropped-output"), 0),
        (("--select", "hot-loop,DX104"), 0),
        (("--select", "hot-loop", "--select", "DX313"), 1),
    ],
)
def test_options_choose_rules_and_what_fails(
    capsys: pytest.CaptureFixture[str], bad: Path, given: tuple[str, ...], code: int
) -> None:
    """By code or by name, several at once or one by one."""
    assert lint(capsys, str(bad), *given)[0] == code


def test_a_project_says_how_it_is_linted(capsys: pytest.CaptureFixture[str], bad: Path) -> None:
    """The nearest pyproject.toml counts, and options outweigh it."""
    project = bad.parent / "pyproject.toml"
    (bad.parent / "build_output").mkdir()
    shutil.copy(bad, bad.parent / "build_output/copy.py")
    project.write_text('[tool.dexnb.lint]\nexclude = ["build_*"]\nselect = ["DX313"]\n')
    _, out = lint(capsys, ".")
    assert out.splitlines()[-1].startswith("4 errors in 1 file")
    project.write_text('[tool.dexnb.lint]\nignore = ["dropped-output"]\nexclude = ["*.py"]\n')
    assert lint(capsys, ".") == (0, "no findings in 0 files\n")


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("selekt = []", "'selekt' is no setting of the linter"),
        ('select = ["DX999"]', "'DX999', which is no rule"),
        ("margin = -1", "margin is -1: give seconds"),
        ('fail-on = "all"', "fail-on is 'all': give one of error"),
        ("strict = 1", "strict is 1: give true or false"),
        ("select = [", "cannot be read"),
    ],
)
def test_a_wrong_setting_is_named_with_its_file(
    capsys: pytest.CaptureFixture[str], bad: Path, table: str, told: str
) -> None:
    """Nothing is linted then: a slip of the pen must not look like an all-clear."""
    (bad.parent / "pyproject.toml").write_text(f"[tool.dexnb.lint]\n{table}\n")
    assert main(["lint", str(bad)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "pyproject.toml" in captured.err
    assert told in captured.err


def test_findings_of_a_notebook_stand_in_the_order_of_its_cells(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """Ids of cells are random."""
    other = (ROOT / "tests/data/lint/timer-self-loop/bad.py").read_text()
    path = notebook(folder / "n.ipynb", MENDABLE, other)
    document = json.loads(path.read_text("utf-8"))
    for cell, name in zip(document["cells"], ("zz", "aa"), strict=True):
        cell["id"] = name
    path.write_text(json.dumps(document), "utf-8")
    _, out = lint(capsys, "n.ipynb", "--format", "json")
    cells = [finding["place"]["cell"] for finding in json.loads(out)["findings"]]
    assert cells == sorted(cells, reverse=True)
    assert set(cells) == {"zz", "aa"}


def test_a_file_whose_name_is_no_text_is_told_of(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """SARIF names it by its bytes."""
    odd = os.fsdecode(os.fsencode(folder) + b"/odd\xff.py")
    Path(odd).write_text(MENDABLE)
    code, out = lint(capsys, ".", "--format", "sarif")
    assert code == 1
    location = results(out)[0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "odd%FF.py"


def test_a_file_that_does_not_parse_is_one_finding_and_the_rest_goes_on(
    capsys: pytest.CaptureFixture[str], bad: Path
) -> None:
    """The broken one is DX900, and makes the command fail."""
    _, alone = lint(capsys, "bad.py")
    (bad.parent / "broken.py").write_text("def f(:\n")
    code, out = lint(capsys, ".", "--select", "DX900,DX313")
    assert code == 1
    assert "broken.py:1:" in out
    assert "DX900 not-parsed" in out
    assert [line for line in out.splitlines() if "bad.py" in line] == [
        line for line in alone.splitlines() if "bad.py" in line
    ]


def test_standard_input_is_read_under_a_name(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an editor hands a file over that it has not saved."""
    stdin = io.TextIOWrapper(io.BytesIO(BAD.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    code, out = lint(capsys, "-", "--stdin-filename", "flows/new.py")
    assert code == 1
    assert out.startswith("flows/new.py:")
    assert not any(folder.iterdir())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere.py",), "there is no file or folder 'nowhere.py'"),
        (("-", "--fix"), "give it alone"),
        (("--explain", "DX999"), "there is no rule 'DX999'"),
        ((".", "--select", "DX999"), "'DX999', which is no rule"),
        ((".", "--output", "missing/report.json"), "'missing/report.json' cannot be written"),
    ],
)
def test_a_command_that_cannot_be_done_says_why(
    capsys: pytest.CaptureFixture[str], folder: Path, arguments: tuple[str, ...], told: str
) -> None:
    """Exit code 2, and the text names what was given."""
    assert main(["lint", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_output_goes_to_a_file(capsys: pytest.CaptureFixture[str], bad: Path) -> None:
    """Nothing is printed then."""
    code, out = lint(capsys, "bad.py", "--format", "sarif", "--output", "report.sarif")
    assert (code, out) == (1, "")
    assert results(Path("report.sarif").read_text())


def test_rules_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """The list has every rule; a page has its three sections."""
    _, listed = lint(capsys, "--rules")
    assert [line.split()[0] for line in listed.splitlines()] == CODES
    _, page = lint(capsys, "--explain", "hot-loop")
    assert all(f"\n{section}:\n" in page for section in ("What", "Why", "Instead"))


def test_names_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """A path with an escape sequence is printed without it."""
    odd = folder / "a\x1b[2Jb.py"
    shutil.copy(BAD, odd)
    _, out = lint(capsys, odd.name)
    assert "\x1b" not in out
