"""Thirty-six ordinary loops that wait for nobody's state: none of them is a poll."""

from __future__ import annotations

import asyncio
import fcntl
import os
import queue
import random
import socket
import threading
import time
import uuid
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import psycopg
import requests
import torch
from catalogue import Catalogue, Order
from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOutput,
    go_to,
    graceful_complete,
    heartbeat,
)
from playwright.sync_api import Page
from tqdm import tqdm

TRIES = 3


class LocksAndFiles(Step[str]):
    """Retries of local locks, files that are read, and what the disk gives."""

    def execute(self, context: Context, input: str) -> StepDecision:
        while True:  # 1: a lock file
            try:
                handle = os.open(f"{input}.lock", os.O_CREAT | os.O_EXCL)
                break
            except FileExistsError:
                time.sleep(0.1)
        with open(input) as file:
            while True:  # 2: a lock of the operating system
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(0.05)
            while chunk := file.read(4096):  # 3: a file, block by block
                os.write(handle, chunk.encode())
            for line in file:  # 4: a file, line by line
                if line.startswith("#"):
                    break
        while not Path(input).exists():  # 5: a file of its own that a thread writes
            time.sleep(0.1)
        for path in sorted(Path(input).iterdir()):  # 6: a folder
            if path.is_file():
                path.unlink()
        os.close(handle)
        return go_to(Sockets, input)


class Sockets(Step[str]):
    """Bytes from a connection."""

    def execute(self, context: Context, input: str) -> StepDecision:
        link = socket.create_connection((input, 80))
        data = b""
        while True:  # 7: until the other side closes
            part = link.recv(4096)
            if not part:
                break
            data += part
        while len(data) < 100:  # 8: until there is enough
            data += link.recv(100 - len(data))
        buffer = bytearray(data)
        while buffer:  # 9: frame by frame
            size = buffer[0]
            del buffer[: size + 1]
        return go_to(Streams, input)


class Streams(Step[str]):
    """Bytes and lines from a stream of the loop."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        reader, writer = await asyncio.open_connection(input, 80)
        while line := await reader.readline():  # 10: lines
            if line == b"quit\n":
                break
        async for line in reader:  # 11: lines, as an iterator
            writer.write(line)
        while not reader.at_eof():  # 12: until the end
            await reader.read(1024)
            await asyncio.sleep(0)
        return go_to(Progress, input)


class Progress(Step[str]):
    """Progress bars, and what is shown piece by piece."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def execute(self, context: Context, input: str) -> Generator[StepOutput, None, StepDecision]:
        for number in tqdm(range(100)):  # 13: a bar
            self._catalogue.index(number)
        bar = tqdm(total=100)
        while bar.n < bar.total:  # 14: a bar that counts
            bar.update(1)
            time.sleep(0.01)
        for number in range(10):  # 15: beats beside work
            yield heartbeat(number)
            time.sleep(0.1)
        return go_to(Events, input)


class Events(Step[str]):
    """Waits that are woken."""

    def __init__(self) -> None:
        self._ready = asyncio.Event()
        self._messages: asyncio.Queue[str] = asyncio.Queue()
        self._changed = asyncio.Condition()
        self._items: list[str] = []

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while not self._ready.is_set():  # 16: an event
            await self._ready.wait()
        while True:  # 17: a queue
            message = await self._messages.get()
            if message == "stop":
                break
            await context.heartbeat(message)
        async with self._changed:
            while not self._items:  # 18: a condition
                await self._changed.wait()
        tasks = {asyncio.create_task(self._messages.get()) for _ in range(3)}
        while tasks:  # 19: tasks as they end
            done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if any(task.result() == "stop" for task in done):
                break
        return go_to(Threads, input)


