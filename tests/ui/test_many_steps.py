"""A Flow of five hundred Steps: drawn soon, and moved about without a stutter."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.notebook_page import NotebookPage

pytestmark = pytest.mark.ui

STEPS, EDGES = 500, 700
PAINT_MS = 3000
FRAMES_PER_SECOND = 20

MANY = f"""
import importlib
import sys
from pathlib import Path
import dexnb as dex

def text(number):
    on = f"dex.go_to(S{{number + 1}}, input)" if number < {STEPS - 1} else "dex.graceful_complete()"
    away = f"S{{(number * 7 + 3) % {STEPS}}}"
    more = f"        if input:\\n            return dex.go_to({{away}}, input)\\n"
    return (
        f"class S{{number}}(dex.Step[str]):\\n"
        "    def execute(self, context: dex.Context, input: str) -> dex.StepDecision:\\n"
        + (more if number < {EDGES - STEPS + 2} else "")
        + f"        return {{on}}\\n\\n"
    )

steps = ", ".join(f"S{{number}}()" for number in range(1, {STEPS}))
Path("many.py").write_text(
    "import dexnb as dex\\n\\n"
    + "".join(map(text, range({STEPS})))
    + "class Many(dex.Flow[str]):\\n"
    "    def get_steps(self) -> dex.StepList[str]:\\n"
    f"        return dex.StepList.start_step(S0()).other_steps({{steps}})\\n"
)
sys.path.insert(0, ".")
many = importlib.import_module("many")
lab = dex.lab(many.Many(), "many-1", "", runtime=dex.open("memory:"))
print(len(lab.graph.nodes) > {STEPS}, sum(e.kind == "transition" for e in lab.graph.edges))
"""

DRAG = """async () => {
  const pane = document.querySelector('section.dexnb .react-flow__pane');
  const { left, top } = pane.getBoundingClientRect();
  const at = (x, y, buttons) => ({ bubbles: true, cancelable: true, view: window, buttons,
    clientX: left + x, clientY: top + y, button: 0 });
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  pane.dispatchEvent(new MouseEvent('mousedown', at(200, 80, 1)));
  const began = performance.now();
  let frames = 0;
  while (performance.now() - began < 2000) {
    const x = 200 + 150 * Math.sin(frames / 5);
    window.dispatchEvent(new MouseEvent('mousemove', at(x, 80 + (frames % 7), 1)));
    await frame();
    frames += 1;
  }
  window.dispatchEvent(new MouseEvent('mouseup', at(200, 80, 0)));
  return frames / ((performance.now() - began) / 1000);
}"""
"""Drags the picture for two seconds; gives the frames a second."""


def test_d05_hundreds_of_steps_are_drawn_and_moved_smoothly(notebook: NotebookPage) -> None:
    """First picture within 3 s of its cell, at least 20 frames a second while it is dragged."""
    notebook.open(MANY, "lab")
    assert notebook.printed(0).split() == ["True", str(EDGES)]
    took = notebook.first_paint(1)
    expect(notebook.lab.locator(".react-flow__viewport")).to_be_visible()
    before = notebook.lab.locator(".react-flow__viewport").get_attribute("style")
    frames = notebook.page.evaluate(DRAG)
    after = notebook.lab.locator(".react-flow__viewport").get_attribute("style")
    print(f"\n{STEPS} Steps: first paint {took:.0f} ms, {frames:.1f} frames/s while dragged")
    assert after != before
    assert took < PAINT_MS
    assert frames >= FRAMES_PER_SECOND
