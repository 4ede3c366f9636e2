"""Builders of small Flows from plain functions, and runs of them on the virtual clock."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any, Concatenate, ParamSpec

from dexnb import Clock, Flow, PersistenceSchema, RetryPolicy, Step, StepList, StepOptions, Stream
from dexnb.engine import AsyncRun, FlowResult, Runtime, RuntimeOptions, capture, collector
from dexnb.model.event import Event
from dexnb.model.history import fold
from dexnb.providers import MemoryProvider, Provider

P = ParamSpec("P")
Execute = Callable[..., Any]

FAST = RuntimeOptions(minimum_heartbeat_timeout=timedelta(milliseconds=10))
"""Lets tests use heartbeat timeouts under ten seconds."""


def virtual(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test on a virtual clock of its own."""

    @functools.wraps(test)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        Clock.virtual().run(test(*args, **kwargs))

    return wrapper


def with_runtime(
    test: Callable[Concatenate[Runtime, P], Coroutine[Any, Any, None]], *, live_knobs: bool = False
) -> Callable[P, None]:
    """Run an async test on a virtual clock, with a runtime on a memory store of its own."""

    async def inside(*args: P.args, **kwargs: P.kwargs) -> None:
        options = fast(live_knobs=live_knobs)
        async with Runtime(MemoryProvider(), options=options) as runtime:
            await test(runtime, *args, **kwargs)

    @functools.wraps(test)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        Clock.virtual().run(inside(*args, **kwargs))

    # pytest asks for the arguments of the wrapped one, but for the runtime.
    names = list(test.__code__.co_varnames[1 : test.__code__.co_argcount])
    wrapper.__signature__ = _signature(names)  # type: ignore[attr-defined]  # any function may
    return wrapper


def _signature(names: Sequence[str]) -> Any:
    from inspect import Parameter, Signature

    return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])


def fast(**settings: Any) -> RuntimeOptions:
    """Give options that allow short heartbeat timeouts."""
    return RuntimeOptions(minimum_heartbeat_timeout=timedelta(milliseconds=10), **settings)


def options(
    *,
    method: float | None = None,
    heartbeat: float | None = None,
    attempts: int = 0,
    total: float | None = None,
    initial: float | None = None,
    recovery: type[Step[Any]] | None = None,
) -> StepOptions:
    """Make StepOptions from seconds."""
    made = StepOptions(
        execute_method_timeout=_duration(method),
        heartbeat_timeout=_duration(heartbeat),
        execute_retry=RetryPolicy(
            initial_interval=_duration(initial),
            maximum_attempts=attempts,
            total_duration=_duration(total),
        ),
    )
    return made if recovery is None else made.on_execute_failure_proceed_to(recovery)


def _duration(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


class _Plain:
    """Gives a function as it is, without binding it to its Step."""

    def __init__(self, function: Execute) -> None:
        self._function = function

    def __get__(self, step: object, owner: object = None) -> Execute:
        return self._function


def step(function: Execute, *, name: str = "", **settings: Any) -> type[Step[Any]]:
    """Make a Step class whose `execute` is a plain function of context and input."""
    step_name = name or function.__name__.title().replace("_", "")
    chosen = settings.pop("options", None) or (options(**settings) if settings else None)
    body = {
        "execute": _Plain(function),
        "get_step_options": lambda _: chosen,
        "__module__": function.__module__,
    }
    return type(step_name, (Step,), body)


def flow(
    *steps: type[Step[Any]] | Execute, streams: Sequence[Stream[Any]] = (), name: str = "TestFlow"
) -> Flow[Any]:
    """Make a Flow of Steps, the first of them its start Step; functions become Steps."""
    made = [each if isinstance(each, type) else step(each) for each in steps]
    first, *others = [each() for each in made]
    body = {
        "get_steps": lambda _: StepList.start_step(first).other_steps(*others),
        "get_persistence_schema": lambda _: PersistenceSchema.of(*streams),
    }
    made_flow: Flow[Any] = type(name, (Flow,), body)()
    return made_flow


async def finished(run: AsyncRun, timeout: float | None = None) -> FlowResult:
    """Wait for a run's end; its state must be the fold of its history."""
    result = await run.wait(timeout)
    await history(run)
    return result


async def history(run: AsyncRun) -> list[Event]:
    """Give the durable events, which must add up to the run's state."""
    durable = [event for event in await run.events() if event.durable]
    assert fold(durable) == await run.state()
    assert [event.seq for event in durable] == list(range(1, len(durable) + 1))
    return durable


async def telemetry(run: AsyncRun, *kinds: str) -> list[Event]:
    """Give the telemetry events of these kinds, or all."""
    events = [event for event in await run.events() if not event.durable]
    return [event for event in events if not kinds or event.kind in kinds]


async def outcome(
    made: Flow[Any],
    input: Any = None,
    *,
    provider: Provider | None = None,
    settings: RuntimeOptions | None = None,
) -> FlowResult:
    """Run a Flow to its end in a runtime of its own."""
    async with Runtime(provider or MemoryProvider(), options=settings or fast()) as runtime:
        return await finished(await runtime.start(made, "flow", input))


def failure_of(events: Sequence[Event]) -> dict[str, Any]:
    """Give the failure with which the last failed Step of a history ended."""
    failures = [event.payload["failure"] for event in events if event.kind == "step_failed"]
    found: dict[str, Any] = failures[-1]
    return found


async def crash(runtime: Runtime) -> None:
    """Leave an engine as a killed process leaves it: nothing of it runs, its leases stand."""
    await runtime.engine.provider.close()
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await asyncio.sleep(0)
    capture.uninstall(runtime.engine)
    collector.uninstall(runtime.engine)
