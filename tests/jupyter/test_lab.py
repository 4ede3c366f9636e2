"""The Lab without a notebook: in scripts and on loops, attached, re-run, tuned, and never twice."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dexnb as dex
from dexnb.clock import Clock, perf_counter
from dexnb.engine import Session
from dexnb.errors import DefinitionError, DexnbError, WaitTimeout
from dexnb.examples.polling import PollingFlow, StartJob
from dexnb.jobs import InProcessJobs, JobScript, JobState
from dexnb.jupyter.commands import carry_out

SECONDS = 20.0


def endless() -> InProcessJobs:
    """Give jobs that run until they are completed."""
    return InProcessJobs(JobScript([(JobState.RUNNING, 1e6)]))


@pytest.fixture
def session() -> Iterator[Session]:
    """A session on a memory of its own."""
    opened = dex.open("memory:")
    yield opened
    opened.close()


def calls_made(jobs: InProcessJobs) -> int:
    """Count the calls about the job."""
    return jobs.calls("order-1")


async def eventually(fits: Any) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(SECONDS):
        while not fits():
            await asyncio.sleep(0.02)


def test_it_works_in_a_script_and_inside_a_running_loop(session: Session) -> None:
    """The same calls, no loop patched, the same result."""
    script = JobScript([(JobState.RUNNING, 0.2)])
    lab = dex.lab(PollingFlow(InProcessJobs(script)), "order-1", runtime=session)
    lab.set_knob("POLL_INTERVAL", 0.05)
    run = lab.start()
    assert run.wait_sync(SECONDS).status == "COMPLETED"

    async def inside() -> str:
        again = dex.lab(PollingFlow(InProcessJobs(script)), "order-2", runtime=session)
        again.start()
        return str((await again.wait(SECONDS)).status)

    assert asyncio.run(inside()) == "COMPLETED"
    assert lab.view()["status"] == "COMPLETED"
    assert asyncio.new_event_loop.__module__ == "asyncio.events"


def test_running_the_cell_again_gives_the_same_lab_and_starts_nothing(session: Session) -> None:
    """Five times: one run, one poll per interval, no more threads than before."""
    jobs = endless()
    lab = dex.lab(PollingFlow(jobs), "order-1", runtime=session, start=True)
    lab.set_knob("POLL_INTERVAL", 0.1)
    threads = threading.active_count()
    for _ in range(5):
        assert dex.lab(PollingFlow(jobs), "order-1", runtime=session, start=True) is lab
    assert threading.active_count() <= threads + 1
    assert len(session.runs()) == 1

    async def watch() -> float:
        await eventually(lambda: calls_made(jobs) > 5)
        before, began = calls_made(jobs), perf_counter()
        await asyncio.sleep(1)
        return (calls_made(jobs) - before) / ((perf_counter() - began) / 0.1)

    assert asyncio.run(watch()) <= 1.1


def test_a_knob_is_turned_live_and_for_the_next_run(session: Session) -> None:
    """An illegal value is refused and the old one stays; the next run begins with the new one."""
    jobs = endless()
    lab = dex.lab(PollingFlow(jobs), "order-1", runtime=session)
    assert lab.set_knob("POLL_INTERVAL", 30) == 30
    lab.start()

    async def turn() -> None:
        await eventually(lambda: calls_made(jobs) >= 2)
        lab.set_knob("POLL_INTERVAL", 0.05)
        await eventually(lambda: calls_made(jobs) >= 6)

    asyncio.run(turn())
    with pytest.raises(DefinitionError, match="over 40 s"):
        lab.set_knob("POLL_INTERVAL", 120)
    (knob, *_) = lab.knobs
    assert (knob.name, knob.value, knob.default, knob.maximum) == ("POLL_INTERVAL", 0.05, 2, 40)
    lab.set_knob("JOB_CALL_TIMEOUT", 5, live=False)
    assert lab.run is not None
    assert lab.run.state().overrides["POLL_INTERVAL"] == 0.05
    assert "JOB_CALL_TIMEOUT" not in lab.run.state().overrides
    again = lab.rerun()
    assert again.state().overrides == {"POLL_INTERVAL": 0.05, "JOB_CALL_TIMEOUT": 5.0}
    assert [run.status for run in session.runs()] == ["RUNNING", "CANCELED"]


def test_a_knob_of_the_next_run_is_judged_by_the_window_rule(session: Session) -> None:
    """Before anything was started."""
    lab = dex.lab(PollingFlow(endless()), "order-1", runtime=session)
    with pytest.raises(DefinitionError, match=r"at least 60\.001 s"):
        lab.set_knob("POLL_INTERVAL", 40.001)
    lab.set_knob("HEARTBEAT_TIMEOUT", 80)
    assert lab.set_knob("POLL_INTERVAL", 60) == 60
    narrow = dex.lab(PollingFlow(endless()), "order-2", runtime=session, margin=1)
    assert narrow.set_knob("POLL_INTERVAL", 49) == 49


def test_the_job_is_completed_through_the_flow_or_as_given(session: Session) -> None:
    """Stop and complete are what the page's buttons do."""
    jobs = endless()
    lab = dex.lab(PollingFlow(jobs), "order-1", runtime=session, start=True)
    lab.set_knob("POLL_INTERVAL", 0.05)
    asyncio.run(eventually(lambda: calls_made(jobs) > 1))
    lab.complete_job("done")
    assert lab.run is not None
    assert lab.run.wait_sync(SECONDS).output == "done"
    lab.stop()
    assert lab.run.status == "COMPLETED"


