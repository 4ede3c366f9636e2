"""`dexnb lint`: what it prints in each format, what it mends, and its exit codes."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from dexnb.cli import main
from dexnb.lint import LintReport, lint_paths
from dexnb.lint.registry import pages
from tests.cli.processes import ROOT

BAD = ROOT / "tests/data/lint/dropped-output/bad.py"
_HOPELESS = "            heartbeat(number)  # expect: DX313\n        return go_to(CountInAGenerator"
MENDABLE = BAD.read_text().replace(
    _HOPELESS, "            print(number)\n        return go_to(CountInAGenerator"
)
"""The same without the one finding that no edit mends: a plain Step that would have to yield."""
UNSURE = ROOT / "tests/data/lint/silent-loop/cannot_tell.py"

CODES = [each.code for each in pages()]


def lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Lint, and give the exit code and what was printed."""
    code = main(["lint", *arguments])
    return code, capsys.readouterr().out


def results(text: str) -> list[dict[str, Any]]:
    """Give the results of a SARIF document."""
    found: list[dict[str, Any]] = json.loads(text)["runs"][0]["results"]
    return found


@pytest.fixture
def bad(folder: Path) -> Path:
    """Write a file with findings of one rule, all of which can be mended."""
    path = folder / "bad.py"
    path.write_text(MENDABLE)
    return path


def notebook(path: Path, *cells: str, as_text: bool = False) -> Path:
    """Write a notebook with code cells."""
    written: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "source": text if as_text else text.splitlines(keepends=True),
        }
        for number, text in enumerate(cells)
    ]
    document = {"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(f"{json.dumps(document, indent=1, ensure_ascii=False)}\n", "utf-8")
    return path


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


def test_fix_mends_and_reports_what_is_left(capsys: pytest.CaptureFixture[str], bad: Path) -> None:
    """Line ends, encoding and mode stay; a second run has nothing to mend."""
    text = bad.read_text().replace("\n", "\r\n")
    bad.write_bytes(b"# coding: latin-1\r\n# \xe9\r\n" + text.encode("latin-1"))
    bad.chmod(0o640)
    code, out = lint(capsys, "bad.py", "--fix")
    data = bad.read_bytes()
    assert code == 0, out
    assert b"yield heartbeat(number)" in data
    assert data.startswith(b"# coding: latin-1\r\n# \xe9\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")
    assert stat.S_IMODE(bad.stat().st_mode) == 0o640
    assert lint(capsys, "bad.py", "--fix")[0] == 0
    assert bad.read_bytes() == data


def test_diff_shows_and_changes_nothing(capsys: pytest.CaptureFixture[str], bad: Path) -> None:
    """As a unified diff."""
    before = bad.read_text()
    code, out = lint(capsys, "bad.py", "--diff")
    assert code == 1
    assert out.startswith("--- a/bad.py\n+++ b/bad.py\n")
    assert "+            yield heartbeat(number)" in out
    assert bad.read_text() == before


@pytest.mark.parametrize("as_text", [False, True])
def test_a_cell_is_mended_and_the_notebook_stays(
    capsys: pytest.CaptureFixture[str], folder: Path, as_text: bool
) -> None:
    """Only the source of that cell changes; findings name the cell."""
    path = notebook(folder / "n.ipynb", "%time\n!ls é", MENDABLE, as_text=as_text)
    before = json.loads(path.read_text("utf-8"))
    code, out = lint(capsys, "n.ipynb")
    assert code == 1
    assert out.startswith("n.ipynb:cell cell-1:")
    assert lint(capsys, "n.ipynb", "--fix")[0] == 0
    after = json.loads(path.read_text("utf-8"))
    assert after["cells"][0] == before["cells"][0]
    source: str | list[str] = after["cells"][1]["source"]
    assert isinstance(source, str) is as_text
    assert "yield heartbeat(number)" in "".join(source)


def test_cells_of_one_id_are_told_apart(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """Notebooks that were put together by hand have them; each cell keeps its own text."""
    path = notebook(folder / "n.ipynb", "KEEP = 1", MENDABLE, "KEEP = 2")
    document = json.loads(path.read_text("utf-8"))
    for cell in document["cells"]:
        cell["id"] = "same"
    path.write_text(json.dumps(document), "utf-8")
    assert lint(capsys, "n.ipynb", "--fix")[0] == 0
    first, second, third = json.loads(path.read_text("utf-8"))["cells"]
    assert (first["source"], third["source"]) == (["KEEP = 1"], ["KEEP = 2"])
    assert "yield heartbeat(number)" in "".join(second["source"])


def test_a_file_that_changes_meanwhile_is_mended_by_its_newest_text(
    capsys: pytest.CaptureFixture[str], bad: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit by places of an older text would garble it."""

    def report(*given: Any, **settings: Any) -> LintReport:
        found = lint_paths(*given, **settings)
        if not bad.read_text().startswith("#"):
            bad.write_text("# one line more\n" + MENDABLE)
        return found

    monkeypatch.setattr("dexnb.cli.lint.command.lint_paths", report)
    lint(capsys, "bad.py", "--fix")
    assert bad.read_text().startswith("# one line more\n")
    assert bad.read_text().count("yield heartbeat(number)") == 3
    compile(bad.read_text(), "bad.py", "exec")


def test_only_files_that_were_named_are_mended(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """A helper in a file beside has its finding, and stays."""
    helper = "            self._report(context, number)"
    base = MENDABLE.replace("class Counting(", "class Base(")
    (folder / "base.py").write_text(base)
    user = "from base import Base\n\n\nclass Uses(Base):\n    pass\n"
    (folder / "uses.py").write_text(user)
    assert helper in base
    lint(capsys, "uses.py", "--fix")
    assert (folder / "base.py").read_text() == base


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


def test_a_linked_file_is_mended_where_it_is(capsys: pytest.CaptureFixture[str], bad: Path) -> None:
    """The link stays a link."""
    link = bad.with_name("link.py")
    link.symlink_to(bad.name)
    assert lint(capsys, "link.py", "--fix")[0] == 0
    assert link.is_symlink()
    assert "yield heartbeat(number)" in bad.read_text()
    assert sorted(path.name for path in bad.parent.iterdir()) == ["bad.py", "link.py"]


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
