"""`dexnb graph`: each Flow of files, notebooks and folders, in each format."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dexnb.cli import main
from dexnb.examples.polling import PollingFlow
from dexnb.graph import read_graph
from dexnb.model.flow_graph import FlowGraph
from tests.cli.processes import ROOT

POLLING = ROOT / "dexnb/examples/polling.py"
ORDERS = ROOT / "tests/data/orders.py"


@pytest.fixture
def polling(folder: Path) -> str:
    """Copy the example flow."""
    shutil.copy(POLLING, folder / "polling.py")
    return "polling.py"


def test_a_graph_is_lines_of_steps(capsys: pytest.CaptureFixture[str], polling: str) -> None:
    """With the start, the decisions under their guards, settings, recovery and Streams."""
    assert main(["graph", polling]) == 0
    out = capsys.readouterr().out
    assert out.startswith("PollingFlow  [Valid]  polling.py\n  StartJob  (START)\n")
    assert "    goTo AwaitJob\n" in out
    assert "    gracefulComplete  when job.state is JobState.SUCCEEDED\n" in out
    assert "    on failure -> RecordJobWaitFailure\n" in out
    assert out.endswith("  Streams: JobProgress\n")


def test_json_is_the_document_of_the_live_flow(
    capsys: pytest.CaptureFixture[str], polling: str
) -> None:
    """The same graph is read from the text alone."""
    main(["graph", polling, "--format", "json"])
    found = FlowGraph.from_json(json.loads(capsys.readouterr().out))
    live = read_graph(PollingFlow())
    assert [node.id for node in found.nodes] == [node.id for node in live.nodes]
    assert [edge.id for edge in found.edges] == [edge.id for edge in live.edges]


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("a.svg", b"<svg"),
        ("a.mmd", b"flowchart LR"),
        ("a.dot", b"digraph"),
        ("a.txt", b"PollingFlow"),
        ("a.json", b"{"),
        ("a.png", b"\x89PNG"),
    ],
)
def test_the_suffix_of_the_output_chooses_the_format(
    capsys: pytest.CaptureFixture[str], polling: str, name: str, begins: bytes
) -> None:
    """Nothing is printed."""
    assert main(["graph", polling, "--output", name]) == 0
    assert capsys.readouterr().out == ""
    assert Path(name).read_bytes().lstrip().startswith(begins)


def test_a_folder_gets_a_file_for_each_flow(folder: Path) -> None:
    """Named after the Flow; the colours are as told, the findings badges are optional."""
    shutil.copy(ORDERS, folder / "orders.py")
    arguments = ["orders.py", "--format", "svg", "--theme", "dark", "--no-findings"]
    assert main(["graph", *arguments, "--output", "pictures/"]) == 0
    made = sorted((folder / "pictures").iterdir())
    assert [path.name for path in made] == ["An_order.svg", "Limited.svg", "Parcel.svg"]
    assert all(path.read_text().endswith("</svg>") for path in made)


def test_several_flows_are_no_one_picture(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """One of them can be chosen."""
    shutil.copy(ORDERS, folder / "orders.py")
    assert main(["graph", "orders.py", "--format", "svg"]) == 2
    assert "3 Flows are no one svg: choose one as orders.py:FLOW" in capsys.readouterr().err
    assert main(["graph", "orders.py:Parcel", "--format", "svg"]) == 0
    assert capsys.readouterr().out.startswith("<svg")
    assert main(["graph", "orders.py:Parsel"]) == 2
    assert "there is no Flow 'Parsel' in 'orders.py'" in capsys.readouterr().err


def test_what_needs_attention_makes_the_exit_code_1(
    capsys: pytest.CaptureFixture[str], folder: Path, polling: str
) -> None:
    """So does a file that cannot be read, beside which the others are drawn."""
    text = POLLING.read_text().replace(
        "AwaitJob(self._jobs), RecordJobWaitFailure()", "RecordJobWaitFailure()"
    )
    (folder / "wrong.py").write_text(text)
    assert main(["graph", "wrong.py"]) == 1
    assert "[Needs attention]" in capsys.readouterr().out
    (folder / "wrong.py").write_text("def f(:\n")
    assert main(["graph", "."]) == 1
    captured = capsys.readouterr()
    assert "wrong.py:1" in captured.err
    assert captured.out.startswith("PollingFlow  [Valid]")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere.py",), "there is no file or folder 'nowhere.py'"),
        (("empty.py",), "there is no Flow in empty.py"),
        (("polling.py", "--output", "no/where.svg"), "'no/where.svg' cannot be written"),
    ],
)
def test_a_command_that_cannot_be_done_says_why(
    capsys: pytest.CaptureFixture[str],
    folder: Path,
    polling: str,
    arguments: tuple[str, ...],
    told: str,
) -> None:
    """Exit code 2, and the text names what was given."""
    assert polling in {path.name for path in folder.iterdir()}
    (folder / "empty.py").touch()
    assert main(["graph", *arguments]) == 2
    assert told in capsys.readouterr().err
