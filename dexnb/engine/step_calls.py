"""What a client asks of single Steps of a run: to skip a Timer, to wait for an execution's end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dexnb.engine.addressing import answer, check_active
from dexnb.engine.limit import Limit
from dexnb.errors import DefinitionError, FlowNotActiveOrNotFoundError, RequestTimeoutError
from dexnb.flow.client_options import StepExecutionId, TimerId
from dexnb.model.arguments import of_type
from dexnb.model.event import Event
from dexnb.model.message import TimerFired
from dexnb.model.run_state import RunState
from dexnb.model.shown import shown
from dexnb.model.step_execution import StepExecution
from dexnb.providers import RunRecord

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine


async def skip_timer(
    engine: Engine, record: RunRecord, execution: StepExecutionId, timer: TimerId
) -> None:
    """Let a Timer of a waiting Step count as fired; one that has fired stays as it is.

    Raises:
        FlowNotActiveOrNotFoundError: The run has ended, or ended meanwhile.
        DefinitionError: The execution does not wait, or has no such Timer.
    """
    check_active(record)
    checked = _checked(execution)
    key = str(checked)
    of_type(timer, TimerId, "timer_id", "TimerId.by_condition_id(...) or by_condition_index(...)")
    state = RunState.from_text(record.state)
    _check_step(engine, record, state, checked.name)
    step = state.active.get(key)
    if step is None or step.phase != "waiting":
        waiting = ", ".join(key for key, _ in state.waiting) or "none"
        raise DefinitionError(
            f"skip_timer: {shown(key)} of {record.flow_id} does not wait; waiting: {waiting}"
        )
    place = _timer_place(key, step, timer)
    if place in step.fired:
        return
    await engine.send(record.run_id, TimerFired(key, place, skipped=True))

    def over(event: Event) -> bool:
        """Tell the Timer's end."""
        if event.step_execution_id != key:
            return False
        # A wait that ended otherwise has no use for the Timer any more.
        fired = event.kind == "timer_fired" and event.payload["condition"] == place
        return fired or event.kind in ("wait_ended", "step_cancelled")

    await answer(engine, record, over)


async def wait_for_step_completion(
    engine: Engine, record: RunRecord, execution: StepExecutionId, limit: Limit
) -> None:
    """Wait until an execution of a Step has ended, well or not; it need not have begun.

    Raises:
        DefinitionError: The Flow is registered here and has no such Step.
        FlowNotActiveOrNotFoundError: The run ended without that execution.
        RequestTimeoutError: It took longer than the limit.
    """
    checked = _checked(execution)
    key = str(checked)
    _check_step(engine, record, RunState.from_text(record.state), checked.name)

    def look(now: RunRecord) -> str | None:
        """Find that the execution has ended."""
        state = RunState.from_text(now.state)
        if checked.number <= state.numbers.get(checked.name, 0) and key not in state.active:
            return ""
        return state.status if state.closed else None

    try:
        async with limit.rest():
            status = await engine.endings.until(record.run_id, look)
    except TimeoutError:
        message = f"{key} of {record.flow_id} has not ended within {limit.seconds:g} s"
        raise RequestTimeoutError(message) from None
    if status:
        message = f"{record.flow_id} has ended {status} without an execution {key}"
        raise FlowNotActiveOrNotFoundError(message)


def _checked(execution: StepExecutionId) -> StepExecutionId:
    fix = "StepExecutionId('YourStep', 1)"
    checked: StepExecutionId = of_type(execution, StepExecutionId, "step_execution_id", fix)
    return checked


def _check_step(engine: Engine, record: RunRecord, state: RunState, name: str) -> None:
    """Refuse a Step that the run will never have; it may have had one that other code knows."""
    flow = engine.registry.get(record.flow_type)
    if flow is None or name in flow.steps or name in state.numbers:
        return
    message = f"{record.flow_type} has no Step {shown(name)}"
    step_type, dash, number = name.rpartition("-")
    if dash and number.isdecimal() and step_type in flow.steps:
        raise DefinitionError(f"{message}: give StepExecutionId({step_type!r}, {number})")
    raise DefinitionError(f"{message}; its Steps: {', '.join(sorted(flow.steps))}")


def _timer_place(key: str, step: StepExecution, timer: TimerId) -> int:
    conditions = step.wait["conditions"] if step.wait else []
    timers = [place for place, each in enumerate(conditions) if each["kind"] == "timer"]
    for number, place in enumerate(timers):
        by_id = timer.condition_id is not None and conditions[place]["id"] == timer.condition_id
        if by_id or timer.condition_index == number:
            return place
    wanted = timer.condition_index if timer.condition_id is None else timer.condition_id
    ids = ", ".join(repr(conditions[place]["id"]) for place in timers) or "none"
    raise DefinitionError(
        f"skip_timer: {key} waits for no Timer {shown(wanted)}; its Timers' ids in order: {ids}"
    )
