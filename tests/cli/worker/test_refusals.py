"""What `dexnb worker` refuses before it starts any process."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from dexnb.cli import main
from tests.cli.worker.workers import write_flow


@pytest.fixture(autouse=True)
def flow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a Flow there, and no store into the environment."""
    write_flow(folder)
    monkeypatch.delenv("DEXNB_STORE", raising=False)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["wait.py"], "there is no store: give --store URL, or set DEXNB_STORE"),
        (["wait.py", "--store", "memory:"], "--store memory: is inside one process"),
        (["wait.py", "--store", "mysql://me:pw@host/db"], "no store is known for mysql://"),
        (["nope.py", "--store", "w.db"], "there is no file 'nope.py'"),
        (["no_such:F", "--store", "w.db"], "there is no module 'no_such'"),
        (
            ["wait.py", "--store", "w.db", "--health-port", "0", "--health-host", "no host"],
            "--health-host 'no host' is no address of this machine",
        ),
    ],
)
def test_what_cannot_be_served_is_one_message(
    capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    """Exit code 2, what is wrong and what to give; no password."""
    assert main(["worker", *arguments]) == 2
    text = capsys.readouterr().err
    assert text.startswith(f"dexnb worker: {expected}")
    assert "pw" not in text
    assert "Traceback" not in text


def test_a_port_in_use_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """As a log line where those were asked for."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        arguments = ["worker", "wait.py", "--store", "w.db", "--health-port", port]
        assert main([*arguments, "--log-format", "json"]) == 2
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["level"]) == ("cannot_start", "critical")
    assert f"--health-port {port} on 127.0.0.1 cannot be had" in line["message"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--processes", "0"),
        ("--processes", "1000"),
        ("--drain", "-1"),
        ("--drain", "nan"),
        ("--health-port", "65536"),
        ("--log-format", "xml"),
    ],
)
def test_an_option_that_cannot_hold_is_named(
    capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    """By the parser, with what may stand there."""
    with pytest.raises(SystemExit, match="2"):
        main(["worker", "wait.py", "--store", "w.db", option, value])
    assert f"argument {option}: " in capsys.readouterr().err