def test_jobs_that_nobody_knows_cannot_be_completed(session: Session) -> None:
    """The error says what to give."""

    class Plain(PollingFlow):
        """Hides its jobs."""

        jobs = _jobs = None  # type: ignore[assignment]  # nothing to find

        def __init__(self) -> None:
            self._hidden = endless()

        def get_steps(self) -> Any:
            """Give the Steps all the same."""
            return PollingFlow(self._hidden).get_steps()

    lab = dex.lab(Plain(), "order-1", runtime=session)
    with pytest.raises(DefinitionError, match=r"jobs=\.\.\."):
        lab.complete_job()
    assert lab.page_frame()["actions"]["complete_job"] is False


def test_waiting_needs_a_run_and_leaves_it_alone(session: Session) -> None:
    """Without one the error says what to do; a timeout ends only the wait."""
    lab = dex.lab(PollingFlow(endless()), "order-1", runtime=session)
    with pytest.raises(DexnbError, match=r"start\(\)"):
        asyncio.run(lab.wait())
    lab.start()
    with pytest.raises(WaitTimeout):
        asyncio.run(lab.wait(0.2))
    assert lab.running


def test_a_cancelled_wait_says_that_the_run_goes_on(session: Session) -> None:
    """What an interrupted cell shows is short."""
    lab = dex.lab(PollingFlow(endless()), "order-1", runtime=session, start=True)

    async def main() -> str:
        waiting = asyncio.ensure_future(lab.wait())
        await asyncio.sleep(0.2)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError) as refusal:
            await waiting
        return str(refusal.value)

    assert asyncio.run(main()) == "the wait was interrupted; order-1 runs on"
    assert lab.running


def test_another_process_life_finds_the_run_with_its_knobs(tmp_path: Path) -> None:
    """After a restart one call attaches to the same Flow, and shows what was before."""
    file, jobs = tmp_path / "lab.db", endless()
    with dex.open(file) as first:
        lab = dex.lab(PollingFlow(jobs), "order-1", runtime=first, start=True)
        lab.set_knob("POLL_INTERVAL", 0.05)
        asyncio.run(eventually(lambda: calls_made(jobs) > 3))
        assert lab.run is not None
        run_id = lab.run.run_id
    with dex.open(file) as second:
        lab = dex.lab(PollingFlow(jobs), "order-1", runtime=second)
        assert lab.run is not None
        assert lab.run.run_id == run_id
        assert lab.view()["steps"]["AwaitJob-1"]["attempts"][0]["rounds"] > 2
        assert lab.knobs[0].value == 0.05
        before = calls_made(jobs)
        asyncio.run(eventually(lambda: calls_made(jobs) > before + 2))


def test_other_speeds_run_on_a_memory_of_their_own(session: Session) -> None:
    """A class makes a Flow with its own jobs for each run; ten seconds pass in one."""

    class Quick(PollingFlow):
        """Has jobs of its own."""

        def __init__(self) -> None:
            super().__init__(InProcessJobs(JobScript([(JobState.RUNNING, 30.0)])))

    lab = dex.lab(Quick, "order-1", runtime=session)
    assert lab.page_frame()["actions"]["speeds"] == [1, 10, 60]
    lab.set_speed(60)
    began = perf_counter()
    assert lab.start().wait_sync(SECONDS * 60).status == "COMPLETED"
    assert perf_counter() - began < SECONDS
    frame = lab.page_frame()
    assert (frame["runtime"]["clock"], frame["actions"]["speed"]) == ("scaled:60", 60)
    assert session.runs() == []
    lab.start()
    with pytest.raises(DefinitionError, match="stop it before"):
        lab.set_speed(1)
    lab.stop()
    with pytest.raises(DefinitionError, match="choose among 1, 10, 60"):
        lab.set_speed(7)
    lab.set_speed(1)
    assert lab.session is session
    assert lab.run is None
    lab.close()


def test_a_flow_object_runs_at_its_own_speed_only(session: Session) -> None:
    """Its jobs live on one clock."""
    lab = dex.lab(PollingFlow(endless()), "order-1", runtime=session)
    assert lab.page_frame()["actions"]["speeds"] == [1]


def gives_a_step() -> Any:
    """Make no Flow."""
    return StartJob(endless())


async def gives_later() -> Any:
    """Make a Flow, but only when it is awaited."""
    return PollingFlow(endless())


@pytest.mark.parametrize("given", [StartJob, StartJob(endless()), "OK", 5, None, Session])
def test_what_is_no_flow_opens_no_lab(session: Session, given: Any) -> None:
    """The text names it and says what to give."""
    fix = "give an instance of a Flow subclass, its class, or a function that makes one$"
    with pytest.raises(DefinitionError, match=rf"^lab flow is .*: {fix}"):
        dex.lab(given, "order-1", runtime=session)


