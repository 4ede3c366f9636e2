"""What is pressed in the Lab takes effect, and what happens is seen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.ui.cells import FAILING, JOBS, LAB, SHOW
from tests.ui.notebook_page import NotebookPage

pytestmark = pytest.mark.ui

DURABLE = f"{JOBS}\nruntime = dex.open('durable.db')"


def test_a_run_is_started_watched_tuned_and_completed(
    notebook: NotebookPage,
) -> None:
    """The graph, the heartbeat, the messages, the dispatcher, and a knob that wakes a sleeper."""
    notebook.open(SHOW, LAB, "print(jobs.calls('order-1'))")
    notebook.run(0)
    notebook.run(1)
    expect(notebook.standing).to_have_text("Not started")
    expect(notebook.button("Stop")).to_be_disabled()

    notebook.button("Run").click()
    expect(notebook.standing).to_have_text("Running")
    poll = notebook.step("AwaitJob")
    expect(poll).to_contain_text(re.compile(r"round [3-9].*call.*sleep"))
    expect(poll).to_contain_text("checkpoint RUNNING")
    expect(poll.get_by_role("img", name=re.compile("silent for .* of 1 min"))).to_be_visible()
    expect(notebook.lab.get_by_role("log", name="Stream messages")).to_contain_text("RUNNING")
    expect(notebook.lab.get_by_label("Timeline")).to_contain_text("AwaitJob-1")
    notebook.lab.get_by_role("tab", name="Dispatcher").click()
    expect(notebook.lab.get_by_role("tabpanel")).to_contain_text(re.compile("[1-9] hit"))

    # A sleep of 30 s is cut short by the knob that is turned back.
    interval = notebook.lab.get_by_role("spinbutton", name="POLL_INTERVAL", exact=True)
    interval.fill("30")
    expect(poll).to_contain_text(re.compile(r"sleep [1-9]\.?\d* s"))
    before = int(notebook.printed(2))
    interval.fill("0.25")
    expect(poll).to_contain_text(re.compile(r"sleep (0\.\d+ s|[\d.]+ ms)"))
    assert int(notebook.printed(2)) > before
    picture = notebook.page.locator(".jp-OutputArea .dexnb-lab")
    expect(picture).to_be_hidden()

    notebook.button("Complete job").click()
    expect(notebook.standing).to_have_text("Completed")
    expect(notebook.lab.locator(".dexnb-notice")).to_contain_text("Output")
    expect(notebook.lab.locator(".dexnb-notice")).to_contain_text("AwaitJob-1")
    expect(poll).to_contain_text("done in")
    expect(notebook.lab.get_by_role("tab", name="Dispatcher")).to_have_attribute(
        "aria-selected", "true"
    )


def test_by_keys_alone_the_focus_stays_where_it_was(notebook: NotebookPage) -> None:
    """A button that does nothing any more still has it: Tab goes on from there."""
    notebook.open(SHOW, LAB)
    notebook.run(0)
    notebook.run(1)
    notebook.button("Run").focus()
    notebook.page.keyboard.press("Enter")
    expect(notebook.standing).to_have_text("Running")
    expect(notebook.button("Run")).to_be_disabled()
    expect(notebook.button("Run")).to_be_focused()
    notebook.page.keyboard.press("Tab")
    expect(notebook.button("Stop")).to_be_focused()
    notebook.page.keyboard.press("Enter")
    expect(notebook.standing).to_have_text("Cancelled")


def test_a_step_that_fails_for_ever_calls_for_attention(notebook: NotebookPage) -> None:
    """In the header and in the notes; code that is mended ends it."""
    notebook.open(FAILING, FAILING.replace("raise", "return dex.graceful_complete(7) #"))
    notebook.run(0)
    badge = notebook.lab.locator("header .dexnb-pill").first
    expect(badge).to_have_text("Needs attention")
    notebook.lab.get_by_role("tab", name="Notes").click()
    notes = notebook.lab.get_by_role("tabpanel")
    expect(notes).to_contain_text("Fetch-1 has failed")
    expect(notes).to_contain_text("ValueError: no such build")
    expect(notes).to_contain_text("run its cell again")
    notebook.run(1)
    expect(notebook.lab.last.locator(".dexnb-notice")).to_contain_text("Output7")
    expect(notebook.lab.last.locator("header .dexnb-pill").first).to_have_text("Valid")


def test_an_illegal_value_is_refused_where_it_is_typed(notebook: NotebookPage) -> None:
    """The window rule speaks at the knob; the run keeps what it had."""
    notebook.open(SHOW, f"{LAB}\nlab.start()\nlab", "print(lab.run.state().overrides)")
    notebook.run(0)
    notebook.run(1)
    expect(notebook.standing).to_have_text("Running")
    interval = notebook.lab.get_by_role("spinbutton", name="POLL_INTERVAL", exact=True)
    interval.fill("55")
    expect(notebook.lab.get_by_role("alert")).to_contain_text("40")
    expect(notebook.lab.get_by_role("alert")).to_contain_text("250 ms stays in force")
    assert "55" not in notebook.printed(2)
    interval.press("Escape")
    expect(notebook.lab.get_by_role("alert")).to_have_count(0)


def test_stop_cancels_and_run_again_goes_on(notebook: NotebookPage) -> None:
    """After each other, in one page."""
    notebook.open(SHOW, LAB)
    notebook.run(0)
    notebook.run(1)
    expect(notebook.button("Re-run")).to_be_disabled()
    for name in ("Run", "Re-run", "Re-run"):
        notebook.button(name).click()
        expect(notebook.standing).to_have_text("Running")
        notebook.button("Stop").click()
        expect(notebook.standing).to_have_text("Cancelled")
        expect(notebook.button("Run")).to_be_disabled()
    notebook.button("Re-run").click()
    expect(notebook.standing).to_have_text("Running")
    notebook.button("Re-run").click()
    expect(notebook.button("Stop")).to_be_enabled()


def test_a_cell_that_is_run_again_doubles_nothing(notebook: NotebookPage) -> None:
    """Five times: one page, one engine, one call for each interval."""
    count = """
before = jobs.calls("order-1"), time.monotonic()
while jobs.calls("order-1") < before[0] + 8:
    await asyncio.sleep(0.01)
engines = sum(t.name.startswith("dexnb-") for t in threading.enumerate())
print((jobs.calls("order-1") - before[0]) / ((time.monotonic() - before[1]) / 0.25), engines)
"""
    notebook.open(SHOW, LAB.replace("lab\n", "lab.start()\nlab\n"), count)
    notebook.run(0)
    notebook.run(1)
    expect(notebook.standing).to_have_text("Running")
    _, threads = notebook.printed(2).split()
    for _ in range(5):
        notebook.run(1)
    expect(notebook.lab).to_have_count(1)
    expect(notebook.standing).to_have_text("Running")
    rate, again = notebook.printed(2).split()
    assert float(rate) < 1.15
    assert again == threads


def test_a_page_that_is_loaded_again_shows_the_run(notebook: NotebookPage) -> None:
    """The kernel has gone on meanwhile, and the buttons work."""
    notebook.open(SHOW, f"{LAB}\nlab.start()\nlab")
    notebook.run(0)
    notebook.run(1)
    expect(notebook.step("AwaitJob")).to_contain_text(re.compile(r"round [3-9]"))
    notebook.reload()
    expect(notebook.step("AwaitJob")).to_contain_text(re.compile(r"round \d\d"))
    notebook.button("Complete job").click()
    expect(notebook.standing).to_have_text("Completed")
