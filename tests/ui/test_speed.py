"""How soon the Lab is there, how much it takes, and how it looks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dexnb.widgets.static_files import FOLDER
from tests.ui.cells import BEATS, CROWD, LAB, PER_SECOND, SECONDS, SHOW, STEPS
from tests.ui.notebook_page import PATIENCE, NotebookPage

pytestmark = pytest.mark.ui

PAINT_MS = 1500
FRAMES_PER_SECOND = 12
LONGEST_TASK_MS = 100
MESSAGES_PER_SECOND = 20
LARGEST = 600_000

COUNT_MESSAGES = """(() => {
  window.dexnbMessages = [];
  const head = (data) => typeof data === 'string'
    ? data.slice(0, 2000) : new TextDecoder().decode(new Uint8Array(data).subarray(0, 2000));
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener('message', ({ data }) => {
        if (head(data).match(/"msg_type": ?"(\\w+)"/)?.[1] !== 'comm_msg') return;
        window.dexnbMessages.push([performance.now(), data.length ?? data.byteLength]);
      });
    }
  };
})();"""
"""Notes when each message of a widget came, and how large it was."""

WATCH = """() => {
  const found = { frames: [], tasks: [], began: null, ended: null };
  window.dexnbSpeed = found;
  new PerformanceObserver((list) => {
    found.tasks.push(...list.getEntries().map(({ startTime, duration }) => [startTime, duration]));
  }).observe({ entryTypes: ['longtask'] });
  const output = document.querySelector('section.dexnb').closest('.jp-Cell-outputArea');
  const standing = () => output.querySelector('section.dexnb header [role=status]')?.textContent;
  let waits = false;
  const drawn = () => {
    waits = false;
    const text = standing() ?? '';
    if (text.includes('Running · ')) found.began ??= performance.now();
    if (found.began !== null && found.ended === null) found.frames.push(performance.now());
    if (text.includes('Completed')) found.ended ??= performance.now();
  };
  new MutationObserver(() => {
    if (!waits) requestAnimationFrame(drawn);
    waits = true;
  }).observe(output, { subtree: true, childList: true, attributes: true, characterData: true });
}"""
"""Counts the drawings in which something of the Lab is another, and the tasks that block."""

ENDED = "() => window.dexnbSpeed.ended !== null"
POLL_MS = 250
"""To ask in each frame, or for what the page shows, would itself cost the page time."""

SETTLED_MS = 1000
"""Behind the end of a run: its output is shown anew then."""


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
    assert took < PAINT_MS


def test_a_crowd_is_shown_smoothly_and_without_loss(notebook: NotebookPage) -> None:
    """Twelve Steps with 2,000 heartbeats a second: drawn often, told seldom, whole at the end."""
    notebook.page.add_init_script(COUNT_MESSAGES)
    notebook.open(CROWD, BEATS)
    notebook.run(0)
    expect(notebook.standing).to_have_text("Not started")
    notebook.button("Run").click()
    notebook.lab.evaluate("(lab) => lab.scrollIntoView()")
    notebook.page.evaluate(WATCH)
    notebook.page.wait_for_function(ENDED, polling=POLL_MS, timeout=PATIENCE)
    notebook.page.wait_for_timeout(SETTLED_MS)
    expect(notebook.standing).to_have_text("Completed")
    speed = Speed.of(notebook)
    print(f"\n{PER_SECOND} events/s of {STEPS} Steps: {speed}")
    each = SECONDS * PER_SECOND // STEPS
    assert notebook.printed(1) == f"{each * STEPS} {STEPS}"
    tab = notebook.lab.get_by_role("tab", name="Stream")
    expect(tab).to_contain_text(str(STEPS))
    for number in range(STEPS):
        expect(notebook.step(f"Part{number:02d}")).to_contain_text("done in")
    assert speed.frames >= FRAMES_PER_SECOND
    assert speed.longest_task <= LONGEST_TASK_MS
    assert speed.messages <= MESSAGES_PER_SECOND
    assert speed.most_messages <= MESSAGES_PER_SECOND


@dataclass(frozen=True)
class Speed:
    """What the page saw of one run.

    Args:
        seconds: How long it was seen running.
        frames: Drawings a second that differed from the one before.
        longest_task: Milliseconds for which the page could not answer; 0 if always under 50.
        messages: Messages of widgets a second.
        most_messages: The most of them that came within any one second.
        size: Bytes of them a second.
    """

    seconds: float
    frames: float
    longest_task: float
    messages: float
    most_messages: int
    size: float

    @classmethod
    def of(cls, notebook: NotebookPage) -> Speed:
        """Read it when the run has ended."""
        found = notebook.page.evaluate("() => window.dexnbSpeed")
        all_messages = notebook.page.evaluate("() => window.dexnbMessages")
        began, ended = found["began"], found["ended"]
        seconds = (ended - began) / 1000
        came = [time for time, _ in all_messages if began <= time <= ended]
        return cls(
            seconds,
            len(found["frames"]) / seconds,
            max((duration for _, duration in found["tasks"]), default=0.0),
            len(came) / seconds,
            max(sum(at <= time < at + 1000 for time in came) for at in came),
            sum(size for time, size in all_messages if began <= time <= ended) / seconds,
        )

    def __str__(self) -> str:
        """Say it in one line."""
        return (
            f"{self.frames:.1f} frames/s, longest task {self.longest_task:.0f} ms, "
            f"{self.messages:.1f} messages/s (at most {self.most_messages} in one), "
            f"{self.size / 1000:.0f} kB/s, {self.seconds:.1f} s"
        )


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
