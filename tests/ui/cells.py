"""The cells that the tests of the page run."""

from __future__ import annotations

IMPORTS = """
import asyncio, threading, time
from datetime import timedelta
import dexnb as dex
from dexnb.examples.polling import PollingFlow
from dexnb.jobs import InProcessJobs, JobScript
"""

JOBS = f"{IMPORTS}\njobs = InProcessJobs(JobScript.endless())"
"""A job in the kernel that runs until it is completed."""

LAB = """
lab = dex.lab(PollingFlow(jobs), "order-1", runtime=runtime)
lab.set_knob("POLL_INTERVAL", 0.25)
lab
"""
"""Its Lab; four rounds a second."""

SHOW = f"{JOBS}\nruntime = dex.open('memory:')"
"""All that `LAB` needs."""

BUSY = {
    "sleeps": "time.sleep({seconds})",
    "awaits": "await asyncio.sleep({seconds})",
    "computes": "end = time.monotonic() + {seconds}\nwhile time.monotonic() < end: sum(range(999))",
}
"""What keeps a kernel busy, by what it does."""

LOOPING = """
import asyncio
import dexnb as dex

class Poll(dex.Step[int]):
    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        await asyncio.sleep(0.2)
        if input < 5:
            return dex.go_to(Poll, input + 1)
        return dex.graceful_complete(input)

class Looping(dex.Flow[int]):
    def get_steps(self) -> dex.StepList[int]:
        return dex.StepList.start_step(Poll())

lab = dex.lab(Looping(), "loop-1", 0, runtime="memory:")
lab
"""
"""A Step that goes back to itself."""

FAILING = """
from datetime import timedelta
import dexnb as dex

class Fetch(dex.Step[None]):
    def get_step_options(self) -> dex.StepOptions:
        soon = dex.RetryPolicy(initial_interval=timedelta(seconds=0.2))
        return dex.StepOptions(execute_retry=soon)

    async def execute(self, context: dex.AsyncContext, input: None) -> dex.StepDecision:
        raise ValueError("no such build")

class Fails(dex.Flow[None]):
    def get_steps(self) -> dex.StepList[None]:
        return dex.StepList.start_step(Fetch())

lab = dex.lab(Fails(), "fails-1", runtime="memory:", start=True)
lab
"""
"""A Step that fails for ever."""

HOSTILE_ID = "<img src=x onerror=document.title='broken'>"
HOSTILE_TEXT = "</script><script>document.title='broken'</script>\u202e<b>bold</b>"
HOSTILE = f"""
import asyncio
import dexnb as dex

NEWS = dex.Stream("<i>News</i>", str, 1 << 16)

class Tell(dex.Step[None]):
    async def execute(self, context: dex.AsyncContext, input: None) -> dex.StepDecision:
        NEWS.write(context, {HOSTILE_TEXT!r})
        print({HOSTILE_TEXT!r})
        await context.heartbeat({HOSTILE_TEXT!r})
        await asyncio.sleep(0.2)
        return dex.force_fail({HOSTILE_TEXT!r})

class Hostile(dex.Flow[None]):
    def get_steps(self) -> dex.StepList[None]:
        return dex.StepList.start_step(Tell())
    def get_persistence_schema(self) -> dex.PersistenceSchema:
        return dex.PersistenceSchema.of(NEWS)

lab = dex.lab(Hostile(), {HOSTILE_ID!r}, runtime="memory:", start=True)
lab
"""
"""Names, messages, checkpoints and errors that are markup elsewhere."""

STEPS = 12
SECONDS = 6
PER_SECOND = 2000
CROWD = f"""
import asyncio
import dexnb as dex

STEPS, SECONDS, PER_SECOND = {STEPS}, {SECONDS}, {PER_SECOND}
NEWS = dex.Stream("News", int, 1 << 20)

def part(number):
    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        loop = asyncio.get_running_loop()
        began, made = loop.time(), 0
        while made < SECONDS * PER_SECOND // STEPS:
            due = min(SECONDS, loop.time() - began) * PER_SECOND / STEPS
            while made < due:
                made += 1
                await context.heartbeat(made)
            await asyncio.sleep(0.02)
        NEWS.write(context, made)
        return dex.graceful_complete(made)
    name = f"Part{{number:02d}}"
    return type(name, (dex.Step,), {{"execute": execute, "__module__": __name__}})

PARTS = [part(number) for number in range(STEPS)]

class Spread(dex.Step[None]):
    async def execute(self, context: dex.AsyncContext, input: None) -> dex.StepDecision:
        return dex.StepDecision("next", movements=tuple(dex.StepMovement(p, 0) for p in PARTS))

class Crowd(dex.Flow[None]):
    def get_steps(self) -> dex.StepList[None]:
        return dex.StepList.start_step(Spread()).other_steps(*[p() for p in PARTS])
    def get_persistence_schema(self) -> dex.PersistenceSchema:
        return dex.PersistenceSchema.of(NEWS)

lab = dex.lab(Crowd(), "crowd-1", runtime="memory:")
lab
"""
"""Twelve Steps at once that say 2,000 times a second that they live."""

BEATS = """
steps = lab.view()["steps"].values()
print(sum(a["beat_count"] for s in steps for a in s["attempts"]), lab.view()["message_count"])
"""

SECRET = "hunter2"
WORKING_PART = """
    def get_step_options(self) -> dex.StepOptions:
        return dex.StepOptions(heartbeat_timeout=timedelta(seconds=60))

    async def execute(self, context: dex.AsyncContext, input: str) -> dex.StepDecision:
        while True:
            answer = self._ask(input)
            if answer:
                return dex.graceful_complete(answer)
            time.sleep(0.001)
            await context.heartbeat(answer)
            await asyncio.sleep(POLL_INTERVAL.total_seconds())

    def _ask(self, job: str) -> str:
        headers = {"authorization": "hunter2"}
        return httpx.get(f"http://localhost/{job}", headers=headers).text
"""
MENDED_PART = """
    async def execute(self, context: dex.AsyncContext, input: str) -> dex.StepDecision:
        return dex.graceful_complete(input)
"""
FAULTY = f"""
import asyncio
import time
from datetime import timedelta
import httpx
import dexnb as dex

POLL_INTERVAL = timedelta(seconds=5)

class Fetch(dex.Step[str]):
{WORKING_PART}

class Faulty(dex.Flow[str]):
    def get_steps(self) -> dex.StepList[str]:
        return dex.StepList.start_step(Fetch())

runtime = globals().get("runtime") or dex.open("memory:")
"""
"""A Flow with five findings, and a secret beside one of them; nobody runs it."""

FAULTY_LAB = """
lab = dex.lab(Faulty(), "faulty-1", "x", runtime=runtime)
lab
"""
"""Its Lab."""
