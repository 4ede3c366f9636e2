"""What a Lab tells in time: inputs that do not fit, windows that are broken, what a run gave."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

import dexnb as dex
from dexnb.engine import Session
from dexnb.errors import DefinitionError, DexnbWarning, ValueMappingError
from dexnb.examples.polling import PollingFlow
from dexnb.jobs import InProcessJobs, JobScript

SECONDS = 20.0
PAUSE = 0.001
NEWS = dex.Stream("News", str, 1 << 16)


class Say(dex.Step[int]):
    """Gives its input back after a pause."""

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Pause and end."""
        await asyncio.sleep(PAUSE)
        NEWS.write(context, "said")
        return dex.graceful_complete({"said": input})


class Echo(dex.Flow[int]):
    """One Step with an input, an output and a Stream."""

    def get_steps(self) -> dex.StepList[int]:
        """Give it."""
        return dex.StepList.start_step(Say())

    def get_persistence_schema(self) -> dex.PersistenceSchema:
        """Give the Stream."""
        return dex.PersistenceSchema.of(NEWS)


@pytest.fixture
def session() -> Iterator[Session]:
    """A session on a memory of its own."""
    opened = dex.open("memory:")
    yield opened
    opened.close()


def test_an_input_that_does_not_fit_is_refused_by_the_cell(session: Session) -> None:
    """Before anything is shown; the Lab of that id keeps what it had."""
    with pytest.raises(ValueMappingError, match=r"input of Echo\.Say: .*int"):
        dex.lab(Echo(), "echo-1", "three", runtime=session)
    lab = dex.lab(Echo(), "echo-1", 3, runtime=session)
    with pytest.raises(ValueMappingError):
        dex.lab(Echo(), "echo-1", None, runtime=session)
    assert lab.input == 3


def test_what_a_run_gave_stands_on_the_page(session: Session) -> None:
    """Only when it has ended: its outputs as JSON text, also those of a run found in the store."""
    lab = dex.lab(Echo(), "echo-1", 3, runtime=session)
    assert lab.page_frame()["outputs"] == []
    lab.start().wait_sync(SECONDS)
    lab.view()
    assert lab.page_frame()["outputs"] == [{"step": "Say-1", "value": '{"said":3}'}]
    assert "Output" in lab.picture()


def test_a_window_that_is_broken_at_the_outset_is_a_finding(session: Session) -> None:
    """It names the Step, the values and the fix; a knob that mends it takes it away."""
    lab = dex.lab(
        PollingFlow(InProcessJobs(JobScript.endless())), "order-1", runtime=session, margin=50
    )
    (found,) = lab.page_frame()["findings"]
    assert (found["code"], found["severity"]) == ("DX201", "error")
    for part in ("AwaitJob", "interval 2 s", "60 - 50 - 10", "heartbeat_timeout to at least 62 s"):
        assert part in found["message"]
    lab.set_knob("HEARTBEAT_TIMEOUT", 62)
    assert lab.page_frame()["findings"] == []


def test_another_input_for_an_open_run_is_told(session: Session) -> None:
    """By a warning in the cell and a note on the page; the run keeps its own."""
    lab = dex.lab(Echo(), "echo-1", 3, runtime=session)
    lab.set_knob("PAUSE", 40)
    lab.start()
    with pytest.warns(DexnbWarning, match="echo-1 runs on with its input 3, and 4 is not used"):
        assert dex.lab(Echo(), "echo-1", 4, runtime=session, start=True) is lab
    lab.view()
    (found,) = lab.page_frame()["findings"]
    assert (found["code"], found["severity"]) == ("input", "warning")
    assert lab.rerun().state().input == 4
    lab.view()
    assert lab.page_frame()["findings"] == []


def test_a_memory_is_the_same_when_its_cell_is_run_again() -> None:
    """One for each flow id of a Flow, until it is closed."""
    lab = dex.lab(Echo(), "echo-1", 3, runtime="memory:", start=True)
    assert dex.lab(Echo(), "echo-1", 3, runtime="memory:") is lab
    other = dex.lab(Echo(), "echo-2", 3, runtime="memory:")
    assert other.session is not lab.session
    lab.session.close()
    again = dex.lab(Echo(), "echo-1", 3, runtime="memory:")
    assert again.session.is_open
    assert again.run is None
    for each in (again, other):
        each.session.close()


def test_a_stream_that_is_not_there_is_refused_by_name(session: Session) -> None:
    """A Flow that is registered knows its Streams."""
    lab = dex.lab(Echo(), "echo-1", 3, runtime=session)
    with pytest.raises(DefinitionError, match="Echo has no Stream 'Nws'; its Streams: News"):
        lab.start().stream("Nws")


def test_once_there_is_a_run_another_one_is_a_re_run(session: Session) -> None:
    """One button at a time starts something."""
    lab = dex.lab(Echo(), "echo-1", 3, runtime=session)

    def offered() -> tuple[bool, bool]:
        lab.view()
        actions = lab.page_frame()["actions"]
        return actions["run"], actions["rerun"]

    assert offered() == (True, False)
    lab.start().wait_sync(SECONDS)
    assert offered() == (False, True)
