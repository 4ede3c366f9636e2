"""The parent of a worker's processes: starts them, watches them, stops them in order."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Self

from dexnb.cli.exits import FAILED, OK, USAGE
from dexnb.cli.target import CommandError, locate
from dexnb.cli.worker.complaint import complain
from dexnb.cli.worker.discreet import address
from dexnb.cli.worker.job import Job
from dexnb.cli.worker.log_lines import log_lines, tell
from dexnb.cli.worker.options import STORE
from dexnb.cli.worker.slot import CannotStart, DiesAgain, Slot
from dexnb.cli.worker.stop import Stop
from dexnb.connect import MEMORY, provider_maker
from dexnb.errors import DexnbError


def worker(options: argparse.Namespace) -> int:
    """Serve until a signal comes; give the exit code."""
    job = Job(
        targets=tuple(options.targets),
        store=options.store or "",
        drain=options.drain,
        log_format=options.log_format,
        log_level=options.log_level,
    )
    with log_lines(job), _Signals() as signals:
        try:
            _check(job)
            return asyncio.run(_run(job, options, signals))
        except DexnbError as error:
            complain(job, error)
            return USAGE


def _check(job: Job) -> None:
    """Refuse what no process could do, before any is started.

    Raises:
        CommandError: A target is not there, or the store is none that processes can share.
        DefinitionError: The address names no store.
    """
    if not job.store:
        raise CommandError(
            f"there is no store: give --store URL, or set {STORE}; for example --store builds.db"
        )
    name, _ = provider_maker(job.store)
    if name == MEMORY:
        raise CommandError(
            "--store memory: is inside one process, and nobody else could start a Flow there: give "
            "a file, sqlite:///path, postgresql://... or redis://..."
        )
    for target in job.targets:
        locate(target)


async def _run(job: Job, options: argparse.Namespace, signals: _Signals) -> int:
    stopping = signals.stop.event()
    slots = [Slot(replace(job, process=n + 1), stopping) for n in range(options.processes)]
    signals.dying = [slot.kill for slot in slots]
    async with AsyncExitStack() as stack:
        if options.health_port is not None:
            # Its libraries are loaded by those alone who ask for it.
            from dexnb.cli.worker.endpoint import bind, served

            listener = bind(options.health_host, options.health_port)
            await stack.enter_async_context(served(listener, slots))
            host, port = listener.getsockname()[:2]
            tell(logging.INFO, "health_served", host=host, port=port)
        tell(
            logging.INFO,
            "worker_started",
            store=address(job.store),
            targets=list(job.targets),
            processes=len(slots),
        )
        code = await _keep(slots, stopping)
        tell(logging.INFO, "worker_ended", exit_code=code)
    return code


async def _keep(slots: Sequence[Slot], stopping: asyncio.Event) -> int:
    """Run all slots to the stop; give the exit code.

    The first process goes ahead, so that what is wrong for all is said once.
    """
    first, *others = slots
    running = [asyncio.create_task(first.run())]
    ahead = asyncio.create_task(first.ready.wait())
    await asyncio.wait([*running, ahead], return_when=asyncio.FIRST_COMPLETED)
    ahead.cancel()
    if not running[0].done():
        running += [asyncio.create_task(slot.run()) for slot in others]
    await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION)
    stopping.set()
    ends = await asyncio.gather(*running, return_exceptions=True)
    if any(isinstance(end, CannotStart) for end in ends):
        return USAGE
    for end in ends:
        if isinstance(end, BaseException) and not isinstance(end, DiesAgain):
            raise end
    failed = any(ends) or any(slot.failed for slot in slots)
    return FAILED if failed else OK


class _Signals:
    """The first SIGTERM or SIGINT asks for an orderly stop, the second one ends at once."""

    def __init__(self) -> None:
        self.stop = Stop()
        self.dying: list[Callable[[], None]] = []

    def __enter__(self) -> Self:
        self._before = {
            number: signal.signal(number, self._take) for number in (signal.SIGTERM, signal.SIGINT)
        }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take(self, number: int, _: object) -> None:
        if self.stop.asked:
            for kill in self.dying:
                kill()
            # Not by the signal itself, which the first process of a container ignores.
            os._exit(128 + number)
        tell(logging.INFO, "signal", name=signal.Signals(number).name)
        self.stop.ask()
