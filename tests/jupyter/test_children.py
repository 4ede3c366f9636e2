"""SubFlows on the page of the run that waits for them, as its feed follows them."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dexnb as dex
from dexnb import AsyncContext, Channel, Flow, PersistenceSchema, Step, StepDecision, StepList
from dexnb.engine import Session
from dexnb.jupyter.children import DEEPEST, MOST_OF_GENERATION, Children
from dexnb.jupyter.feed import SessionFeed
from dexnb.model.event import Event
from dexnb.model.run_view import View, view_of
from tests.widgets.family import parent

Views = dict[str, View]

SECONDS = 20.0
KEYS = Channel("keys", int)
NEWS = dex.Stream("news", str, 1 << 16)


class Work(Step[int]):
    """Works in rounds until it gets a key, unless it is a parent, too."""

    async def wait_for(self, context: AsyncContext, input: int) -> dex.Wait:
        """Wait for the next generation, or for a key."""
        if input > 0:
            return dex.Wait.until(dex.SubFlow.run(Worker(), input - 1))
        return dex.Wait.until(KEYS.for_one())

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Tell, and complete."""
        for number in range(3):
            await context.heartbeat(number)
            await asyncio.sleep(0.02)
        print("worked")
        NEWS.write(context, "done")
        return dex.graceful_complete(input)


class Worker(Flow[int]):
    """Has so many generations below it as its input says."""

    def get_steps(self) -> StepList[int]:
        """Give the Step."""
        return StepList.start_step(Work())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(KEYS, NEWS)


class Spread(Step[list[int]]):
    """Waits for several workers."""

    async def wait_for(self, context: AsyncContext, input: list[int]) -> dex.Wait:
        """Start them."""
        return dex.Wait.all_of(*[dex.SubFlow.run(Worker(), each) for each in input])

    async def execute(self, context: AsyncContext, input: list[int]) -> StepDecision:
        """Complete."""
        return dex.graceful_complete("all")


class Team(Flow[list[int]]):
    """What starts them."""

    def get_steps(self) -> StepList[list[int]]:
        """Give the Step."""
        return StepList.start_step(Spread())


def feed_of(lab: dex.Lab) -> SessionFeed:
    """Give a feed of its own."""
    return SessionFeed(lab, lambda *_: concurrent.futures.Future(), lambda: None)


class Page:
    """What a page knows of a Lab, kept up to date as its publisher would."""

    def __init__(self, lab: dex.Lab) -> None:
        """Open it."""
        self.feed = feed_of(lab)
        self.told: dict[str, list[Event]] = {}

    def look(self) -> Views:
        """Take what is new; give what is known of the SubFlows."""
        for run_id, events in self.feed.changes().children.items():
            self.told.setdefault(run_id, []).extend(events)
        children: Views = self.feed.page()["children"]
        return children

    def until(self, found: Callable[[Views], bool]) -> Views:
        """Look until they are as wanted."""
        return asyncio.run(self._until(found))

    async def _until(self, found: Callable[[Views], bool]) -> Views:
        async with asyncio.timeout(SECONDS):
            while not found(views := self.look()):
                await asyncio.sleep(0.02)
        return views


@pytest.fixture
def session() -> Iterator[Session]:
    """A session on a memory of its own."""
    opened = dex.open("memory:")
    yield opened
    opened.close()


def waits(view: View) -> bool:
    """Tell whether a worker stands waiting."""
    return any(step["state"] == "waiting" for step in view["steps"].values())


def statuses(views: Views) -> list[str]:
    """Give the statuses of all."""
    return [view["status"] for view in views.values()]


def worker(number: int) -> str:
    """Give the flow id of a worker of the team."""
    return f"SubFlow:team-Spread-1-{number}"


def test_a_childs_events_are_told_apart_and_fold_to_its_view(session: Session) -> None:
    """While it runs, and when a page is opened after its end."""
    lab = dex.lab(Team, "team", [0, 0], runtime=session, start=True)
    page = Page(lab)
    views = page.until(lambda views: len(views) == 2 and all(map(waits, views.values())))
    page.told.clear()
    for number in (0, 1):
        session.get(worker(number)).publish(KEYS, 1)
    live = page.until(lambda views: statuses(views) == ["COMPLETED"] * 2)
    assert set(page.told) == set(views)
    for run_id, events in page.told.items():
        assert {event.run_id for event in events} == {run_id}
        assert {"heartbeat", "stream_message", "log", "flow_closed"} <= {e.kind for e in events}
    again = feed_of(lab)
    assert again.changes().whole
    opened = again.page()["children"]
    for run_id, view in opened.items():
        assert view["message_count"] == view["log_count"] == 1
        for name in ("messages", "log", "steps", "status"):
            assert view[name] == live[run_id][name]


def test_children_of_children_are_followed_to_a_depth(session: Session) -> None:
    """Of the next ones the page tells what their parent knows."""
    lab = dex.lab(Team, "team", [DEEPEST + 1], runtime=session, start=True)
    page = Page(lab)

    def deep(views: Views) -> bool:
        parents = [view["steps"].get("Work-1", {}).get("subflows") for view in views.values()]
        return len(views) == DEEPEST and all(parents)

    views = page.until(deep)
    assert sorted(view["flow_id"].count("SubFlow:") for view in views.values()) == [1, 2, 3]
    assert lab.picture().count("SubFlow:SubFlow:SubFlow:team") > 0
    lab.stop()


def test_of_many_those_that_run_are_followed(session: Session) -> None:
    """One that has ended makes room; each is followed for as long as it runs."""
    count = MOST_OF_GENERATION + 6
    lab = dex.lab(Team, "team", [0] * count, runtime=session, start=True)
    page = Page(lab)

    def all_wait(views: Views) -> bool:
        return len(views) == MOST_OF_GENERATION and all(map(waits, views.values()))

    first = set(page.until(all_wait))
    ended = sorted(first)[:4]
    for run_id in ended:
        flow_id = page.look()[run_id]["flow_id"]
        session.get(flow_id).publish(KEYS, 1)
    after = page.until(lambda views: all_wait(views) and not set(ended) & set(views))
    assert first - set(ended) < set(after)
    assert lab.view()["steps"]["Spread-1"]["wait"]["subflow_count"] == count
    lab.stop()


def test_a_child_that_no_code_runs_says_so(tmp_path: Path) -> None:
    """After a restart of the kernel, until the cell of its Flow is run again."""
    store = tmp_path / "runs.db"
    with dex.open(store) as before:
        lab = dex.lab(Team, "team", [0], runtime=before, start=True)
        Page(lab).until(lambda views: any(map(waits, views.values())))
    with dex.open(store) as after:
        page = Page(dex.lab(Team, "team", [0], runtime=after))
        views = page.until(lambda views: any(map(waits, views.values())))
        why = dict.fromkeys(views, "no Flow named Worker is registered in this process")
        assert page.feed.page()["waits_for_code"] == why
        after.register(Worker())
        assert page.feed.page()["waits_for_code"] == {}
        after.get(worker(0)).publish(KEYS, 1)
        page.until(lambda views: statuses(views) == ["COMPLETED"])


def test_a_child_whose_store_does_not_know_it_is_told_by_its_parent(session: Session) -> None:
    """Nothing fails, and nothing is asked again and again."""
    children = Children(session)
    view = view_of(parent())
    assert children.choose(view)
    assert not children.choose(view)
    assert set(children.views) == {"c0", "c1", "c2"}
    assert {each["started_at"] for each in children.views.values()} == {None}
    assert list(children.read(look=True, committed=True)) == []
    assert children.waits_for_code == {}
