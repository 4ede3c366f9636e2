"""Cells that are run again while a run goes on: each definition alone, in a real kernel."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from dexnb.clock import perf_counter, sleep_blocking
from tests.jupyter.kernels import FLOW, Kernel, PageClient, kernel

pytestmark = [pytest.mark.timing, pytest.mark.slow]

CELLS = {
    "Enum": """
from enum import Enum
class State(Enum):
    WAITING = "waiting"
    DONE = "done"
""",
    "Stream": 'PROGRESS = dex.Stream("Progress", State, 1 << 16)',
    "Step": """
class Await(dex.Step[str]):
    async def execute(self, context: dex.AsyncContext, input: str) -> dex.StepDecision:
        reported = context.get_last_heartbeat_value(State)
        while True:
            state = State(state_of[input])
            if state is not reported:
                PROGRESS.write(context, state)
                reported = state
            if state is State.DONE:
                return dex.graceful_complete(input)
            await context.heartbeat(reported)
            await asyncio.sleep(0.05)
""",
    "Flow": """
class CellFlow(dex.Flow[str]):
    def get_steps(self):
        return dex.StepList.start_step(Await())
    def get_persistence_schema(self):
        return dex.PersistenceSchema.of(PROGRESS)
""",
}
ALONE = {**{name: [name] for name in CELLS}, "everything": list(CELLS)}
SHOW = "cells = dex.lab(CellFlow(), {id!r}, {id!r}, runtime='lab.db')\ncells"
ROUND = 0.3
"""Seconds in which the Step has polled several times."""

THREADS = (
    "sorted(thread.name for thread in __import__('threading').enumerate() "
    "if thread.name in ('dexnb-control', 'dexnb-steps', 'dexnb-publisher'))"
)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel for these cells."""
    with kernel(tmp_path_factory.mktemp("kernel")) as made:
        made.run(FLOW)
        made.run("state_of = {}")
        yield made


@pytest.fixture
def flow_id(started: Kernel) -> str:
    """A run under way of the cells as they are above, on a page that looks at it."""
    for code in CELLS.values():
        started.run(code)
    made = f"cells-{uuid.uuid4().hex[:8]}"
    started.run(f"state_of[{made!r}] = 'waiting'")
    started.run(SHOW.format(id=made))
    started.run("run = cells.start()")
    sleep_blocking(ROUND)
    return made


def page_of(started: Kernel) -> PageClient:
    """A page of the Lab."""
    page = PageClient(started, started.value("cells.widget.comm.comm_id"), started.subshell())
    page.send({"kind": "ready"})
    return page


def beats(started: Kernel) -> int:
    """Count the rounds of the run so far."""
    kinds = "sum(event.kind == 'heartbeat' for event in cells.run.events())"
    return int(started.value(kinds))


def ends_well(started: Kernel, flow_id: str) -> None:
    """Let the state change; the Step sees it in its next round, writes it and ends."""
    changed = perf_counter()
    started.run(f"state_of[{flow_id!r}] = 'done'")
    assert started.value("(await cells.wait(20)).status") == "COMPLETED"
    assert perf_counter() - changed < 5
    # What was reported before is another member than the one of now, and so is told again.
    written = "list(dict.fromkeys(message.value for message in cells.run.stream('Progress')))"
    assert started.value(written) == "['waiting', 'done']"
    assert started.value("cells.view()['status']") == "COMPLETED"


@pytest.mark.parametrize("again", ALONE)
def test_a_run_goes_on_though_a_cell_is_run_again(
    started: Kernel, flow_id: str, again: str
) -> None:
    """Each definition alone, and all: no attempt fails, and the page says how it ended."""
    page = page_of(started)
    page.snapshot(lambda shown: shown["view"]["status"] == "RUNNING")
    for name in ALONE[again]:
        started.run(CELLS[name])
    before = beats(started)
    sleep_blocking(ROUND)
    assert beats(started) > before
    ends_well(started, flow_id)
    page.snapshot(lambda shown: shown["view"]["status"] == "COMPLETED")
    assert started.value("cells.view()['steps']").count("'attempt': 2") == 0


@pytest.mark.parametrize("again", ALONE)
def test_the_lab_of_a_cell_that_is_run_again_keeps_the_run(
    started: Kernel, flow_id: str, again: str
) -> None:
    """The definition and then the Lab's own cell: the same run and engine, a page that acts."""
    run_id, threads = started.value("cells.run.run_id"), started.value(THREADS)
    for name in ALONE[again]:
        started.run(CELLS[name])
    started.run(SHOW.format(id=flow_id))
    assert (started.value("cells.run.run_id"), started.value(THREADS)) == (run_id, threads)
    runs = "sum(each.flow_id == cells.flow_id for each in cells.session.runs())"
    assert started.value(runs) == "1"
    assert started.value("cells.running") == "True"
    ends_well(started, flow_id)
    started.run(f"state_of[{flow_id!r}] = 'waiting'")
    assert page_of(started).timed("rerun")[1]["ok"]
    assert started.value("cells.running") == "True"
    assert started.value("cells.run.run_id") != run_id
    started.run("cells.stop()")


def test_what_a_cell_defines_anew_counts_from_the_next_run_on(
    started: Kernel, flow_id: str
) -> None:
    """A Step with another end: the open run ends by its old code, the graph shows the new."""
    started.run(CELLS["Step"].replace("graceful_complete", "force_complete"))
    started.run(SHOW.format(id=flow_id))
    names = "[node.name for node in cells.graph.nodes if node.kind == 'decision']"
    assert started.value(names) == "['forceComplete']"
    ends_well(started, flow_id)


def test_an_enum_that_lost_a_member_is_told_by_name_with_what_to_do(
    started: Kernel, flow_id: str
) -> None:
    """The Stream knows the Enum of before, which cannot hold the new one's value."""
    renamed = CELLS["Enum"].replace('DONE = "done"', 'DONE = "over"')
    started.run(renamed)
    started.run(f"state_of[{flow_id!r}] = 'over'")
    told = started.value("(await cells.wait(20)).error_message")
    assert "State, an older or newer one of that name: run the cells again that use it" in told


def test_a_step_that_is_renamed_is_missed_by_name_and_comes_back(
    started: Kernel, flow_id: str
) -> None:
    """Nothing is lost: the name that the run waits for is told, and its code goes on."""
    other = CELLS["Step"].replace("class Await", "class Other")
    flow = CELLS["Flow"].replace("Await()", "Other()")
    started.run(other)
    started.run(flow)
    started.run(SHOW.format(id=flow_id))
    assert "waits for code: no Step named Await" in started.value("cells.run.waiting_for_code")
    started.run(CELLS["Step"])
    started.run(CELLS["Flow"])
    started.run(SHOW.format(id=flow_id))
    assert started.value("repr(cells.run.waiting_for_code)") == "''"
    ends_well(started, flow_id)
