"""Which loops are polls: the shapes in which users write them, and those that only look alike."""

from __future__ import annotations

import textwrap

import pytest

from dexnb.graph import read_source
from dexnb.lint.facts.step import FlowSubject
from dexnb.lint.facts.walk import TooMuch
from dexnb.lint.settings import LintSettings

FLOW = """
from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading

import portalocker
import requests
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from sources import NotReady, Source, file, ids

PENDING = {{"queued", "running"}}


class Wait(Step[str]):
    state = ""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.db = source.db
        self.stop = asyncio.Event()
        self.frame = 0
        self.seen = set()

    async def refresh(self, name):
        self.state = (await self.source.status(name)).state

    async def running(self, name):
        job = await self.source.status(name)
        return job.state not in ("done", "failed")

    async def ticks(self):
        while True:
            yield 1
            await asyncio.sleep(5)

    async def until(self, ask):
        while True:
            answer = await ask()
            if answer.done:
                return answer
            await asyncio.sleep(5)

    def save(self, row):
        print(row)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
{loop}
        return graceful_complete()


class Waiting(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Wait(Source()))
"""

POLLS = {
    "in a comprehension": """
        while not all([(await self.source.status(name)).done for name in ids]):
            await asyncio.sleep(1)""",
    "gathered": """
        while True:
            states = await asyncio.gather(*(self.source.status(name) for name in ids))
            if all(state.done for state in states):
                break
            await asyncio.sleep(1)""",
    "by exception": """
        while True:
            try:
                return graceful_complete(await self.source.result(input))
            except NotReady:
                await asyncio.sleep(5)""",
    "by exception, with else": """
        while True:
            try:
                result = await self.source.result(input)
            except NotReady:
                await asyncio.sleep(5)
            else:
                return graceful_complete(result)""",
    "reloaded": """
        job = await self.source.get(input)
        while job.state == "running":
            await asyncio.sleep(5)
            await job.reload()""",
    "asked before and at the end": """
        status = await self.source.get(input)
        while status["state"] in PENDING:
            await asyncio.sleep(5)
            status = await self.source.get(input)""",
    "kept in the Step": """
        while self.state != "done":
            await self.refresh(input)
            await asyncio.sleep(5)""",
    "a query": """
        while self.db.query(input).filter(1).count() == 0:
            await asyncio.sleep(1)""",
    "a helper's answer": """
        while await self.running(input):
            await asyncio.sleep(5)""",
    "a process": """
        process = subprocess.Popen(["make"])
        while process.poll() is None:
            await asyncio.sleep(1)""",
    "a reply": """
        while True:
            reply = requests.get(input)
            if reply.status_code == 200:
                break
            await asyncio.sleep(1)""",
    "a sleep first": """
        while True:
            await asyncio.sleep(5)
            if await self.source.done(input):
                break""",
    "ticks": """
        async for _ in self.ticks():
            if await self.source.done(input):
                break""",
    "a match": """
        while True:
            match (await self.source.get(input)).state:
                case "done" | "failed":
                    break
            await asyncio.sleep(1)""",
    "counted rounds": """
        for _ in range(10):
            if await self.source.done(input):
                break
            await asyncio.sleep(1)""",
    "many jobs": """
        pending = set(ids)
        while pending:
            for name in list(pending):
                if (await self.source.status(name)).done:
                    pending.discard(name)
            await asyncio.sleep(1)""",
    "a pause that can be broken off": """
        while not self.stop.is_set():
            if (await self.source.status(input)).done:
                break
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stop.wait(), 5)""",
    "a tag of the last answer": """
        tag = None
        while True:
            job = await self.source.status(input, tag=tag)
            tag = job.tag
            if job.state == "done":
                break
            await asyncio.sleep(1)""",
    "growing pauses": """
        delay = 1
        while not (await self.source.status(input)).done:
            await asyncio.sleep(delay)
            delay = min(delay * 2, 60)""",
    "a lambda that a helper asks": """
        await self.until(lambda: self.source.status(input))""",
}
OTHERS = {
    "a consumer": """
        while True:
            message = self.source.consumer.poll(1.0)
            if message is None:
                continue
            self.save(message)""",
    "a worker that naps": """
        while True:
            messages = await self.source.receive_message()
            if not messages:
                await asyncio.sleep(5)
                continue
            self.save(messages)""",
    "a few tries": """
        for attempt in range(3):
            try:
                return graceful_complete(await self.source.create(input))
            except ValueError:
                await asyncio.sleep(2**attempt)""",
    "a lock": """
        while True:
            try:
                self.source.acquire(timeout=0)
                break
            except TimeoutError:
                await asyncio.sleep(0.1)""",
    "a lock of a file": """
        while True:
            try:
                portalocker.lock(file, portalocker.LOCK_EX)
                break
            except portalocker.LockException:
                await asyncio.sleep(0.1)""",
    "batches": """
        while batch := await self.source.next_batch(100):
            for row in batch:
                self.save(row)""",
    "as long as there are more": """
        while self.source.has_next():
            self.save(await self.source.fetch())
            await asyncio.sleep(0.1)""",
    "another thing each time": """
        for name in ids:
            if not (await self.source.get(name)).ok:
                break
            await asyncio.sleep(1)""",
    "a socket's messages": """
        async with self.source.connect() as socket:
            while True:
                message = await socket.recv()
                if message == "bye":
                    break
                await context.heartbeat(message)""",
    "a list in Redis": """
        while True:
            item = await self.source.blpop("work", timeout=5)
            if item is None:
                break
            self.save(item)""",
    "rows": """
        cursor = self.db.cursor()
        cursor.execute("select 1")
        while row := cursor.fetchone():
            self.save(row)""",
    "pages by keyword": """
        options = {}
        while True:
            page = await self.source.list(**options)
            self.save(page)
            if not page.get("NextToken"):
                break
            options["NextToken"] = page["NextToken"]""",
    "changes since": """
        since = 0
        while True:
            rows = await self.source.changes(since)
            if not rows:
                break
            since = rows[-1].id
            await asyncio.sleep(1)""",
    "a search": """
        low, high = 0, 100
        while low < high:
            middle = (low + high) // 2
            if await self.source.is_bad(middle):
                high = middle
            else:
                low = middle + 1""",
    "a walk with polite pauses": """
        stack = [input]
        while stack:
            page = await self.source.get(stack.pop())
            if page.links:
                stack.extend(page.links)
            await asyncio.sleep(1)""",
    "pictures": """
        while self.frame < 100:
            self.frame += 1
            self.source.draw(self.frame)
            await asyncio.sleep(0.02)""",
    "a file in pieces": """
        while chunk := file.read(1024):
            await self.source.upload(chunk)
            await asyncio.sleep(0.01)""",
    "names until one is free": """
        while True:
            name = self.source.random_name()
            if name not in self.seen:
                break""",
    "events": """
        async for event in self.source.events(input):
            if event.done:
                break""",
    "a task of its own": """
        task = asyncio.create_task(self.source.work(input))
        while not task.done():
            await context.heartbeat()
            await asyncio.sleep(5)""",
    "a thread of its own": """
        thread = threading.Thread(target=print)
        thread.start()
        while thread.is_alive():
            await context.heartbeat()
            await asyncio.sleep(5)""",
    "lines": """
        while line := sys.stdin.readline():
            print(line)""",
}


