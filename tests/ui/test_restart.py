"""A kernel that is restarted: the picture stays, the run goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dexnb.jobs import HttpJobServer, JobScript
from tests.ui.cells import IMPORTS
from tests.ui.notebook_page import NotebookPage

pytestmark = pytest.mark.ui

LAB = """
import os
from dexnb.jobs import HttpJobs
lab = dex.lab(PollingFlow(HttpJobs("{url}", timeout=None)), "order-7", runtime="restart.db")
if lab.run is None:
    lab.set_knob("POLL_INTERVAL", 0.25)
    lab.start()
lab
"""
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
