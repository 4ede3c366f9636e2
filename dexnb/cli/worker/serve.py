"""One process of a worker: an engine that serves Flows until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from dexnb.cli.worker.job import Job
from dexnb.cli.worker.journal import Journal
from dexnb.cli.worker.log_lines import tell
from dexnb.cli.worker.measured import StoreCounts, measured
from dexnb.cli.worker.report import Reporter
from dexnb.connect import provider_maker
from dexnb.engine import Engine, Runtime
from dexnb.flow.codecs import CodecRegistry
from dexnb.flow.flow import Flow

LAST_FETCH_SECONDS = 1.0


async def serve(
    job: Job,
    flows: Sequence[Flow[Any]],
    codecs: CodecRegistry,
    stop: asyncio.Event,
    send: Callable[[str], None],
) -> None:
    """Serve until `stop` is set, then drain.

    Args:
        job: What to do.
        flows: Whose runs are served.
        codecs: Those of the Flows' modules.
        stop: Set when nothing more shall be begun.
        send: Takes reports.

    Raises:
        DefinitionError: The address names no store.
        ProviderError: The store cannot be opened.
    """
    _, make = provider_maker(job.store)
    store = StoreCounts()
    runtime = Runtime(measured(make(), store), own_step_thread=True, codecs=codecs)
    runtime.register(*flows)
    engine = runtime.engine
    engine.observers.append(Journal(engine.counts))
    async with runtime:
        tell(logging.INFO, "serving", flows=sorted(flow.get_flow_type() for flow in flows))
        reporter = Reporter(job, engine, store, send)
        reporting = asyncio.create_task(reporter.run())
        try:
            await stop.wait()
            reporter.draining = True
            reporter.report()
            await drain(engine, job.drain)
        finally:
            reporting.cancel()
            await asyncio.wait([reporting])
    reporter.report()
    tell(logging.INFO, "stopped")


async def drain(engine: Engine, seconds: float) -> None:
    """Fetch no more, and let running attempts end for so long; the engine's stop does the rest."""
    tell(logging.INFO, "draining", running_attempts=len(engine.worker.live), seconds=seconds)
    engine.turns.stop()
    engine.attempts.stop()
    engine.provider.wake()
    await asyncio.gather(engine.turns.ended(), engine.attempts.ended())
    await engine.worker.idle(seconds)
    tell(logging.INFO, "drained", handed_back=len(engine.worker.live))
