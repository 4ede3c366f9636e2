"""The Lab in a kernel of ipykernel 6, which takes one message of the page or one cell at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dexnb.clock import perf_counter, sleep_blocking
from tests.house.tree import ROOT
from tests.jupyter.kernels import FLOW, Kernel, PageClient, kernel

pytestmark = [pytest.mark.timing, pytest.mark.external("ipykernel6")]

FOLDER = ROOT / ".ipykernel6"
AWAITING = ("lab.wait()", "lab.run.wait()", "asyncio.sleep(5)")
COMMANDS = 10
ACK_SECONDS = 0.25
INTERRUPT_SECONDS = 0.5
EXIT_SECONDS = 1.0
BEGUN = 0.4
"""Seconds after which a cell is under way."""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel with a Lab, shared by the tests that leave it as it is."""
    if not (FOLDER / "ipykernel").is_dir():
        pytest.skip("no folder .ipykernel6: `make .ipykernel6/.installed` makes it")
    with kernel(tmp_path_factory.mktemp("kernel"), FOLDER) as made:
        made.run(FLOW)
        made.run("lab")
        yield made


@pytest.fixture(scope="module")
def page(started: Kernel) -> PageClient:
    """A page on a running Flow; its comm has no thread of its own."""
    client = PageClient(started, started.value("lab.widget.comm.comm_id"))
    client.send({"kind": "ready"})
    client.snapshot()
    assert client.timed("run")[1]["ok"]
    client.snapshot(lambda shown: shown["view"]["status"] == "RUNNING")
    return client


def answered(page: PageClient) -> list[float]:
    """Turn a knob many times; give the seconds that each took, which are printed."""
    times = []
    for number in range(COMMANDS):
        value = 0.3 + number / 20
        seconds, reply = page.timed("set_knob", name="POLL_INTERVAL", value=value, live=True)
        assert (reply["ok"], reply["result"]) == (True, value)
        times.append(seconds)
    print(f"\n{', '.join(f'{1000 * seconds:.0f}' for seconds in times)} ms")
    return times


def interrupted(started: Kernel, cell: str, says: str) -> None:
    """Interrupt a cell, which has to end soon and say so."""
    began = perf_counter()
    started.manager.interrupt_kernel()
    with pytest.raises(AssertionError, match=says):
        started.end(cell)
    seconds = perf_counter() - began
    print(f"\ninterrupted after {seconds:.2f} s")
    assert seconds < INTERRUPT_SECONDS


def replies(page: PageClient, identity: str) -> int:
    """Count the answers to a command."""
    return sum(reply["id"] == identity for reply in page.contents("reply"))


def test_it_is_that_kernel(started: Kernel) -> None:
    """And not the environment's."""
    assert started.value("__import__('ipykernel').__version__").startswith("6.31.")


def test_commands_are_answered_while_the_kernel_is_idle(page: PageClient) -> None:
    """Each within 250 ms as the client sees it."""
    assert max(answered(page)) < ACK_SECONDS


@pytest.mark.parametrize("awaited", AWAITING)
def test_commands_are_answered_while_a_cell_awaits(
    started: Kernel, page: PageClient, awaited: str
) -> None:
    """Within 250 ms too; an interrupt then ends the cell and leaves the flow running."""
    cell = started.begin(f"await {awaited}\nprint('to its end')")
    sleep_blocking(BEGUN)
    times = answered(page)
    assert started.busy(cell)
    interrupted(started, cell, "CancelledError")
    assert max(times) < ACK_SECONDS
    assert started.value("lab.run.status") == "RUNNING"
    assert page.timed("set_knob", name="POLL_INTERVAL", value=0.7, live=True)[1]["ok"]


def test_what_a_cell_prints_while_pages_are_served_stays_its_own(
    started: Kernel, page: PageClient
) -> None:
    """Though each message of the page takes the kernel's outputs to itself for a moment."""
    code = "for number in range(20):\n    await asyncio.sleep(0.05)\n    print(number)"
    cell = started.begin(code)
    sleep_blocking(0.2)
    assert max(answered(page)[:5]) < ACK_SECONDS
    printed = [
        message["content"]["text"]
        for message in started.end(cell)
        if message["msg_type"] == "stream"
    ]
    assert "".join(printed).split() == [str(number) for number in range(20)]


def test_a_command_waits_for_a_cell_that_sleeps_and_is_then_answered_once(
    started: Kernel, page: PageClient
) -> None:
    """Nothing is lost, nothing sticks: the next command is answered at once."""
    cell = started.begin("time.sleep(2)")
    sleep_blocking(BEGUN)
    identity = page.command("set_knob", name="POLL_INTERVAL", value=0.45, live=True)
    with pytest.raises(AssertionError, match="no such message"):
        page.answer(identity, timeout=1.0)
    assert started.busy(cell)
    started.end(cell)
    _, reply = page.answer(identity, timeout=1.0)
    assert (reply["ok"], reply["result"]) == (True, 0.45)
    page.snapshot(lambda shown: shown["view"]["overrides"].get("POLL_INTERVAL") == 0.45)
    assert page.timed("set_knob", name="POLL_INTERVAL", value=0.5, live=True)[0] < ACK_SECONDS
    assert replies(page, identity) == 1


def test_a_command_that_is_repeated_while_a_cell_sleeps_is_done_once(
    started: Kernel, page: PageClient
) -> None:
    """The page sends it again each second, under the same id."""
    runs = int(started.value("len(lab.session.runs())"))
    cell = started.begin("time.sleep(1.5)")
    sleep_blocking(BEGUN)
    identity = page.command("rerun")
    for _ in range(3):
        page.command("rerun", identity=identity)
    started.end(cell)
    assert page.answer(identity)[1]["ok"]
    assert int(started.value("len(lab.session.runs())")) == runs + 1
    assert started.value("lab.run.status") == "RUNNING"


def test_running_the_cell_again_does_not_multiply_what_serves_the_page(
    started: Kernel, page: PageClient
) -> None:
    """Five times: as many hooks of the cells, and tasks, as before."""
    probe = (
        "(sum('dexnb' in f.__module__ for fs in get_ipython().events.callbacks.values() "
        "for f in fs), sum('_AwaitingCells' in repr(t) for t in asyncio.all_tasks()))"
    )
    before = started.value(probe)
    for _ in range(5):
        started.run("lab = dex.lab(PollingFlow(jobs), 'order-1', runtime='lab.db')\nlab")
    assert started.value(probe) == before == "(2, 1)"


def test_the_kernel_exits_soon_with_everything_open(started: Kernel, tmp_path: Path) -> None:
    """A page, a session on SQLite and a running Flow do not hold it up."""
    with kernel(tmp_path, FOLDER) as made:
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
