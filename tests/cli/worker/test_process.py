"""`dexnb worker` as processes that are stopped, killed and watched."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dexnb.engine.collector import CALM
from tests.cli.processes import Begin
from tests.cli.worker.conftest import Work
from tests.cli.worker.workers import (
    STORE,
    WAIT,
    Said,
    ask,
    ask_until,
    results,
    start,
    write_flow,
)

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals"),
    pytest.mark.slow,
]


def outputs() -> list[list[int]]:
    """Give attempt, first checkpoint and process of every run, when all have completed."""
    ended = results()
    assert {result.status for result in ended} == {"COMPLETED"}
    return [result.completions[0].document for result in ended]


def test_runs_that_others_started_are_finished_and_counted(work: Work, folder: Path) -> None:
    """Twenty runs, two processes: the sums in the metrics are right, and every line is JSON."""
    write_flow(folder)
    start(20)
    said, pid = work("--processes", "2", "--health-port", "0")
    port = said.port()
    said.wait_for("run_started", 20)
    (folder / "ready").touch()
    ended = 'dexnb_flows_ended_total{flow_type="WaitFlow",status="COMPLETED"} 20.0'
    text = ask_until(port, "/metrics", ended, "dexnb_processes 2.0")
    assert 'dexnb_flows_started_total{flow_type="WaitFlow"} 20.0' in text
    assert 'dexnb_attempts_total{flow_type="WaitFlow",outcome="completed"} 20.0' in text
    assert "dexnb_running_attempts 0.0" in text
    found = re.search(r"^dexnb_commits_total (\S+)$", text, re.MULTILINE)
    assert found is not None
    assert f"dexnb_commit_duration_seconds_count {found.group(1)}" in text
    assert float(found.group(1)) >= 20
    assert 'queue="work",result="hit"' in text
    assert not re.search(r"job-\d|WaitForFile", text), "no ids in labels"
    status, live = ask(port, "/health/live")
    assert (status, json.loads(live)) == (200, {"live": True, "processes": 2, "hung": []})
    os.kill(pid, signal.SIGINT)
    assert said.end() == 0
    lines = said.wait_for("run_ended", 20, status="COMPLETED", flow_type="WaitFlow")
    assert {line["flow"] for line in lines} == {f"job-{number}" for number in range(20)}
    for line in said.lines:
        names = {"time", "level", "event", "flow", "run", "step", "attempt", "process", "pid"}
        assert names <= line.keys()
    assert said.of("output", message="polling", step="WaitForFile-1", stream="stdout")


def test_a_running_poll_is_handed_back_at_the_stop(work: Work, folder: Path) -> None:
    """Another worker goes on from its checkpoint, and no attempt was used."""
    write_flow(folder)
    start(1)
    first, pid = work("--drain", "0.3")
    first.wait_for("run_started")
    os.kill(pid, signal.SIGTERM)
    assert first.end() == 0
    assert first.of("attempt_handed_back", flow="job-0", step="WaitForFile-1", attempt=1)
    draining = first.of("draining")[0]
    assert (draining["running_attempts"], draining["seconds"]) == (1, 0.3)
    second, _ = work("--drain", "0")
    second.wait_for("serving")
    (folder / "ready").touch()
    [(attempt, begun, _)] = outputs()
    assert attempt == 1
    assert begun >= 1


def test_an_attempt_that_ends_within_the_drain_is_written(work: Work, folder: Path) -> None:
    """It is given the time that was asked for, and no more than it needs."""
    write_flow(folder)
    start(1)
    said, pid = work("--drain", "600")
    said.wait_for("run_started")
    os.kill(pid, signal.SIGTERM)
    said.wait_for("draining")
    (folder / "ready").touch()
    assert said.end() == 0
    assert not said.of("attempt_handed_back")
    assert outputs()[0][0] == 1


def test_a_killed_process_loses_nothing(work: Work, folder: Path) -> None:
    """Its runs are taken over at once from their checkpoints, and it is started again."""
    write_flow(folder)
    start(6)
    said, pid = work("--processes", "2", "--health-port", "0", "--drain", "0")
    port = said.port()
    said.wait_for("run_started", 6)
    said.wait_for("serving", 2)
    started = 'dexnb_flows_started_total{flow_type="WaitFlow"} 6.0'
    ask_until(port, "/metrics", started)
    victim = said.lines[[line["event"] for line in said.lines].index("run_started")]["pid"]
    os.kill(victim, signal.SIGKILL)
    died = said.wait_for("process_died", pid=victim)[0]
    assert died["how"] == "killed by SIGKILL"
    said.wait_for("attempt_taken_over")
    said.wait_for("process_started", 3)
    ask_until(port, "/health/ready", '"ready":true')
    assert started in ask_until(port, "/metrics"), "what the dead one has told stays in the sums"
    (folder / "ready").touch()
    done = outputs()
    assert len(done) == 6
    assert victim not in {process for _, _, process in done}
    taken = [begun for attempt, begun, _ in done if attempt == 2]
    assert taken
    assert min(taken) >= 1
    os.kill(pid, signal.SIGTERM)
    assert said.end() == 0


def test_a_killed_parent_takes_its_children_along_in_order(work: Work, folder: Path) -> None:
    """They drain, for nobody watches them any more."""
    write_flow(folder)
    start(1)
    said, pid = work("--drain", "0")
    said.wait_for("run_started")
    os.kill(pid, signal.SIGKILL)
    assert said.end() == -signal.SIGKILL
    assert said.of("attempt_handed_back", flow="job-0")
    assert said.of("stopped")


def test_a_second_signal_ends_at_once(work: Work, folder: Path) -> None:
    """However long the drain may last; the code says which signal it was."""
    write_flow(folder)
    start(1)
    said, pid = work("--drain", "600")
    said.wait_for("run_started")
    os.kill(pid, signal.SIGTERM)
    said.wait_for("draining")
    os.kill(pid, signal.SIGINT)
    assert said.end() == 128 + signal.SIGINT
    assert not said.of("stopped")


def test_a_store_that_is_taken_away_makes_a_worker_unready(work: Work, folder: Path) -> None:
    """It still lives, and says why it cannot work."""
    said, pid = work("--health-port", "0", "--drain", "0")
    port = said.port()
    good = json.loads(ask_until(port, "/health/ready", '"ready":true'))
    assert good["store"] == {"reachable": True, "error": None}
    [process] = good["processes"]
    assert sorted(process["dispatchers"]) == ["orchestration", "work"]
    assert process["dispatchers"]["work"]["running"] is True
    for path in folder.glob(f"{STORE}*"):
        path.rename(folder / f"gone-{path.name}")
    bad = json.loads(ask_until(port, "/health/ready", '"reachable":false', status=503))
    assert "process 1: the store cannot be reached" in bad["reasons"][0]
    assert ask(port, "/health/live")[0] == 200
    os.kill(pid, signal.SIGTERM)
    assert said.end() == 0


def test_a_store_that_errs_is_seen_and_logged(work: Work, folder: Path) -> None:
    """One line for the first error, the operation in the metrics."""
    said, pid = work("--health-port", "0", "--drain", "0")
    port = said.port()
    ask_until(port, "/health/ready", '"ready":true')
    with sqlite3.connect(STORE) as database:
        database.execute("ALTER TABLE runs RENAME TO no_runs")
    database.close()
    bad = json.loads(ask_until(port, "/health/ready", '"reachable":false', status=503))
    assert bad["store"]["error"]
    ask_until(port, "/metrics", 'dexnb_store_errors_total{operation="read_run"}')
    os.kill(pid, signal.SIGTERM)
    said.end()


def test_a_process_that_dies_again_and_again_ends_the_worker(work: Work, folder: Path) -> None:
    """Each death is told, with longer and longer pauses."""
    write_flow(folder)
    work_file = folder / "wait.py"
    said, _ = work()
    said.wait_for("serving")
    work_file.write_text("import os\nos._exit(7)\n", "utf-8")
    os.kill(said.of("serving")[0]["pid"], signal.SIGKILL)
    assert said.end() == 1
    died = said.of("process_died")
    first, *others = [line["how"] for line in died]
    assert first == "killed by SIGKILL"
    # One more, where the first one has lived for long, on a busy machine.
    assert others in (["exit code 7"] * 3, ["exit code 7"] * 4)
    pauses = [line["again_in"] for line in died]
    assert pauses == sorted(pauses)
    assert pauses[-1] > pauses[0]
    assert said.of("process_dies_again", deaths=5, how="exit code 7")


def test_what_no_process_can_do_is_said_once(begin: Begin, folder: Path) -> None:
    """In one line without a traceback, though four processes were asked for; exit code 2."""
    write_flow(folder)
    arguments = ["wait.py", "--store", "wait.py/w.db", "--processes", "4"]
    said = Said(begin("worker", *arguments, "--log-format", "json"))
    assert said.end() == 2
    [line] = said.of("cannot_start")
    assert "wait.py/w.db cannot be opened" in line["message"]
    assert len(said.of("process_started")) == 1


def test_no_secret_and_no_value_stands_in_the_log(begin: Begin, folder: Path) -> None:
    """A Step fails with a token in its error's text; what it was given stays in the store."""
    source = """
from dexnb import AsyncContext, Flow, RetryPolicy, Step, StepDecision, StepList, StepOptions

class Fails(Step[None]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_retry=RetryPolicy(maximum_attempts=1))

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        await context.heartbeat("my checkpoint")
        raise OSError("https://me:hunter2@host answered 401 to token=abcdef")

class FailFlow(Flow[None]):
    def get_steps(self) -> StepList[None]:
        return StepList.start_step(Fails())
"""
    write_flow(folder, source)
    start(1)
    said = Said(begin("worker", "wait.py", "--store", STORE, "--log-format", "json"))
    failed: dict[str, Any] = said.wait_for("attempt_failed", flow="job-0")[0]
    said.wait_for("run_ended", status="FAILED")
    assert (failed["error"], failed["level"], failed["again_in"]) == (
        "builtins.OSError",
        "error",
        None,
    )
    assert failed["detail"].startswith("https://<hidden>@host answered 401 to token=<hidden>")
    assert failed["trace"][-1].endswith("wait.py:10 execute")
    for secret in ("hunter2", "abcdef", "my checkpoint"):
        assert secret not in said.text


def test_a_process_of_its_own_collects_garbage_rarely(work: Work, folder: Path) -> None:
    """And never looks at what was there when it began; the runs that it serves see that."""
    result = "[context.attempt, begun, os.getpid()]"
    write_flow(folder, WAIT.replace(result, "[gc.get_threshold()[0], gc.get_freeze_count()]"))
    (folder / "wait.py").write_text("import gc\n" + (folder / "wait.py").read_text())
    (folder / "ready").touch()
    start(1)
    work()[0].wait_for("run_ended")
    [[threshold, frozen]] = outputs()
    assert threshold == CALM[0]
    assert frozen > 10_000