def polls_in(loop: str) -> list[str]:
    """Give the answers for the loops of a Step."""
    text = FLOW.format(loop=textwrap.indent(textwrap.dedent(loop).strip("\n"), " " * 8))
    flow = read_source(text).flows[0].registered
    step = FlowSubject(flow, LintSettings()).steps[0]
    return [poll.is_poll for _, poll in step.polls]


@pytest.mark.parametrize("loop", POLLS.values(), ids=POLLS)
def test_a_loop_that_waits_for_an_answer_is_a_poll(loop: str) -> None:
    """It asks, it pauses, and the answer ends it."""
    assert polls_in(loop) == ["yes"]


@pytest.mark.parametrize("loop", OTHERS.values(), ids=OTHERS)
def test_a_loop_that_has_other_work_is_none(loop: str) -> None:
    """It takes the next of something, tries again, or waits to be woken."""
    assert polls_in(loop) == []


def test_a_loop_of_too_many_asks_is_given_up() -> None:
    """Each of them may come from all others: it is said, and takes no minutes."""
    asks = "".join(f"\n    answer = requests.get(answer + '{n}').json()" for n in range(300))
    loop = f"answer = input\nwhile answer != 'done':{asks}\n    await asyncio.sleep(1)"
    with pytest.raises(TooMuch):
        polls_in(loop)
