"""The page in front of a kernel of ipykernel 6, which may not come to it while a cell runs."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.house.tree import ROOT
from tests.ui.cells import LAB, SHOW
from tests.ui.jupyter_server import JupyterServer
from tests.ui.notebook_page import NotebookPage

pytestmark = [pytest.mark.ui, pytest.mark.external("ipykernel6")]

FOLDER = ROOT / ".ipykernel6"
NAME = "ipykernel6"
QUEUED = "Stop: queued: the kernel is busy"


@pytest.fixture
def old_kernel(server: JupyterServer) -> str:
    """The name of that kernel, which the server learns of here."""
    if not (FOLDER / "ipykernel").is_dir():
        pytest.skip("no folder .ipykernel6: `make .ipykernel6/.installed` makes it")
    spec: dict[str, Any] = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3 (ipykernel 6)",
        "language": "python",
        "env": {"PYTHONPATH": str(FOLDER)},
    }
    place = server.root.parent / "data/kernels" / NAME
    place.mkdir(parents=True, exist_ok=True)
    (place / "kernel.json").write_text(json.dumps(spec), "utf-8")
    return NAME


def opened(notebook: NotebookPage, kernel: str, *sources: str) -> None:
    """Open a notebook of these cells on that kernel."""
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
    }
    document = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}},
        "cells": [{**cell, "id": f"c{n}", "source": source} for n, source in enumerate(sources)],
    }
    notebook.name, notebook.count = f"{kernel}.ipynb", len(sources)
    (notebook.server.root / notebook.name).write_text(json.dumps(document), "utf-8")
    notebook.page.goto(notebook.server.link(notebook.name))
    notebook.wait_idle()


def test_a_command_is_shown_as_queued_until_the_cell_ends(
    notebook: NotebookPage, old_kernel: str
) -> None:
    """While a cell sleeps; then it is done, and nothing sticks. While one awaits, it acts."""
    version = "print(__import__('ipykernel').__version__)"
    cells = (SHOW, f"{LAB}\nlab.start()\nlab", "time.sleep(4)", "await lab.wait()", version)
    opened(notebook, old_kernel, *cells)
    assert notebook.printed(4).startswith("6.31.")
    notebook.run(0)
    notebook.run(1)
    expect(notebook.standing).to_have_text("Running")
    notebook.begin(2)
    notebook.button("Stop").click()
    expect(notebook.lab.get_by_text(QUEUED)).to_be_visible()
    assert notebook.busy(2), "the cell was over before the page said so"
    expect(notebook.standing).to_have_text("Cancelled")
    expect(notebook.lab.get_by_text(QUEUED)).to_be_hidden()
    notebook.ended(2)

    notebook.button("Re-run").click()
    expect(notebook.standing).to_have_text("Running")
    notebook.begin(3)
    notebook.button("Complete job").click()
    expect(notebook.standing).to_have_text("Completed")
    notebook.ended(3)
