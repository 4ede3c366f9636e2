"""What is known against a Flow: seen in the graph, read at its line, gone when it is mended."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.cells import FAULTY, FAULTY_LAB, MENDED_PART, SECRET, WORKING_PART
from tests.ui.notebook_page import NotebookPage

pytestmark = pytest.mark.ui


def rows(notebook: NotebookPage) -> Locator:
    """Give the findings that are listed."""
    return notebook.lab.locator(".dexnb-finding")


def test_a_finding_leads_from_its_badge_to_its_line(notebook: NotebookPage) -> None:
    """By hand, then by keys alone; a secret beside the line never comes to the page."""
    notebook.open(FAULTY, FAULTY_LAB, FAULTY.replace(WORKING_PART, MENDED_PART))
    notebook.run(0)
    notebook.run(1)
    badge = notebook.step("Fetch").locator(".dexnb-badge")
    expect(badge).to_have_attribute(
        "title",
        "5 findings: DX302 blocking-call, DX203 unbounded-wait, DX207 no-failure-route, "
        "DX304 checkpoint-never-read",
    )
    badge.click()
    expect(notebook.lab.get_by_role("tab", name="Findings")).to_have_attribute(
        "aria-selected", "true"
    )
    expect(rows(notebook)).to_have_count(5)
    expect(notebook.button("only Fetch")).to_be_visible()
    blocking = rows(notebook).filter(has_text="httpx.get blocks")
    expect(blocking).to_contain_text("In [1]:")
    blocking.get_by_role("button").first.click()
    marked = notebook.lab.locator(".dexnb-marked")
    expect(marked).to_contain_text("return httpx.get(")
    expect(notebook.step("Fetch").locator(".dexnb-chosen")).to_be_visible()
    expect(notebook.lab.locator(".dexnb-source-lines")).to_contain_text('"<hidden>"')
    assert SECRET not in notebook.lab.inner_html()

    badge.focus()
    press = notebook.page.keyboard.press
    press("Enter")
    expect(rows(notebook).first.get_by_role("button").first).to_be_focused()
    press("Enter")
    expect(marked).to_contain_text("time.sleep(0.001)")
    press("Tab")
    expect(notebook.lab.locator(".dexnb-source-lines")).to_be_focused()
    press("Tab")
    press("Enter")
    expect(notebook.lab.locator(".dexnb-rule")).to_contain_text("Why")

    # Code that is mended is judged anew, wherever its Lab is read.
    notebook.run(2)
    notebook.run(1)
    expect(notebook.lab.locator("header .dexnb-pill").first).to_have_text("Valid")
    expect(notebook.lab.locator(".dexnb-badge")).to_have_count(0)


def test_a_window_is_judged_by_the_knobs_of_now(notebook: NotebookPage) -> None:
    """It goes with the knob that mends it, and is back when the margin is wider."""
    wider = "dex.lab(Faulty(), 'faulty-1', 'x', runtime=runtime, margin={margin});"
    notebook.open(
        FAULTY, f"{FAULTY_LAB[:-4]}{wider.format(margin=56)}\nlab", wider.format(margin=58)
    )
    notebook.run(0)
    notebook.run(1)
    notebook.lab.get_by_role("tab", name="Findings").click()
    window = rows(notebook).filter(has_text="window-rule")
    expect(window).to_contain_text("interval 5 s")
    interval = notebook.lab.get_by_role("spinbutton", name="POLL_INTERVAL", exact=True)
    interval.fill("3")
    expect(window).to_have_count(0)
    expect(rows(notebook)).to_have_count(5)
    notebook.run(2)
    expect(window).to_contain_text("interval 3 s")
