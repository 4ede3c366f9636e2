"""The Lab of a SubFlow: opened by the call that its parent's Lab shows."""

from __future__ import annotations

import asyncio
import re

import dexnb as dex
from dexnb import AsyncContext, Channel, Flow, PersistenceSchema, Step, StepDecision, StepList
from dexnb.widgets.state_text import state_tables

PARTS = Channel("parts", int)
SECONDS = 20.0


class Pack(Step[str]):
    """Waits for a part."""

    async def wait_for(self, context: AsyncContext, input: str) -> dex.Wait:
        """Wait."""
        return dex.Wait.until(PARTS.for_one())

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Complete."""
        return dex.graceful_complete(input)


class Parcel(Flow[str]):
    """What is started by another Flow, with an input of its own."""

    def get_steps(self) -> StepList[str]:
        """Give the Step."""
        return StepList.start_step(Pack())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(PARTS)


class Ship(Step[None]):
    """Waits for a parcel."""

    async def wait_for(self, context: AsyncContext, input: None) -> dex.Wait:
        """Start it."""
        return dex.Wait.until(dex.SubFlow.run(Parcel(), "teapot"))

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Complete."""
        return dex.graceful_complete("shipped")


class Shop(Flow[None]):
    """What starts it."""

    def get_steps(self) -> StepList[None]:
        """Give the Step."""
        return StepList.start_step(Ship())


async def subflow_rows(lab: dex.Lab) -> list[list[str]]:
    """Wait for the rows of SubFlows."""
    async with asyncio.timeout(SECONDS):
        while not (rows := dict(state_tables(lab.view())).get("SubFlows")):
            await asyncio.sleep(0.02)
    return rows


def test_the_call_that_the_page_shows_opens_the_lab_of_a_subflow() -> None:
    """It is watched and stopped there, and neither started nor started again."""
    session = dex.open("memory:")
    session.register(Parcel())
    parent = dex.lab(Shop(), "shop-1", runtime=session, start=True)
    ((flow_id, status, now, by, call),) = asyncio.run(subflow_rows(parent))
    assert (flow_id, status, by) == ("SubFlow:shop-1-Ship-1-0", "running", "Ship-1")
    assert now == ""
    shown = re.fullmatch(r'dexnb\.lab\((\w+), "(.*)", runtime=runtime\)', call)
    assert shown is not None
    assert shown.groups() == ("Parcel", flow_id)
    child = dex.lab(Parcel, flow_id, runtime=session)
    assert child.run is not None
    assert child.other_input == ""
    assert dex.lab(Parcel, flow_id, runtime=session) is child
    assert child.view()["steps"]["Pack-1"]["state"] == "waiting"
    actions = child.page_frame()["actions"]
    assert (actions["run"], actions["stop"], actions["rerun"]) == (False, True, False)
    child.run.publish(PARTS, 1)
    assert parent.run is not None
    assert parent.run.wait_sync(SECONDS).output == "shipped"
    assert child.run.status == "COMPLETED"
    session.close()


def test_rerun_starts_a_subflow_of_its_own() -> None:
    """What the run before had started is terminated, because nobody waits for it any more."""
    session = dex.open("memory:")
    session.register(Parcel())
    parent = dex.lab(Shop(), "shop-2", runtime=session, start=True)
    asyncio.run(subflow_rows(parent))
    first = session.get("SubFlow:shop-2-Ship-1-0")
    parent.rerun()
    asyncio.run(subflow_rows(parent))
    second = session.get(first.flow_id)
    assert second.run_id != first.run_id
    assert (first.status, second.status) == ("TERMINATED", "RUNNING")
    second.publish(PARTS, 1)
    assert parent.run is not None
    assert parent.run.wait_sync(SECONDS).output == "shipped"
    session.close()