class Threads(Step[str]):
    """Work that is taken from a queue in the process."""

    def __init__(self) -> None:
        self._work: queue.Queue[str] = queue.Queue()
        self._stop = threading.Event()

    def execute(self, context: Context, input: str) -> StepDecision:
        while True:  # 20: until it is empty
            try:
                item = self._work.get_nowait()
            except queue.Empty:
                break
            print(item)
        while not self._stop.is_set():  # 21: until it is told to stop
            time.sleep(0.1)
        while not self._work.empty():  # 22: as long as there is some
            print(self._work.get())
            time.sleep(0.1)
        return go_to(Pages, input)


class Pages(Step[str]):
    """Pages, offsets and cursors, all inside one Step."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        token = "first"
        while token:  # 23: by token
            page = await self._catalogue.page(token)
            await self._save(page.orders)
            token = page.next_token
        offset, orders = 0, []
        while True:  # 24: by offset, at a polite speed
            rows = await self._catalogue.rows(offset=offset)
            if not rows:
                break
            orders += rows
            offset += len(rows)
            await asyncio.sleep(0.2)
        number = 0
        while True:  # 25: by number
            page = await self._catalogue.numbered(number)
            if page.last:
                break
            number += 1
            await asyncio.sleep(0.2)
        return go_to(Searches, input)

    async def _save(self, orders: list[Order]) -> None:
        for order in orders:  # 26: a call for each
            await self._catalogue.save(order)
            await asyncio.sleep(0.1)


class Searches(Step[str]):
    """Loops that end when they have found something."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        for mirror in ("north", "south"):  # 27: the first that answers
            reply = await self._catalogue.ask(mirror, input)
            if reply.found:
                return graceful_complete(reply.place)
            await asyncio.sleep(1)
        async for order in self._orders(input):  # 28: a generator's items
            if order.late:
                break
        guess = random.random()
        while abs(guess * guess - 2) > 1e-6:  # 29: a computation
            guess = (guess + 2 / guess) / 2
        names = [name for name in self._names(input) if name]
        while names:  # 30: a stack
            names.pop()
        return go_to(Labours, input)

    async def _orders(self, name: str) -> AsyncIterator[Order]:
        async for order in self._catalogue.orders(name):
            yield order

    def _names(self, text: str) -> Iterator[str]:
        yield from text.split()


class Labours(Step[str]):
    """Work that foreign code does, piece by piece or once more."""

    def __init__(self, catalogue: Catalogue, page: Page) -> None:
        self._catalogue = catalogue
        self._page = page

    def execute(self, context: Context, input: str) -> StepDecision:
        failures = 0
        while True:  # 31: a request that is tried again, and given up
            try:
                requests.put(f"https://catalogue/{input}", timeout=5)
                break
            except requests.Timeout:
                failures += 1
                if failures >= TRIES:
                    raise
                time.sleep(2)
        while True:  # 32: a name that nobody has
            label = f"{input}-{uuid.uuid4()}"
            if not requests.get(f"https://catalogue/{label}", timeout=5).ok:
                break
        with psycopg.connect(input, connect_timeout=3) as database:
            while True:  # 33: rows that are removed in pieces
                gone = database.execute("DELETE FROM orders WHERE old LIMIT 500").rowcount
                if not gone:
                    break
                time.sleep(0.2)
        while self._catalogue.remove_old(500) > 0:  # 34: the same through a client
            time.sleep(0.2)
        weights = torch.ones(3)
        loss = 1.0
        while loss > 0.001:  # 35: a computation of a library
            loss = torch.nn.functional.mse_loss(weights, torch.zeros(3)).item()
        while self._page.query_selector("a.more"):  # 36: pages that are clicked through
            self._page.query_selector("a.more").click()
            time.sleep(0.5)
        return graceful_complete(loss)


class Ordinary(Flow[str]):
    def __init__(self) -> None:
        self._catalogue = Catalogue()

    def get_steps(self) -> StepList[str]:
        return StepList.start_step(LocksAndFiles()).other_steps(
            Sockets(),
            Streams(),
            Progress(self._catalogue),
            Events(),
            Threads(),
            Pages(self._catalogue),
            Searches(self._catalogue),
            Labours(self._catalogue, Page()),
        )
