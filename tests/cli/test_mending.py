"""`dexnb lint --fix` and `--diff`: what is mended, and what is left alone."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from dexnb.lint import LintReport, lint_paths
from tests.cli.linted import MENDABLE, lint, notebook


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


def test_a_linked_file_is_mended_where_it_is(capsys: pytest.CaptureFixture[str], bad: Path) -> None:
    """The link stays a link."""
    link = bad.with_name("link.py")
    link.symlink_to(bad.name)
    assert lint(capsys, "link.py", "--fix")[0] == 0
    assert link.is_symlink()
    assert "yield heartbeat(number)" in bad.read_text()
    assert sorted(path.name for path in bad.parent.iterdir()) == ["bad.py", "link.py"]
