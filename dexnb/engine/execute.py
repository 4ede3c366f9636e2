"""Running a Step's method in its three forms, from the decoded input to an `Outcome`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass
from typing import Any

from dexnb.engine.attempt import Attempt
from dexnb.engine.step_context import AsyncStepContext, StepContext
from dexnb.errors import LoopBoundError
from dexnb.flow.mapping import map_decision, map_wait
from dexnb.flow.output import OUTLET, StepOutput
from dexnb.flow.subflow import check_subflow_ids
from dexnb.flow.timeout_step import SYSTEM_PREFIX
from dexnb.flow.typed import decode_kept
from dexnb.model.decision import Decision
from dexnb.model.message import StepDone, WaitDone
from dexnb.model.shown import shown


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a Step's method ended: with its word, with an error, or (neither) without starting."""

    message: StepDone | WaitDone | None = None
    error: BaseException | None = None


class AsyncRun:
    """An async Step's method, called but not yet awaited; made inside the attempt's context."""

    def __init__(self, attempt: Attempt) -> None:
        """Decode the input and call the method.

        Raises:
            ValueMappingError: The stored input is no longer of the Step's input type.
        """
        self._attempt = attempt
        self._context = AsyncStepContext(attempt)
        OUTLET.set(self._context)
        called = attempt.method(self._context, _input_of(attempt))
        self.coroutine: Coroutine[Any, Any, Any] = (
            called if inspect.iscoroutine(called) else _awaiting(called)
        )

    async def outcome(self, driver: Awaitable[Any]) -> Outcome:
        """Await the method and map what it gives; every error of it is an outcome."""
        try:
            return _finish(self._attempt, self._context, await driver)
        except BaseException as error:  # noqa: BLE001 - SystemExit in a Step must not end the loop
            return Outcome(error=_named(error, self._attempt))
        finally:
            self._context.end()


async def _awaiting(called: Awaitable[Any]) -> Any:
    """Stand for what a decorated method gives in place of a coroutine."""
    return await called


def run_sync(attempt: Attempt) -> Outcome:
    """Run a plain sync Step or a generator to its end, in a thread of its own."""
    context = StepContext(attempt)
    try:
        OUTLET.set(context)
        result = attempt.method(context, _input_of(attempt))
        if inspect.isgenerator(result):
            result = _exhaust(result, context)
        return _finish(attempt, context, result)
    except BaseException as error:  # noqa: BLE001 - whatever a Step raises is its outcome
        return Outcome(error=error)
    finally:
        context.end()


def _exhaust(generator: Any, context: StepContext) -> Any:
    error: BaseException | None = None
    while True:
        try:
            output = generator.send(None) if error is None else generator.throw(error)
        except StopIteration as stop:
            return stop.value
        error = None
        try:
            if not isinstance(output, StepOutput):
                detail = f"Step generator must yield StepOutput values, got {shown(output)}"
                raise context.invalid(detail)
            context.deliver(output)
        except BaseException as refused:  # noqa: BLE001 - thrown in, so that the Step may clean up
            error = refused


def _finish(attempt: Attempt, context: StepContext, result: Any) -> Outcome:
    context.finish()
    item, flow, step = attempt.item, attempt.flow, attempt.step
    if attempt.payload.method == "wait_for":
        wait = map_wait(result, attempt.links.flow_of, flow, step)
        check_subflow_ids(wait, item.flow_id, item.step_execution_id)
        return Outcome(WaitDone(item.step_execution_id, item.attempt, wait, context.writes()))
    # Steps of the engine's own give documents, which must not be encoded a second time.
    own = isinstance(result, Decision) and item.step_type.startswith(SYSTEM_PREFIX)
    decision = result if own else map_decision(result, flow, step)
    return Outcome(StepDone(item.step_execution_id, item.attempt, decision, context.writes()))


def _named(error: BaseException, attempt: Attempt) -> BaseException:
    """Say what asyncio means where an object of another loop is used, and what to do about it."""
    text = str(error) if type(error) is RuntimeError else ""
    if not any(words in text for words in _OTHER_LOOP):
        return error
    named = LoopBoundError(
        f"{attempt.who} uses an object of another event loop: create clients, locks, queues and "
        f"tasks inside the Step ({shown(text)})"
    )
    named.__cause__ = error
    return named


_OTHER_LOOP = ("attached to a different loop", "bound to a different event loop")


def _input_of(attempt: Attempt) -> Any:
    operation = f"input of {attempt.who}"
    return decode_kept(attempt.payload.input, attempt.handler.input_type, operation)
