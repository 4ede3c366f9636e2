"""Keys pressed in the Lab stay there, and the graph is only to look at."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.cells import LAB, LOOPING, SHOW
from tests.ui.notebook_page import NotebookPage

pytestmark = pytest.mark.ui

KEYS = ("a", "b", "x", "d", "d", "m", "z", "Delete", "Backspace", "ArrowDown", "Enter")


def test_d12_d13_no_key_changes_the_notebook_or_the_graph(notebook: NotebookPage) -> None:
    """Whatever has the focus: a Step, a button, a tab, a slider, the timeline, the frame."""
    notebook.open(SHOW, LAB, "1 + 1")
    notebook.run(0)
    notebook.run(1)
    expect(notebook.step("AwaitJob")).to_be_visible()
    before = notebook.cells()
    lab = notebook.lab
    places = {
        "step": notebook.step("AwaitJob"),
        "zoom": notebook.button("Fit the graph"),
        "tab": lab.get_by_role("tab", name="Log"),
        "rows": lab.get_by_role("log"),
        "slider": lab.get_by_role("slider", name="POLL_INTERVAL", exact=True),
        "timeline": lab.locator(".dexnb-lanes"),
        "frame": lab,
    }
    for place, element in places.items():
        element.focus()
        for key in KEYS:
            notebook.page.keyboard.press(key)
        assert notebook.cells() == before, place
        expect(lab.locator(".react-flow__node")).to_have_count(3)
    expect(lab).to_be_visible()
    assert (
        "elete" not in notebook.step("AwaitJob").locator("xpath=ancestor::section[1]").inner_text()
    )


def test_escape_gives_the_focus_back_and_tab_goes_through(notebook: NotebookPage) -> None:
    """By keys alone: into the Lab, through its parts in their order, and out again."""
    notebook.open(SHOW, LAB)
    notebook.run(0)
    notebook.run(1)
    expect(notebook.step("AwaitJob")).to_be_visible()
    notebook.lab.focus()
    names = []
    for _ in range(12):
        notebook.page.keyboard.press("Tab")
        names.append(
            notebook.page.evaluate(
                "() => document.activeElement.getAttribute('aria-label')"
                " ?? document.activeElement.textContent.trim()"
            )
        )
    assert names[0] == "Run"
    assert [name for name in names if name.startswith("Step ")] == [
        "Step StartJob, leads to AwaitJob",
        "Step AwaitJob, leads to RecordJobWaitFailure",
        "Step RecordJobWaitFailure",
    ]
    notebook.page.keyboard.press("Escape")
    inside = "() => document.querySelector('section.dexnb').contains(document.activeElement)"
    assert notebook.page.evaluate(inside) is False
    notebook.page.keyboard.press("b")
    assert len(notebook.cells()) == 3, "the notebook has its keys back"


def test_saving_by_keys_saves_the_notebook(notebook: NotebookPage) -> None:
    """Wherever in the Lab the focus is; nothing else happens."""
    notebook.open(SHOW, LAB)
    notebook.run(0)
    notebook.run(1)
    expect(notebook.step("AwaitJob")).to_be_visible()
    places = (notebook.step("AwaitJob"), notebook.button("Run"), notebook.lab)
    for place in (*places, notebook.lab.get_by_role("spinbutton").first):
        notebook.touch()
        assert notebook.unsaved
        place.focus()
        while notebook.unsaved:
            # JupyterLab leaves a wish to save alone while it is still saving.
            notebook.page.keyboard.press("Control+s")
            notebook.page.wait_for_timeout(300)
    expect(notebook.standing).to_have_text("Not started")


def test_d01_a_step_that_goes_back_to_itself_shows_its_loop(notebook: NotebookPage) -> None:
    """The way stands outside the Step's frame, with its arrow."""
    notebook.open(LOOPING)
    notebook.run(0)
    node = notebook.step("Poll").bounding_box()
    edge = notebook.lab.locator('[data-id="transition:Poll:Poll"] path').first.bounding_box()
    assert node is not None
    assert edge is not None
    beyond = (
        node["y"] - edge["y"],
        edge["y"] + edge["height"] - node["y"] - node["height"],
        node["x"] - edge["x"],
        edge["x"] + edge["width"] - node["x"] - node["width"],
    )
    assert max(beyond) >= 20
    notebook.button("Run").click()
    expect(notebook.standing).to_have_text("Completed")
    expect(notebook.step("Poll")).to_contain_text("execution 6")
