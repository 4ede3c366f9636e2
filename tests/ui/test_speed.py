"""How soon the Lab is there, how much it takes, and how it looks."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from dexnb.widgets.static_files import FOLDER
from tests.ui.cells import BEATS, CROWD, LAB, PER_SECOND, SECONDS, SHOW, STEPS
from tests.ui.notebook_page import NotebookPage

pytestmark = pytest.mark.ui

PAINT_MS = 1500
SLACK = 2
"""On a machine shared with others; the figures themselves are printed."""

LARGEST = 600_000
FRAMES = """() => {
  const root = document.querySelector('section.dexnb');
  let changed = false;
  window.dexnbFrames = 0;
  new MutationObserver(() => { changed = true; })
    .observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  const look = () => {
    if (changed) window.dexnbFrames += 1;
    changed = false;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def test_the_bundle_is_small() -> None:
    """It is sent with each output that shows a Lab."""
    size = (FOLDER / "lab.js").stat().st_size
    print(f"\nlab.js: {size} bytes, lab.css: {(FOLDER / 'lab.css').stat().st_size} bytes")
    assert size < LARGEST


def test_the_first_picture_comes_soon(notebook: NotebookPage) -> None:
    """From the beginning of the cell until the graph is drawn."""
    notebook.open(SHOW, LAB)
    notebook.run(0)
    took = notebook.first_paint(1)
    print(f"\nfirst paint: {took:.0f} ms after the cell began")
    assert took < PAINT_MS * SLACK


def test_a_crowd_is_shown_without_loss(notebook: NotebookPage) -> None:
    """Twelve Steps with 2,000 heartbeats a second: nothing is missing at the end."""
    notebook.open(CROWD, BEATS)
    notebook.run(0)
    expect(notebook.standing).to_have_text("Not started")
    notebook.page.evaluate(FRAMES)
    notebook.button("Run").click()
    expect(notebook.standing).to_have_text(f"Running · {STEPS} Steps")
    began = notebook.page.evaluate("() => [performance.now(), window.dexnbFrames]")
    expect(notebook.standing).to_have_text("Completed")
    ended = notebook.page.evaluate("() => [performance.now(), window.dexnbFrames]")
    seconds = (ended[0] - began[0]) / 1000
    print(
        f"\n{PER_SECOND} events/s: {(ended[1] - began[1]) / seconds:.1f} frames/s, {seconds:.1f} s"
    )
    each = SECONDS * PER_SECOND // STEPS
    assert notebook.printed(1) == f"{each * STEPS} {STEPS}"
    tab = notebook.lab.get_by_role("tab", name="Stream")
    expect(tab).to_contain_text(str(STEPS))
    for number in range(STEPS):
        expect(notebook.step(f"Part{number:02d}")).to_contain_text("done in")
    assert seconds < SECONDS * SLACK


def test_it_is_drawn_dark_and_narrow(notebook: NotebookPage, tmp_path: Path) -> None:
    """The theme is followed while the page is open; nothing sticks out of a narrow one."""
    notebook.open(SHOW, f"{LAB}\nlab.start()\nlab")
    notebook.run(0)
    notebook.run(1)
    expect(notebook.standing).to_have_text("Running")
    expect(notebook.lab).to_have_class("dexnb dexnb-light")
    notebook.choose_theme("JupyterLab Dark")
    expect(notebook.lab).to_have_class("dexnb dexnb-dark")
    notebook.lab.screenshot(path=tmp_path / "dark.png")
    notebook.page.set_viewport_size({"width": 800, "height": 1000})
    expect(notebook.step("AwaitJob")).to_be_visible()
    notebook.lab.screenshot(path=tmp_path / "narrow.png")
    print(f"\npictures: {tmp_path}")
    wide = notebook.page.evaluate("""() => {
      const lab = document.querySelector('section.dexnb');
      const right = lab.getBoundingClientRect().right;
      const inner = [...lab.querySelectorAll('header *, .dexnb-knobs *, .dexnb-side button')];
      return inner.filter((each) => each.getBoundingClientRect().right > right + 1)
        .map((each) => each.outerHTML.slice(0, 80));
    }""")
    assert wide == []
