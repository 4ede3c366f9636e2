"""`dexnb run` in this process: what it prints, what it returns, what it refuses."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from dexnb.cli import main
from dexnb.examples.polling import PollingFlow
from dexnb.model.event import load_log
from dexnb.model.history import fold

POLLING = "dexnb.examples.polling:PollingFlow"
VIRTUAL = ("--clock", "virtual", "--db", "memory:")

FLOW = """
import sys
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, force_fail, graceful_complete

class Answer(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        print("printed\\x1b[2J [red]by[/red] the Step")
        if input == "fail":
            return force_fail("no\\nluck")
        return graceful_complete(input * 2)

class EchoFlow(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Answer())
"""


@pytest.fixture(autouse=True)
def echo(folder: Path) -> Path:
    """Put a flow file into the empty folder that the test works in."""
    path = folder / "echo.py"
    path.write_text(FLOW, "utf-8")
    return path


def test_a_run_is_told_in_lines_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each change is a line with its time; the output stands at the end; the exit code is 0."""
    assert main(["run", POLLING, *VIRTUAL, "--flow-id", "job-1"]) == 0
    out, err = capsys.readouterr()
    assert err == "dexnb run: job-1 started in memory:\n"
    told = [re.sub(r"^ *[\d.]+ s  |run [0-9a-f]{32}", "", line) for line in out.splitlines()]
    assert told == [
        "Flow  PollingFlow job-1 started, ",
        "StartJob-1  attempt 1 begins",
        "StartJob-1  go_to AwaitJob",
        "AwaitJob-1  attempt 1 of 3 begins",
        "AwaitJob-1  JobProgress: job_id=job-1 state=QUEUED",
        "AwaitJob-1  JobProgress: job_id=job-1 state=RUNNING",
        'AwaitJob-1  heartbeat, checkpoint "RUNNING"',
        "AwaitJob-1  graceful_complete: result of job-1",
        "Flow  COMPLETED",
        "output: result of job-1",
    ]


CODED = """
from dexnb import CodecRegistry, Context, Flow, JsonCodec, Step, StepDecision, StepList
from dexnb import graceful_complete

class Money:
    def __init__(self, cents):
        self.cents = cents

CODECS = CodecRegistry([JsonCodec("Money", Money, lambda value: value.cents)])

class Double(Step[Money]):
    def execute(self, context: Context, input: Money) -> StepDecision:
        return graceful_complete(Money(2 * input.cents))

class MoneyFlow(Flow[Money]):
    def get_steps(self) -> StepList[Money]:
        return StepList.start_step(Double())
"""


@pytest.mark.rule("1.10/codec")
def test_a_flow_file_brings_its_own_codecs(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """Every CodecRegistry that it has a name for is used; input and output are as stored."""
    (folder / "coded.py").write_text(CODED, "utf-8")
    assert main(["run", "coded.py", *VIRTUAL, "--input", "21"]) == 0
    assert "output: 42" in capsys.readouterr().out.splitlines()


def test_a_failed_flow_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    """And says why, on one line whatever the reason holds."""
    assert main(["run", "echo.py:EchoFlow", *VIRTUAL, "--input", '"fail"']) == 1
    assert r"Flow  FAILED: no\nluck" in capsys.readouterr().out


def test_what_a_step_prints_is_told_with_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Escapes and markup in it are text."""
    assert main(["run", "echo.py", *VIRTUAL, "--input", '"ab"']) == 0
    out = capsys.readouterr().out
    assert r"Answer-1  stdout: printed\x1b[2J [red]by[/red] the Step" in out
    # Told once: what is shown as it was printed would spoil the picture.
    assert out.count("printed") == 1
    assert "output: abab" in out


def test_json_is_a_log_that_loads_again(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """Standard output holds the events and nothing else, and adds up to the run's end."""
    assert main(["run", POLLING, *VIRTUAL, "--json"]) == 0
    (folder / "log.jsonl").write_text(capsys.readouterr().out, "utf-8")
    events = list(load_log(folder / "log.jsonl"))
    state = fold(event for event in events if event.durable)
    assert (state.status, state.flow_type) == ("COMPLETED", "PollingFlow")
    assert {"round_call", "round_sleep", "heartbeat", "stream_message"} <= {e.kind for e in events}


def test_the_database_is_named_after_the_target_and_private(folder: Path) -> None:
    """It is made where the command runs, one for each clock."""
    assert main(["run", "echo.py", "--input", '"ab"']) == 0
    assert main(["run", "echo.py", "--input", '"ab"', "--clock", "x60"]) == 0
    made = sorted(path.name for path in (folder / ".dexnb").glob("*.db"))
    assert made == ["echo-scaled-60.db", "echo.db"]
    if os.name == "posix":
        assert (folder / ".dexnb").stat().st_mode & 0o077 == 0
        assert (folder / ".dexnb" / "echo.db").stat().st_mode & 0o077 == 0


def test_a_closed_flow_id_starts_a_new_run(capsys: pytest.CaptureFixture[str]) -> None:
    """The same name may be used again once its run has ended."""
    arguments = ["run", "echo.py", "--db", "e.db", "--flow-id", "a", "--input", '"ab"']
    assert [main(arguments), main(arguments)] == [0, 0]
    assert capsys.readouterr().err.count("a started in e.db") == 2


REFUSED = [
    (["run", "nope:F"], "there is no module 'nope' from here"),
    (["run", "echo.py:Nope"], "echo.py has no 'Nope'; Flows there: EchoFlow"),
    (["run", "echo.py"], "give --input JSON that makes a str"),
    (["run", "echo.py", "--input", "text"], "--input is 'text', which is not JSON"),
    (["run", "echo.py", "--input", "3"], "value must be str, stands 3"),
    (["run", POLLING, "--flow-id", "a/b", *VIRTUAL], "flow_id is 'a/b'"),
    (["run", POLLING, "--flow-id", "", *VIRTUAL], "flow_id is ''"),
    (["run", POLLING, "--db", "mysql://h"], "no store is known for mysql://"),
    (["run", POLLING, "--db", "."], "is a folder"),
    (["run", POLLING, "--serve-jobs", "--clock", "x10"], "--serve-jobs and --clock scaled:10"),
    (["run", POLLING, "--jobs-state", "f"], "give --serve-jobs too"),
    (["run", POLLING, "--kill-after", "1", "--db", "memory:"], "--kill-after needs a file"),
    (["run", POLLING, "--kill-after", "1", "--json"], "--kill-after and --json"),
    (["run", POLLING, "--kill-after", "1", "--clock", "x2"], "--kill-after and --clock scaled:2"),
    (["run", "nope:F", "--kill-after", "1"], "there is no module 'nope' from here"),
]


@pytest.mark.parametrize(("arguments", "expected"), REFUSED, ids=lambda value: str(value)[:60])
def test_a_mistake_is_one_message_and_exit_code_2(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """It names the value and the fix, without a traceback, and leaves no file behind."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("dexnb run: ")
    assert expected in err
    assert "Traceback" not in err
    assert sorted(path.name for path in folder.iterdir() if path.name != "__pycache__") == [
        "echo.py"
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["run"], "the following arguments are required: MODULE_OR_FILE:FLOW"),
        (["run", POLLING, "--clock", "fast"], "'fast': give real, virtual, or x and a number"),
        (["run", POLLING, "--clock", "x0"], "'x0': give real, virtual, or x and a number"),
        (["run", POLLING, "--clock", "xnan"], "'xnan': give real, virtual, or x and a number"),
        (["run", POLLING, "--kill-after", "-1"], "'-1': give seconds above 0"),
        (["run", POLLING, "--kill-after", "nan"], "'nan': give seconds above 0"),
        (["run", POLLING, "--plain", "--json"], "not allowed with argument"),
    ],
)
def test_a_wrong_option_is_refused_by_name(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As every command of a shell does, with exit code 2."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert expected in capsys.readouterr().err


def test_a_database_of_another_clock_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Times of two clocks never meet in one file."""
    assert main(["run", "echo.py", "--db", "e.db", "--input", '"ab"']) == 0
    assert main(["run", "echo.py", "--db", "e.db", "--input", '"ab"', "--clock", "virtual"]) == 2
    assert "was written on the real clock" in capsys.readouterr().err


def test_an_open_flow_id_of_another_flow_is_refused(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """The run that has the id is left alone."""
    (folder / "ends.py").write_text(
        FLOW.replace("graceful_complete(input * 2)", "dead_end()")
        .replace("graceful_complete", "dead_end")
        .replace("EchoFlow", "DeadFlow"),
        "utf-8",
    )
    import dexnb

    session = dexnb.open("e.db")
    from dexnb.cli.target import load, locate

    session.start(load(locate("ends.py")).flow, "a", "x")
    session.close()
    assert main(["run", "echo.py", "--db", "e.db", "--flow-id", "a", "--input", '"ab"']) == 2
    assert "flow id a has an open run of DeadFlow, not of EchoFlow" in capsys.readouterr().err


def test_version_and_help_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    """What people try first."""
    for arguments, expected in ((["--version"], "dexnb 0."), (["run", "--help"], "Exit code: 0")):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        assert expected in capsys.readouterr().out


def test_the_job_server_is_found_by_the_flow_and_leaves_with_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """Its URL stands in the environment while the Flow runs; its jobs are kept beside the run."""
    seen: list[str | None] = []
    original = PollingFlow.__init__

    def look(self: PollingFlow) -> None:
        seen.append(os.environ.get("DEXNB_JOBS_URL"))
        original(self)

    monkeypatch.setattr(PollingFlow, "__init__", look)
    assert main(["run", POLLING, "--serve-jobs", "--flow-id", "job-1", "--db", "p.db"]) == 0
    assert seen[0] is not None
    assert seen[0].startswith("http://127.0.0.1:")
    assert "DEXNB_JOBS_URL" not in os.environ
    state = (folder / "p.jobs.jsonl").read_text("utf-8").splitlines()
    assert json.loads(state[1])["job_id"] == "job-1"
    assert "output: result of job-1" in capsys.readouterr().out
