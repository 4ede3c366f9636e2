"""The Lab goes on while the kernel works on a cell."""

from __future__ import annotations

import re
import statistics

import pytest
from playwright.sync_api import expect

from tests.ui.cells import BUSY, LAB, SHOW
from tests.ui.notebook_page import NotebookPage

pytestmark = pytest.mark.ui

ACK_MS = 250
SLACK = 3
"""On a machine shared with others; the figure itself is printed."""


@pytest.mark.parametrize("kind", BUSY)
def test_the_picture_moves_and_commands_act_while_a_cell(notebook: NotebookPage, kind: str) -> None:
    """Rounds go on, and a command is answered at once: Stop and Re-run, by turns."""
    notebook.watch_answers()
    notebook.open(SHOW, f"{LAB}\nlab.start()\nlab", BUSY[kind].format(seconds=5))
    notebook.run(0)
    notebook.run(1)
    expect(notebook.standing).to_have_text("Running")
    poll = notebook.step("AwaitJob")
    expect(poll).to_contain_text(re.compile(r"round [2-9]"))
    notebook.begin(2)
    seen = poll.locator(".dexnb-live-row").first.inner_text()
    expect(poll.locator(".dexnb-live-row").first).not_to_contain_text(seen.split(" · ")[0])
    for _ in range(3):
        notebook.button("Stop").click()
        expect(notebook.standing).to_have_text("Cancelled")
        notebook.button("Re-run").click()
        expect(notebook.standing).to_have_text("Running")
    took = notebook.answers()
    assert notebook.busy(2), "the cell was over before the commands were"
    print(f"\nanswers while a cell {kind}: {[round(ms) for ms in took]} ms")
    assert len(took) == 6
    assert statistics.median(took) < ACK_MS * SLACK
    notebook.ended(2)
    expect(notebook.standing).to_have_text("Running")
    notebook.button("Complete job").click()
    expect(notebook.standing).to_have_text("Completed")
