"""The Lab in a real kernel: commands while cells run, interrupts, re-runs, exit, and its output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dexnb.clock import perf_counter, sleep_blocking
from tests.jupyter.kernels import FLOW, Kernel, Message, PageClient, kernel

pytestmark = [pytest.mark.timing, pytest.mark.slow]

BUSY = {
    "sleeping": "import time; time.sleep(3)",
    "awaiting": "await asyncio.sleep(3)",
    "computing": "end = time.perf_counter() + 3\nwhile time.perf_counter() < end: pass",
}
COMMANDS = 10
ACK_SECONDS = 0.25
INTERRUPT_SECONDS = 0.5
EXIT_SECONDS = 1.0
BEGUN = 0.4
"""Seconds after which a cell is under way."""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel with a Lab, shared by the tests that leave it as it is."""
    with kernel(tmp_path_factory.mktemp("kernel")) as made:
        made.run(FLOW)
        made.run("lab")
        yield made


@pytest.fixture(scope="module")
def page(started: Kernel) -> PageClient:
    """A page whose comm has a thread of its own, as in JupyterLab, on a running Flow."""
    client = PageClient(started, started.value("lab.widget.comm.comm_id"), started.subshell())
    client.send({"kind": "ready"})
    client.snapshot()
    assert client.timed("run")[1]["ok"]
    client.snapshot(lambda shown: shown["view"]["status"] == "RUNNING")
    return client


def displays(messages: list[Message]) -> list[Message]:
    """Give what was displayed."""
    return [m["content"]["data"] for m in messages if m["msg_type"].endswith("display_data")]


@pytest.mark.parametrize("busy", BUSY)
def test_commands_are_answered_while_a_cell_runs(
    started: Kernel, page: PageClient, busy: str
) -> None:
    """Each within 250 ms as the client sees it, and the knob takes effect."""
    cell = started.begin(BUSY[busy])
    sleep_blocking(BEGUN)
    times = []
    for number in range(COMMANDS):
        value = 0.3 + number / 20
        seconds, reply = page.timed("set_knob", name="POLL_INTERVAL", value=value, live=True)
        assert (reply["ok"], reply["result"]) == (True, value)
        times.append(seconds)
    assert started.busy(cell), "the cell was over before the commands were"
    page.snapshot(lambda shown: shown["view"]["overrides"].get("POLL_INTERVAL") == value)
    started.end(cell)
    print(f"\n{busy}: {', '.join(f'{1000 * seconds:.0f}' for seconds in times)} ms")
    assert max(times) < ACK_SECONDS


def test_a_page_that_is_mounted_while_a_cell_sleeps_is_told_at_once(
    started: Kernel, page: PageClient
) -> None:
    """As when all cells are run one after the other: the first message must not wait."""
    started.run("second = dex.lab(PollingFlow(jobs), 'order-2', runtime='lab.db')\nsecond")
    comm_id = started.value("second.widget.comm.comm_id")
    late = PageClient(started, comm_id, started.subshell())
    cell = started.begin(BUSY["sleeping"])
    sleep_blocking(BEGUN)
    began = perf_counter()
    late.send({"kind": "ready"})
    late.snapshot()
    assert perf_counter() - began < 1.5
    started.end(cell)


def test_a_page_without_a_thread_of_its_own_is_served_when_the_cell_ends(started: Kernel) -> None:
    """Hosts without subshells queue; nothing is lost."""
    plain = PageClient(started, started.value("lab.widget.comm.comm_id"))
    cell = started.begin("time.sleep(1)")
    sleep_blocking(BEGUN)
    seconds, reply = plain.timed("set_knob", name="POLL_INTERVAL", value=0.4, live=True)
    started.end(cell)
    assert reply["ok"]
    assert seconds < 5


def test_a_refusal_reaches_the_page(page: PageClient) -> None:
    """With the rule in words."""
    _, reply = page.timed("set_knob", name="POLL_INTERVAL", value=120, live=True)
    assert not reply["ok"]
    assert "over 40 s = 60 - 10 - 10" in reply["error"]


def test_a_repeated_command_is_done_once(page: PageClient) -> None:
    """And answered with the same reply."""
    first = page.command("set_knob", name="POLL_INTERVAL", value=0.5, live=True)
    _, reply = page.answer(first)
    count = len(page.contents("reply"))
    page.command("set_knob", identity=first, name="POLL_INTERVAL", value=0.5, live=True)
    page.timed("set_knob", name="POLL_INTERVAL", value=0.6, live=True)
    replies = page.contents("reply")
    assert len(replies) == count + 2
    assert replies.count(reply) == 2


def test_running_the_cell_again_multiplies_nothing(started: Kernel, page: PageClient) -> None:
    """Five times: one widget, one publisher, as many observers and threads as before."""
    probe = (
        "(len(lab.widget._trait_notifiers.get('initial', {})), "
        "len(lab.widget._msg_callbacks.callbacks), lab.widget.comm.comm_id, "
        "sum(t.name == 'dexnb-publisher' for t in __import__('threading').enumerate()), "
        "sum('dexnb' in f.__module__ for fs in get_ipython().events.callbacks.values() "
        "for f in fs))"
    )
    before = started.value(probe)
    for _ in range(5):
        started.run(FLOW.split("jobs = ")[0])
        started.run("lab = dex.lab(PollingFlow(jobs), 'order-1', runtime='lab.db')\nlab")
    assert started.value(probe) == before
    assert started.value("len(lab.session.runs(status='RUNNING'))") == "1"


