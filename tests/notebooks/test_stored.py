"""What the repository stores of a notebook: outputs of one run in order, and nothing of its host.

That the outputs are still what the code gives is checked by nbval, in `make test`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks.refresh import METADATA, NOTEBOOKS

FOUND = sorted(NOTEBOOKS.glob("*.ipynb"))


def code_cells(path: Path) -> list[dict[str, Any]]:
    """Give the code cells of a notebook."""
    cells: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_it_was_executed_from_top_to_bottom(path: Path) -> None:
    """Each cell once, in order, without an error and without a word on stderr."""
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert outputs
    assert {output["output_type"] for output in outputs} <= {
        "display_data",
        "execute_result",
        "stream",
    }
    assert all(output.get("name") != "stderr" for output in outputs)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_its_metadata_tells_nothing_of_the_host(path: Path) -> None:
    """No times, no widget state, no version of Python."""
    book = json.loads(path.read_text("utf-8"))
    assert book["metadata"] == METADATA
    assert [cell["id"] for cell in book["cells"] if cell["metadata"]] == []


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_every_lab_left_its_picture(path: Path) -> None:
    """A reader without a kernel sees the graph, and the timeline where there was a run."""
    pictures = [
        "".join(output["data"]["text/html"])
        for cell in code_cells(path)
        for output in cell["outputs"]
        # Tables and graphs have a plain form beside; a Lab has none.
        if "text/html" in output.get("data", {}) and "text/plain" not in output["data"]
    ]
    assert all("data:image/svg+xml" in picture for picture in pictures)
    assert not any("<script" in picture for picture in pictures)
    assert not pictures or any("rounds" in picture for picture in pictures)


def test_there_are_notebooks() -> None:
    """The tests above run on something."""
    assert FOUND
