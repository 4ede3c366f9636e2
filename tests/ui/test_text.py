"""What comes from outside is text in the page, whatever it looks like."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.cells import HOSTILE, HOSTILE_ID
from tests.ui.notebook_page import NotebookPage

pytestmark = pytest.mark.ui

MADE = "img[src=x], section.dexnb script, section.dexnb b b, section.dexnb i i, .dexnb-lab script"


def test_markup_stays_text(notebook: NotebookPage) -> None:
    """In the page while it lives, and in the picture that a page without a kernel shows."""
    notebook.open(HOSTILE)
    notebook.run(0)
    expect(notebook.standing).to_have_text("Failed")
    expect(notebook.lab.get_by_role("log")).to_contain_text("</script>")
    expect(notebook.lab.locator("header")).to_contain_text(HOSTILE_ID[:20])
    notebook.lab.get_by_role("tab", name="Log").click()
    expect(notebook.lab.get_by_role("log")).to_contain_text("document.title=")
    assert notebook.page.locator(MADE).count() == 0
    assert notebook.page.title() != "broken"

    notebook.restart_kernel()
    notebook.reload()
    picture = notebook.page.locator(".jp-OutputArea .dexnb-lab")
    expect(picture).to_contain_text(HOSTILE_ID)
    expect(picture).to_contain_text("</script>")
    assert notebook.page.locator(MADE).count() == 0
    assert notebook.page.title() != "broken"