AWAITED = {
    "lab.wait()": "the wait was interrupted; order-1 runs on",
    "lab.run.wait()": "CancelledError",
    "asyncio.sleep(5)": "CancelledError",
}


@pytest.mark.parametrize("awaited", AWAITED)
def test_an_interrupt_ends_an_awaiting_cell_and_leaves_the_flow(
    started: Kernel, page: PageClient, awaited: str
) -> None:
    """Soon; the kernel goes on and so does the run."""
    cell = started.begin(f"await {awaited}")
    sleep_blocking(1.0)
    began = perf_counter()
    started.manager.interrupt_kernel()
    with pytest.raises(AssertionError, match=AWAITED[awaited]):
        started.end(cell)
    seconds = perf_counter() - began
    print(f"\n{awaited} interrupted after {seconds:.2f} s")
    assert seconds < INTERRUPT_SECONDS
    assert started.value("lab.run.status") == "RUNNING"
    assert page.timed("set_knob", name="POLL_INTERVAL", value=0.7, live=True)[1]["ok"]


def test_what_a_step_prints_is_not_printed_into_other_cells(
    started: Kernel, page: PageClient
) -> None:
    """Nothing of the engine, the publisher or a command lands in a cell's output."""
    cell = started.begin("time.sleep(1)")
    page.timed("set_knob", name="POLL_INTERVAL", value=0.2, live=True)
    kinds = {message["msg_type"] for message in started.end(cell)}
    assert kinds <= {"status", "execute_input"}


def test_the_output_has_the_last_picture_once_the_run_has_ended(tmp_path: Path) -> None:
    """Updated in place, in the cell that waited; graph, status and rounds without a kernel."""
    with kernel(tmp_path) as made:
        made.run(FLOW)
        page, picture = displays(made.run("lab"))
        assert "not started" in picture["text/html"]
        assert page["text/plain"] == "<dexnb Lab of PollingFlow order-1>"
        assert "application/vnd.jupyter.widget-view+json" in page
        made.run("lab.set_knob('POLL_INTERVAL', 0.1); run = lab.start()")
        made.run("await asyncio.sleep(1); lab.complete_job('done')")
        updates = displays(made.run("await asyncio.sleep(0.5); result = await lab.wait()"))
        for part in ("COMPLETED order-1", "AwaitJob", "rounds", "graceful_complete"):
            assert part in updates[-1]["text/html"]


def test_the_output_is_updated_though_no_cell_waits(tmp_path: Path) -> None:
    """By the publisher, in whatever cell was run last."""
    with kernel(tmp_path) as made:
        made.run(FLOW)
        made.run("lab")
        made.run("run = lab.start()")
        made.run("lab.complete_job('done')")
        made.find(
            lambda message: (
                message["msg_type"] == "update_display_data"
                and "COMPLETED order-1" in message["content"]["data"]["text/html"]
            )
        )


def test_the_kernel_exits_soon_with_everything_open(tmp_path: Path) -> None:
    """A page, a session on SQLite and a running Flow do not hold it up."""
    with kernel(tmp_path) as made:
        made.run(FLOW)
        made.run("lab")
        made.run("run = lab.start()")
        sleep_blocking(1.0)
        began = perf_counter()
        made.client.shutdown()
        while made.manager.is_alive():
            assert perf_counter() - began < 10
            sleep_blocking(0.02)
        seconds = perf_counter() - began
        print(f"\nexit after {seconds:.2f} s")
        assert seconds < EXIT_SECONDS


CELL_FLOW = """
from enum import Enum
class State(Enum):
    RUNNING = 1
    SUCCEEDED = 2
PROGRESS = dex.Stream("Progress", State, 1 << 16)
class Await(dex.Step[str]):
    async def execute(self, context: dex.AsyncContext, input: str) -> dex.StepDecision:
        reported = context.get_last_heartbeat_value(State)
        while True:
            if state_of[input] == "done":
                state = State.SUCCEEDED
            else:
                state = State.RUNNING
            if state is State.SUCCEEDED:
                return dex.graceful_complete(input)
            if state is not reported:
                PROGRESS.write(context, state)
                reported = state
            else:
                await context.heartbeat(reported)
            await asyncio.sleep(0.05)
class CellFlow(dex.Flow[str]):
    def get_steps(self):
        return dex.StepList.start_step(Await())
    def get_persistence_schema(self):
        return dex.PersistenceSchema.of(PROGRESS)
"""


def test_cells_that_are_run_again_keep_working(started: Kernel) -> None:
    """Enum, Stream and Step are defined anew while the Flow waits: it ends in the next round."""
    started.run("state_of = {'a': 'running'}")
    started.run(CELL_FLOW)
    started.run("cells = dex.lab(CellFlow(), 'cells', 'a', runtime='lab.db', start=True)")
    sleep_blocking(0.5)
    started.run(CELL_FLOW)
    sleep_blocking(0.3)
    started.run("state_of['a'] = 'done'")
    assert started.value("(await cells.wait(20)).status") == "COMPLETED"
    started.run(CELL_FLOW.replace("return dex.graceful_complete", "return dex.force_complete"))
    started.run("cells = dex.lab(CellFlow(), 'cells', 'a', runtime='lab.db')")
    names = "[n.name for n in cells.graph.nodes if n.kind == 'decision']"
    assert started.value(names) == "['forceComplete']"
    assert started.value("cells.graph.path") == ""


def test_the_extension_gives_the_name(started: Kernel) -> None:
    """Nothing needs it."""
    started.run("del dex")
    started.run("%load_ext dexnb")
    assert started.value("dex.__name__") == "dexnb"
