"""SubFlows as the page of the run that waits for them shows them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from dexnb.jupyter.children import MOST_OF_GENERATION
from tests.ui.notebook_page import PATIENCE, NotebookPage
from tests.ui.test_speed import (
    COUNT_MESSAGES,
    ENDED,
    FRAMES_PER_SECOND,
    LONGEST_TASK_MS,
    MESSAGES_PER_SECOND,
    POLL_MS,
    SETTLED_MS,
    WATCH,
    Speed,
)

pytestmark = pytest.mark.ui

COUNT = 30
RELEASE = f"""
import asyncio
import dexnb as dex

NEWS = dex.Stream("Progress", str, 1 << 16)

class Poll(dex.Step[int]):
    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        for number in range(18):
            await asyncio.sleep(0.19 + input / 1000)
            await context.heartbeat(number)
        NEWS.write(context, f"<b>built</b> {{input}}")
        print("built", input)
        return dex.go_to(Sign, input) if input == 0 else dex.graceful_complete(input)

class Sign(dex.Step[int]):
    async def wait_for(self, context: dex.AsyncContext, input: int) -> dex.Wait:
        return dex.Wait.until(dex.SubFlow.run(Signature(), input))

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        return dex.graceful_complete(input)

class Build(dex.Flow[int]):
    def get_steps(self) -> dex.StepList[int]:
        return dex.StepList.start_step(Poll()).other_steps(Sign())
    def get_persistence_schema(self) -> dex.PersistenceSchema:
        return dex.PersistenceSchema.of(NEWS)

class AskForKey(dex.Step[int]):
    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        await asyncio.sleep(1)
        return dex.force_fail("no key")

class Signature(dex.Flow[int]):
    def get_steps(self) -> dex.StepList[int]:
        return dex.StepList.start_step(AskForKey())

class AwaitBuilds(dex.Step[None]):
    async def wait_for(self, context: dex.AsyncContext, input: None) -> dex.Wait:
        return dex.Wait.all_of(*[dex.SubFlow.run(Build(), each) for each in range({COUNT})])

    async def execute(self, context: dex.AsyncContext, input: None) -> dex.StepDecision:
        return dex.graceful_complete("released")

class Release(dex.Flow[None]):
    def get_steps(self) -> dex.StepList[None]:
        return dex.StepList.start_step(AwaitBuilds())

lab = dex.lab(Release(), "r-1", runtime="memory:")
lab
"""
CHILD = "SubFlow:r-1-AwaitBuilds-1-0"


def test_a_crowd_of_subflows_lives_in_their_parents_page(notebook: NotebookPage) -> None:
    """Drawn often, told seldom; opened and closed by keys; their words in the parent's panes."""
    notebook.page.add_init_script(COUNT_MESSAGES)
    notebook.open(RELEASE)
    notebook.run(0)
    expect(notebook.standing).to_have_text("Not started")
    notebook.button("Run").click()
    notebook.page.evaluate(WATCH.replace("Running · ", "Waiting"))
    timeline = notebook.lab.get_by_label("Timeline")
    names = timeline.get_by_role("list", name="SubFlows").get_by_role("button")
    expect(names).to_have_count(MOST_OF_GENERATION)
    expect(timeline).to_contain_text(f"SubFlows; 0 of {COUNT} have ended")
    first = timeline.get_by_role("button", name=f"SubFlow Build 0, running, {CHILD}")
    expect(first).to_have_attribute("aria-expanded", "true")
    lanes = timeline.locator("text.dexnb-t-name", has_text="Poll-1")
    expect(lanes).to_have_count(MOST_OF_GENERATION)
    first.focus()
    notebook.page.keyboard.press("Enter")
    expect(first).to_have_attribute("aria-expanded", "false")
    expect(lanes).to_have_count(MOST_OF_GENERATION - 1)
    notebook.page.keyboard.press("Space")
    expect(lanes).to_have_count(MOST_OF_GENERATION)

    notebook.page.wait_for_function(ENDED, polling=POLL_MS, timeout=PATIENCE)
    notebook.page.wait_for_timeout(SETTLED_MS)
    speed = Speed.of(notebook)
    print(f"\n{COUNT} SubFlows at once: {speed}")
    assert speed.frames >= FRAMES_PER_SECOND
    assert speed.longest_task <= LONGEST_TASK_MS
    assert speed.messages <= MESSAGES_PER_SECOND
    assert speed.most_messages <= MESSAGES_PER_SECOND

    # What the reader has opened stays open when it has ended.
    done = timeline.get_by_role("button", name=f"SubFlow Build 0, completed · 0, {CHILD}")
    expect(done).to_have_attribute("aria-expanded", "true")
    failed = timeline.get_by_role("button", name=re.compile("SubFlow Signature, failed.*no key"))
    expect(failed).to_have_attribute("aria-expanded", "true")
    stream = notebook.lab.get_by_role("log", name="Stream messages")
    expect(stream).to_contain_text("<b>built</b> 0")
    expect(stream).to_contain_text(f"Poll-1 · attempt 1 of {CHILD}")
    notebook.lab.get_by_role("tab", name="State").click()
    row = notebook.lab.locator(".dexnb-kept tbody tr", has_text=f'"SubFlow:{CHILD}-Sign-1-0"')
    expect(row).to_contain_text("failed")
    expect(row).to_contain_text("no key")