@pytest.mark.parametrize("given", [gives_a_step, gives_later, lambda: None, lambda: PollingFlow])
def test_a_function_that_makes_no_flow_opens_no_lab(session: Session, given: Any) -> None:
    """The text names what it gave."""
    with pytest.raises(DefinitionError, match=r"^lab flow .* gave .*: let it return an instance"):
        dex.lab(given, "order-1", runtime=session)


def test_the_picture_is_a_page_of_its_own(session: Session, tmp_path: Path) -> None:
    """Graph, status, rounds and messages, without a script."""
    lab = dex.lab(
        PollingFlow(InProcessJobs(JobScript([(JobState.RUNNING, 0.1)]))), "order-1", runtime=session
    )
    lab.set_knob("POLL_INTERVAL", 0.05)
    lab.start().wait_sync(SECONDS)
    lab.to_html(tmp_path / "lab.html")
    text = (tmp_path / "lab.html").read_text("utf-8")
    for part in ("<!doctype html>", "COMPLETED order-1", "AwaitJob", "rounds", "JobProgress"):
        assert part in text
    assert "<script" not in text
    assert repr(lab) == "<dexnb Lab of PollingFlow order-1>"


def test_all_that_a_page_gets_is_strict_json() -> None:
    """With a virtual clock, whose factor is infinite, and before and after a run."""
    with dex.open("memory:", clock=Clock.virtual()) as session:
        lab = dex.lab(PollingFlow(endless()), "order-1", runtime=session)
        for _ in range(2):
            frame = lab.page_frame()
            assert json.loads(json.dumps(frame, allow_nan=False)) == frame
            lab.start()
            lab.stop()


@pytest.mark.parametrize(
    ("name", "args", "part"),
    [
        ("shutdown", {}, "known are run, stop"),
        ("set_knob", {}, "the knob's name is None"),
        ("set_knob", {"name": "POLL_INTERVAL", "value": "x"}, "finite number"),
        ("set_knob", {"name": "X", "value": 1}, "no knob 'X'"),
        ("set_speed", {"factor": None}, "speed is None"),
        ("set_dispatcher", {"min_poll_interval": -1}, "dispatcher_min_poll_interval is -1"),
        ("set_dispatcher", {"long_poll_timeout": "x"}, "dispatcher_long_poll_timeout"),
    ],
)
def test_a_command_that_cannot_be_done_says_why(
    session: Session, name: str, args: dict[str, Any], part: str
) -> None:
    """Nothing of it takes effect."""
    lab = dex.lab(PollingFlow(endless()), "order-1", runtime=session)
    before = lab.page_frame()["settings"]
    with pytest.raises(DexnbError) as refusal:
        carry_out(lab, name, args)
    assert part in str(refusal.value)
    assert lab.page_frame()["settings"] == before


def test_the_page_changes_how_the_dispatchers_poll(session: Session) -> None:
    """While they run."""
    lab = dex.lab(PollingFlow(endless()), "order-1", runtime=session)
    carry_out(lab, "set_dispatcher", {"min_poll_interval": 0.5, "long_poll_timeout": 0})
    assert lab.page_frame()["settings"] == {"min_poll_interval": 0.5, "long_poll_timeout": 0}


def test_ipython_is_not_loaded_by_a_script() -> None:
    """Nor are widgets, until one is asked for."""
    import subprocess
    import sys

    code = (
        "import sys, dexnb as dex\n"
        "from dexnb.examples.polling import PollingFlow\n"
        "lab = dex.lab(PollingFlow, runtime='memory:')\n"
        "lab.picture()\n"
        "print([m for m in ('IPython', 'anywidget', 'ipywidgets', 'networkx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_run_in_virtual_time_gives_the_same_picture_every_time() -> None:
    """What a notebook stores is what its next execution makes."""

    def picture() -> str:
        with dex.open("memory:", clock=Clock.virtual()) as session:
            lab = dex.lab(PollingFlow(InProcessJobs()), "order-1", runtime=session, start=True)
            assert asyncio.run(lab.wait(SECONDS * 100)).status == "COMPLETED"
            return lab.picture()

    assert picture() == picture()


def test_the_view_of_a_run_that_has_ended_is_final(session: Session) -> None:
    """Whoever has waited for the end sees it, however long the last turn's commit took."""
    provider = session.engine.provider
    acknowledge = provider.ack_orchestration_item

    async def late(token: str, commit: Any) -> None:
        await asyncio.sleep(0.05)
        await acknowledge(token, commit)

    provider.ack_orchestration_item = late  # type: ignore[method-assign]
    lab = dex.lab(PollingFlow(InProcessJobs(JobScript([]))), "order-1", runtime=session)
    run = lab.start()
    while run.result is None:
        lab.view()
    assert lab.view()["status"] == "COMPLETED"
    assert "COMPLETED order-1" in lab.picture()
