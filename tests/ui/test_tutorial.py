"""The first tutorial, as its reader goes through it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.notebooks.refresh import NOTEBOOKS
from tests.notebooks.test_stored import code_cells
from tests.ui.notebook_page import NotebookPage

pytestmark = pytest.mark.ui

TIMES = "\N{MULTIPLICATION SIGN}"


def test_its_cells_run_and_its_lab_does_what_the_text_says(notebook: NotebookPage) -> None:
    """All cells; then Run at ten times the speed, Stop, Re-run and Complete job."""
    sources = ["".join(cell["source"]) for cell in code_cells(NOTEBOOKS / "01_polling.ipynb")]
    notebook.open(*sources)
    for index in range(len(sources)):
        notebook.run(index)
        assert all(output["output_type"] != "error" for output in notebook.output(index))
    live = notebook.lab.first
    standing = live.locator("header [role=status]")
    expect(standing).to_have_text("Not started")
    live.get_by_role("button", name=f"{TIMES}10").click()
    live.get_by_role("button", name="Run", exact=True).click()
    expect(standing).to_have_text("Completed")
    expect(live.locator('[data-id="step:AwaitBuild"]')).to_contain_text("round 16")
    expect(live.get_by_role("tab", name="Stream")).to_contain_text("2")

    live.get_by_role("button", name=f"{TIMES}1", exact=True).click()
    for name, then in (("Run", "Running"), ("Stop", "Cancelled"), ("Re-run", "Running")):
        live.get_by_role("button", name=name, exact=True).click()
        expect(standing).to_have_text(then)
    expect(live.locator('[data-id="step:AwaitBuild"]')).to_contain_text(re.compile("round 1.*call"))
    live.get_by_role("button", name="Complete job").click()
    expect(standing).to_have_text("Completed")
