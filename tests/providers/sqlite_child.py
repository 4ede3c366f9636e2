"""Engines in processes of their own, which tests start, stop and kill.

Run as `python -m tests.providers.sqlite_child ROLE PATH OWNER ...`; each line it prints is a JSON
document.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from dexnb.clock import Clock, Readings, host_readings, perf_counter, sleep_blocking
from dexnb.providers import Beat, store_clock
from dexnb.providers.sqlite import SqliteProvider
from tests.providers.sqlite_case import HANDLERS, opened, take

ROOT = Path(__file__).parents[2]


def spawn(role: str, path: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start a child; its lines come over its standard output."""
    command = [sys.executable, "-m", "tests.providers.sqlite_child", role, str(path)]
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def heard(child: subprocess.Popen[str]) -> Any:
    """Wait for a child's next line."""
    assert child.stdout is not None
    line = child.stdout.readline()
    assert line, f"the child ended with {child.wait()}"
    return json.loads(line)


def ended(child: subprocess.Popen[str]) -> None:
    """End a child for good and reap it."""
    child.kill()
    child.communicate()


def say(document: object) -> None:
    """Print a line."""
    print(json.dumps(document), flush=True)


async def hold(path: Path, owner: str, lock_timeout: str) -> None:
    """Lock a work item and a run, then stay silent for ever."""
    provider = SqliteProvider(path)
    await provider.open(Clock.real(), owner)
    # Before it has them, so that no lock ends earlier than this and its timeout.
    locked_at = provider.clock.now()
    item = await take(provider, float(lock_timeout))
    run = await provider.fetch_orchestration_item(float(lock_timeout), 0)
    say([item.token, None if run is None else run.token, locked_at])
    await asyncio.Event().wait()


async def hold_and_fork(path: Path, owner: str, lock_timeout: str) -> None:
    """Lock a work item, fork a child that only sleeps, and tell its process id."""
    provider = SqliteProvider(path)
    await provider.open(Clock.real(), owner)
    await take(provider, float(lock_timeout))
    pid = os.fork()
    if pid == 0:
        os.close(0)
        os.close(1)
        sleep_blocking(60)
        os._exit(0)
    say(pid)
    await asyncio.Event().wait()


async def watch(provider: SqliteProvider) -> None:
    """Watch as an engine does."""
    while True:
        await provider.watch()
        await asyncio.sleep(0.5)


async def claim(path: Path, owner: str, beats: str) -> None:
    """Take work items until there are none, with beats for each; tell how it went."""
    claims, names = [], []
    async with opened(path, owner) as provider:
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        watching = asyncio.ensure_future(watch(provider))
        while True:
            began = perf_counter()
            item = await provider.fetch_work_item(60.0, 0.0, HANDLERS)
            if item is None:
                break
            claims.append(perf_counter() - began)
            names.append(item.item.run_id)
            for number in range(int(beats)):
                assert not await provider.record_beats([Beat(item.token, str(number))])
            await provider.ack_work_item(item.token)
        watching.cancel()
    say({"claims": claims, "names": names})


async def tell_time(path: Path, owner: str, step: str) -> None:
    """Open the store with the wall clock stepped, and tell store time and real time."""

    def stepped() -> Readings:
        readings = host_readings()
        return replace(readings, wall=readings.wall + float(step))

    store_clock.host_readings = stepped  # type: ignore[attr-defined]  # the clock under test
    async with opened(path, owner) as provider:
        say([provider.clock.now(), provider.clock.lease(), host_readings().wall])


def lock(path: Path, kind: str, seconds: str) -> None:
    """Hold the file's lock for a while, as a foreign program would."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"BEGIN {kind}")
    say("locked")
    sleep_blocking(float(seconds))
    connection.execute("ROLLBACK")
    connection.close()


ASYNC_ROLES: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {
    "hold": hold,
    "hold_and_fork": hold_and_fork,
    "claim": claim,
    "tell_time": tell_time,
}

if __name__ == "__main__":
    role, file, *rest = sys.argv[1:]
    if role == "lock":
        lock(Path(file), *rest)
    else:
        asyncio.run(ASYNC_ROLES[role](Path(file), *rest))
