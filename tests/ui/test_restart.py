"""A kernel that is restarted: the picture stays, the run goes on."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dexnb.jobs import HttpJobServer, JobScript
from tests.ui.cells import IMPORTS, SHOW
from tests.ui.cells import LAB as ORDER
from tests.ui.notebook_page import NotebookPage

# On a busy machine a kernel takes its time to come back.
pytestmark = [pytest.mark.ui, pytest.mark.timeout(180)]

LAB = """
import os
from dexnb.jobs import HttpJobs
lab = dex.lab(PollingFlow(HttpJobs("{url}", timeout=None)), "order-7", runtime="restart.db")
if lab.run is None:
    lab.set_knob("POLL_INTERVAL", 0.25)
    lab.start()
lab
"""
PROCESS = "import os; print(os.getpid())"
RUN = "print(lab.run.run_id, len(lab.session.runs()))"


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[HttpJobServer]:
    """A system of its own, which no kernel takes along."""
    with HttpJobServer(tmp_path / "jobs.json", script=JobScript.endless()) as server:
        yield server


def test_the_run_goes_on_after_a_restart(notebook: NotebookPage, jobs: HttpJobServer) -> None:
    """Meanwhile the static picture stands there; the cell run again shows the same run."""
    notebook.open(IMPORTS, LAB.format(url=jobs.url), RUN)
    notebook.run(0)
    notebook.run(1)
    expect(notebook.step("AwaitJob")).to_contain_text(re.compile(r"round [4-9]"))
    before = notebook.printed(2)

    notebook.restart_kernel()
    notebook.reload()
    picture = notebook.page.locator(".jp-OutputArea .dexnb-lab")
    expect(picture).to_be_visible()
    expect(picture).to_contain_text("PollingFlow")
    expect(notebook.page.get_by_text("model not found")).to_be_hidden()

    notebook.run(0)
    notebook.run(1)
    expect(notebook.standing).to_have_text(re.compile("Running"))
    expect(picture).to_be_hidden()
    expect(notebook.step("AwaitJob")).to_contain_text(re.compile(r"round \d\d"))
    assert notebook.printed(2) == before
    interval = notebook.lab.get_by_role("spinbutton", name="POLL_INTERVAL", exact=True)
    expect(interval).to_have_value("0.25")
    notebook.button("Complete job").click()
    expect(notebook.standing).to_have_text("Completed")


def test_a_kernel_that_dies_is_missed(notebook: NotebookPage, jobs: HttpJobServer) -> None:
    """The page says so and stands still; the cell run again shows the run, which goes on."""
    notebook.open(IMPORTS, LAB.format(url=jobs.url).replace("restart", "dies"), PROCESS)
    notebook.run(0)
    notebook.run(1)
    expect(notebook.step("AwaitJob")).to_contain_text(re.compile(r"round [3-9]"))
    os.kill(int(notebook.printed(2)), signal.SIGKILL)
    expect(notebook.lab.get_by_role("alert")).to_contain_text("No word from the kernel for")
    expect(notebook.lab.get_by_role("alert")).to_contain_text("run the cell of this Lab again")
    expect(notebook.standing).to_have_text("Last seen: Running")
    still = notebook.lab.locator("header time").inner_text()
    expect(notebook.lab.get_by_role("alert")).to_contain_text(re.compile("for 1[0-9] s"))
    assert notebook.lab.locator("header time").inner_text() == still

    notebook.page.get_by_role("button", name="Ok").click()
    notebook.wait_idle()
    notebook.run(0)
    notebook.run(1)
    expect(notebook.standing).to_have_text(re.compile(r"^\s*Running"))
    expect(notebook.lab.get_by_role("alert")).to_have_count(0)


def test_without_a_kernel_the_picture_stands_there(notebook: NotebookPage) -> None:
    """In a notebook that was saved and is opened where nothing runs: no error, one picture."""
    notebook.open(SHOW, ORDER)
    notebook.run(0)
    notebook.run(1)
    notebook.button("Run").click()
    notebook.button("Complete job").click()
    expect(notebook.standing).to_have_text("Completed")
    expect(notebook.page.locator(".jp-OutputArea .dexnb-lab")).to_contain_text("COMPLETED")
    notebook.reopen_without_kernel()
    picture = notebook.page.locator(".jp-OutputArea .dexnb-lab")
    expect(picture).to_be_visible()
    expect(picture).to_contain_text("COMPLETED order-1")
    for words in ("model not found", "Error displaying", "Error creating"):
        expect(notebook.page.get_by_text(words).locator("visible=true")).to_have_count(0)
    assert notebook.lab.count() == 0
