"""The lines of a worker's log."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from typing import Any

import pytest

from dexnb.cli.worker.job import Job
from dexnb.cli.worker.log_lines import log_lines, tell
from tests.model.logs import HOSTILE

NAMES = {"flow": "job-1", "flow_type": "F", "run": "r", "step": "S-1", "attempt": 2}


def job(log_format: str = "json", level: str = "info", process: int = 3) -> Job:
    """Give a job that logs so."""
    return Job(("x.py",), "w.db", 1.0, log_format, level, process)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Give what was logged, each line read as JSON."""
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_line_has_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    """What does not apply is null, so that every line has the same fields."""
    with log_lines(job()):
        tell(logging.WARNING, "stall", **NAMES, seconds=1.5)
        tell(logging.INFO, "stopped")
    stall, stopped = lines(capsys)
    assert stall.items() >= {**NAMES, "event": "stall", "level": "warning", "process": 3}.items()
    assert stall["time"].endswith("Z")
    assert list(stall)[:3] == ["time", "level", "event"]
    assert (stopped["flow"], stopped["attempt"]) == (None, None)


def test_other_code_speaks_in_lines_too(capsys: pytest.CaptureFixture[str]) -> None:
    """Log records, warnings and prints of any library; an error has its place, no code."""
    with log_lines(job()):
        print("two\nlines")
        print("on stderr: token=abc", file=sys.stderr)
        logging.getLogger("other").info("not that interesting")
        logging.getLogger("other").warning("look: %s", "here")
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("old", stacklevel=1)
        try:
            dict[str, int]()["secret"]
        except KeyError:
            logging.getLogger("other").exception("failed")
    two, second, err, other, warned, failed = lines(capsys)
    assert (two["message"], second["message"], two["stream"]) == ("two", "lines", "stdout")
    assert err["message"] == "on stderr: token=<hidden>"
    assert (other["message"], other["logger"]) == ("look: here", "other")
    assert warned["logger"] == "py.warnings"
    assert failed["error"] == "builtins.KeyError"
    assert "test_log_lines.py" in failed["trace"][-1]


def test_a_line_for_people_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever stands in the names; words with spaces are quoted."""
    with log_lines(job("text")):
        tell(logging.ERROR, "attempt_failed", **{**NAMES, "flow": HOSTILE}, detail="no route")
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert text.rstrip("\n").isprintable()
    assert ' ERROR   attempt_failed flow="\\\\x1b[2J' in text
    assert "attempt=2 process=3 " in text
    assert 'detail="no route"' in text


def test_a_list_is_told_to_people_as_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Without JSON's brackets and its quotes inside of quotes."""
    with log_lines(job("text")):
        tell(logging.INFO, "worker_started", targets=["slow.py"], flows=["Bad", "a b"])
    assert capsys.readouterr().err.endswith(' targets=slow.py flows="Bad,a b"\n')


def test_a_warning_of_the_http_server_is_told_once_a_minute(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With how often it was said: whoever sends junk to the port must not fill the disk."""
    server = logging.getLogger("uvicorn.error")
    with log_lines(job()):
        for second in range(100):
            made = server.makeRecord(
                server.name, logging.WARNING, "", 0, "Invalid HTTP request received.", (), None
            )
            made.created = 1e9 + second
            server.handle(made)
        server.warning("another one")
        logging.getLogger("other").warning("twice")
        logging.getLogger("other").warning("twice")
    told = lines(capsys)
    assert [line["message"] for line in told] == [
        "Invalid HTTP request received.",
        "Invalid HTTP request received. (and 59 more like it)",
        "another one",
        "twice",
        "twice",
    ]


def test_the_level_is_the_least_that_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the worker's own lines."""
    with log_lines(job(level="error")):
        tell(logging.WARNING, "stall")
        tell(logging.ERROR, "poison")
    assert [line["event"] for line in lines(capsys)] == ["poison"]


def test_logging_is_left_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    """Handlers, the factory of records and the streams."""
    root, make, out = logging.getLogger(), logging.getLogRecordFactory(), sys.stdout
    handlers = list(root.handlers)
    with log_lines(job()):
        assert sys.stdout is not out
    assert (root.handlers, logging.getLogRecordFactory(), sys.stdout) == (handlers, make, out)
