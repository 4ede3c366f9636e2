"""Running an RPC's method: an async one on the loop of the Steps, a plain one in a thread."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from dexnb.clock import Clock, guard_thread
from dexnb.engine import capture
from dexnb.engine.attempt import Attempt
from dexnb.engine.rpc_context import RpcContext
from dexnb.flow.handler import Mode
from dexnb.flow.output import OUTLET

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class _Returned:
    """What a method gave, or raised: some exceptions cannot cross loops and threads as such."""

    value: Any = None
    error: BaseException | None = None


class RpcLog:
    """Where prints and log records of one call go: to the telemetry of the run that it is about."""

    def __init__(self, engine: Engine, context: RpcContext) -> None:
        """Begin with the call under way."""
        self._telemetry = engine.telemetry
        self._options = engine.options
        self._context = context
        self.ended = False

    def record(self, kind: Any, payload: dict[str, Any], size: int = 0) -> None:
        """Keep a telemetry entry."""
        context = self._context
        self._telemetry.record(context.run_id, context.flow_id, kind, payload=payload, size=size)

    def enter(self) -> None:
        """Take what is printed in this context from now on."""
        # To the capture it is what an attempt is: a place for lines.
        capture.enter(cast("Attempt", self), self._options)

    def end(self) -> None:
        """Keep the line that was begun."""
        self.ended = True
        capture.end_lines(cast("Attempt", self))


async def run_handler(
    engine: Engine,
    method: Callable[..., Any],
    mode: Mode,
    context: RpcContext,
    input: tuple[Any, ...],
) -> Any:
    """Give what an RPC's method returns; what it raises is raised here.

    Args:
        engine: Whose loops and threads are used.
        method: The Flow's bound method.
        mode: How it is run.
        context: Its first argument.
        input: Its second one, or nothing, in a tuple.
    """
    loop, log = asyncio.get_running_loop(), RpcLog(engine, context)
    if mode == "async":
        steps = engine.hosts.loop
        running = _awaited(method, context, input, log)
        if steps is loop:
            # A task of its own, because the method may set context variables.
            returned = await asyncio.create_task(running)
        else:
            returned = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(running, steps))
    else:
        clock, name = Clock.of(loop), f"RPC {method.__qualname__}"
        inside = contextvars.copy_context()
        # The loop counts its own executor calls, so that virtual time waits for them.
        returned = await loop.run_in_executor(
            engine.calls.threads, inside.run, _called, method, context, input, clock, name, log
        )
    if returned.error is not None:
        raise returned.error
    return returned.value


async def _awaited(
    method: Callable[..., Any], context: RpcContext, input: tuple[Any, ...], log: RpcLog
) -> _Returned:
    OUTLET.set(context)
    log.enter()
    try:
        return _Returned(await method(context, *input))
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return _Returned(error=error)
    except BaseException as error:  # noqa: BLE001 - SystemExit in a method must not end the loop
        return _Returned(error=error)
    finally:
        log.end()


def _called(
    method: Callable[..., Any],
    context: RpcContext,
    input: tuple[Any, ...],
    clock: Clock,
    name: str,
    log: RpcLog,
) -> _Returned:
    OUTLET.set(context)
    log.enter()
    try:
        with guard_thread(clock, name):
            return _Returned(method(context, *input))
    except BaseException as error:  # noqa: BLE001 - whatever a method raises is its caller's
        return _Returned(error=error)
    finally:
        log.end()
