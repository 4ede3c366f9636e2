"""A Flow that waits, keeps, locks, branches and starts another one, as its Lab shows it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.notebook_page import NotebookPage

pytestmark = pytest.mark.ui

SHOP = """
import asyncio
from datetime import timedelta
import dexnb as dex

ORDERS = dex.Channel("orders", str)
PARTS = dex.Channel("parts", int)
STATE = dex.Attribute("state", str)
STOCK = dex.Attribute("stock", int)
NOTES = dex.AttributeMap("notes", str)

class Collect(dex.Step[None]):
    async def wait_for(self, context: dex.AsyncContext, input: None) -> dex.Wait:
        STATE.set(context, "open")
        NOTES.set(context, "<b>markup</b>", "<img src=x onerror=document.title='broken'>")
        closing = dex.Timer.by_duration(timedelta(minutes=9), condition_id="closing")
        return dex.Wait.any_of(ORDERS.for_n(2), closing)

    async def execute(self, context: dex.AsyncContext, input: None) -> dex.StepDecision:
        STATE.set(context, "selling")
        ways = [dex.StepMovement.of(Reserve, 1) for _ in ORDERS.results(context)]
        return dex.go_to_many(*ways, dex.StepMovement.of(Ship, "parcel"))

class Reserve(dex.Step[int]):
    def get_step_options(self) -> dex.StepOptions:
        return dex.StepOptions(execute_lock_attributes=(STOCK.lock(),))

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        STOCK.set(context, STOCK.get(context) + input)
        while not hasattr(dex, "let_go"):
            await asyncio.sleep(0.1)
        return dex.dead_end()

class Ship(dex.Step[str]):
    async def wait_for(self, context: dex.AsyncContext, input: str) -> dex.Wait:
        return dex.Wait.until(dex.SubFlow.run(Parcel(), input))

    async def execute(self, context: dex.AsyncContext, input: str) -> dex.StepDecision:
        return dex.graceful_complete(input)

class Pack(dex.Step[str]):
    async def wait_for(self, context: dex.AsyncContext, input: str) -> dex.Wait:
        return dex.Wait.until(PARTS.for_one())

    async def execute(self, context: dex.AsyncContext, input: str) -> dex.StepDecision:
        return dex.graceful_complete(input)

class Parcel(dex.Flow[str]):
    def get_steps(self) -> dex.StepList[str]:
        return dex.StepList.start_step(Pack())
    def get_persistence_schema(self) -> dex.PersistenceSchema:
        return dex.PersistenceSchema.of(PARTS)

class Shop(dex.Flow[None]):
    def get_steps(self) -> dex.StepList[None]:
        return dex.StepList.start_step(Collect()).other_steps(Reserve(), Ship())
    def get_persistence_schema(self) -> dex.PersistenceSchema:
        return dex.PersistenceSchema.of(ORDERS, STATE, STOCK, NOTES)

runtime = dex.open("memory:")
runtime.register(Parcel())
lab = dex.lab(Shop(), "shop-1", runtime=runtime, start=True)
lab
"""
PUBLISH = "lab.run.publish(ORDERS, 'teapot')"
LET_GO = "dex.let_go = True"
DELIVER = "runtime.get('SubFlow:shop-1-Ship-1-0').publish(PARTS, 7)"


def row(notebook: NotebookPage, *cells: str) -> Locator:
    """Find a row of the State tab that has these cells."""
    found = notebook.lab.locator(".dexnb-kept tbody tr")
    for cell in cells:
        found = found.filter(has_text=cell)
    return found


def test_a_waiting_flow_is_seen_as_it_lives(notebook: NotebookPage) -> None:
    """A wait, what is published meanwhile, branches that queue for a lock, and a SubFlow."""
    notebook.open(SHOP, PUBLISH, LET_GO, DELIVER)
    notebook.run(0)
    expect(notebook.standing).to_have_text("Waiting")
    collect, timeline = notebook.step("Collect"), notebook.lab.get_by_label("Timeline")
    expect(collect).to_contain_text(
        re.compile(r"waiting: orders 0 of 2, timer closing 8:\d\d left")
    )
    expect(collect).to_contain_text("orders 2")
    expect(timeline).to_contain_text("wait_for")
    expect(timeline.locator(".dexnb-t-wait")).to_have_count(1)

    notebook.lab.get_by_role("tab", name="State").click()
    expect(row(notebook, "state", "open")).to_be_visible()
    expect(row(notebook, "notes/<b>markup</b>", "<img src=x")).to_be_visible()

    notebook.run(1)
    expect(collect).to_contain_text("orders 1 of 2")
    expect(row(notebook, "orders", "1 of 1 published", "teapot")).to_be_visible()

    notebook.run(1)
    expect(row(notebook, "state", "selling")).to_be_visible()
    expect(row(notebook, "orders", "0 of 2 published")).to_be_visible()
    expect(row(notebook, "Reserve-2", "queued for lock stock")).to_be_visible()
    expect(row(notebook, "stock", "Reserve-1")).to_be_visible()
    expect(row(notebook, "SubFlow:shop-1-Ship-1-0", "running")).to_contain_text(
        'dexnb.lab(Parcel, "SubFlow:shop-1-Ship-1-0", runtime=runtime)'
    )
    expect(notebook.step("Reserve")).to_contain_text("1 running, 1 queued")
    expect(timeline).to_contain_text("Reserve-2")
    expect(timeline.locator(".dexnb-t-sub-flow-running")).to_have_count(1)

    notebook.run(2)
    expect(row(notebook, "stock", "2")).to_be_visible()
    expect(notebook.step("Ship")).to_contain_text("waiting: Parcel running")
    notebook.run(3)
    expect(notebook.standing).to_have_text("Completed")
    expect(row(notebook, "SubFlow:shop-1-Ship-1-0", "completed")).to_be_visible()
    expect(timeline.locator(".dexnb-t-sub-flow-done")).to_have_count(1)
    assert notebook.page.title() != "broken"
