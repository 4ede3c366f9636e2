"""Flows of Steps with two methods, and runs of them on every store, on the virtual clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any

import pytest

from dexnb import Clock, Flow, PersistenceSchema, StartFlowOptions, Step, StepList, StepOptions
from dexnb.engine import AsyncRun, Runtime
from dexnb.model.event import Event
from dexnb.model.message import Message, Published, TimerFired
from dexnb.providers import MemoryProvider, Provider
from dexnb.providers.sqlite import SqliteProvider
from tests.engine.flows import Execute, _Plain, fast, history

STORES = ("memory", "sqlite")


def clock() -> float:
    """Give engine time."""
    return asyncio.get_running_loop().time()


def store_of(kind: str, folder: Path) -> Provider:
    """Make a provider of this kind."""
    return MemoryProvider() if kind == "memory" else SqliteProvider(folder / "runs.db")


def on_stores(test: Callable[..., Coroutine[Any, Any, None]]) -> Any:
    """Run an async test on a virtual clock with a runtime: on memory, and on a file."""

    async def inside(store: str, folder: Path, given: dict[str, Any]) -> None:
        async with Runtime(store_of(store, folder), options=fast()) as runtime:
            await test(runtime, **given)

    def wrapper(store: str, tmp_path: Path, **given: Any) -> None:
        Clock.virtual().run(inside(store, tmp_path, given))

    names = [*list(signature(test).parameters)[1:], "store", "tmp_path"]
    parameters = [Parameter(name, Parameter.KEYWORD_ONLY) for name in names]
    wrapper.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # any function may
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(wrapper, name, getattr(test, name))
    if marks := getattr(test, "pytestmark", None):
        wrapper.pytestmark = marks  # type: ignore[attr-defined]  # any function may
    return pytest.mark.parametrize("store", STORES)(wrapper)


def waits(
    execute: Execute,
    wait_for: Execute | None = None,
    *,
    options: StepOptions | None = None,
    name: str = "",
) -> type[Step[Any]]:
    """Make a Step class of plain functions of context and input."""
    body: dict[str, Any] = {
        "execute": _Plain(execute),
        "get_step_options": lambda _: options,
        "__module__": execute.__module__,
    }
    if wait_for is not None:
        body["wait_for"] = _Plain(wait_for)
    return type(name or execute.__name__.title().replace("_", ""), (Step,), body)


def flow_of(
    *steps: type[Step[Any]],
    keeps: tuple[Any, ...] = (),
    name: str = "TestFlow",
    timeout: Execute | None = None,
) -> Flow[Any]:
    """Make a Flow of Steps, the first its start Step, that keeps these definitions."""
    first, *others = [each() for each in steps]
    body: dict[str, Any] = {
        "get_steps": lambda _: StepList.start_step(first).other_steps(*others),
        "get_persistence_schema": lambda _: PersistenceSchema.of(*keeps),
    }
    if timeout is not None:
        body["handle_timeout"] = _Plain(timeout)
    made: Flow[Any] = type(name, (Flow,), body)()
    return made


async def started(
    runtime: Runtime,
    made: Flow[Any],
    input: Any = None,
    options: StartFlowOptions | None = None,
    flow_id: str = "flow",
) -> AsyncRun:
    """Start a run under options."""
    begun = await runtime.engine.start_flow(made, flow_id, input, options=options)
    return AsyncRun(runtime.engine, flow_id, begun.run_id, made.get_flow_type())


async def tell(runtime: Runtime, run: AsyncRun, *messages: Message) -> None:
    """Send messages to a run, and let it take them."""
    for message in messages:
        await runtime.engine.send(run.run_id, message)
    await asyncio.sleep(0.001)


async def publish(runtime: Runtime, run: AsyncRun, channel: str, *values: Any) -> None:
    """Publish values from outside."""
    await tell(runtime, run, Published(channel, list(values)))


async def skip_timer(runtime: Runtime, run: AsyncRun, key: str, place: int = 0) -> None:
    """Let a Timer count as fired."""
    await tell(runtime, run, TimerFired(key, place, skipped=True))


async def kinds(run: AsyncRun) -> list[str]:
    """Give the kinds of a run's durable events."""
    return [event.kind for event in await history(run)]


async def of_kind(run: AsyncRun, *wanted: str) -> list[Event]:
    """Give the durable events of some kinds."""
    return [event for event in await history(run) if event.kind in wanted]
