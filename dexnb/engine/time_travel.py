"""Time travel: a new run of a flow id that goes on from a point in an old run's history.

The old run's events up to that point become the new run's, so its state is their fold; what was
under way there is put to work again. `cut_at` and `travelled` are pure.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dexnb.clock import wall_time
from dexnb.engine import rpc_turn
from dexnb.engine.first_turn import apply_first
from dexnb.engine.ledger import Ledger
from dexnb.engine.moving import is_waiting, schedule
from dexnb.engine.reapply import reapply as write_again
from dexnb.engine.settling import settle
from dexnb.engine.starting import made_way, terminate
from dexnb.engine.turn import SUBFLOW
from dexnb.errors import DefinitionError, FlowAlreadyStartedError
from dexnb.flow.time_travel import TimeTravelOptions, TimeTravelStepMethod, TimeTravelType
from dexnb.model.decision import Movement
from dexnb.model.event import Event
from dexnb.model.history import fold
from dexnb.model.message import DelayOver, FlowTimeout, RpcExpired, TimerFired
from dexnb.model.run_state import RunState
from dexnb.model.shown import shown
from dexnb.model.step_execution import StepExecution
from dexnb.providers import Commit, RunRecord

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine

FOLLOWING = frozenset({"step_scheduled", "step_cancelled", "locks_taken", "wait_ended"})
"""Kinds of events that only follow from an event before them, and so belong to it."""

RESOLUTION = 1e-6
"""Seconds that a datetime can tell apart: an event's own stamp must find it."""


async def time_travel(engine: Engine, record: RunRecord, options: TimeTravelOptions) -> str:
    """Start the new run; give its id. An open old run is terminated first.

    These are two commits, because no store has one for two runs: if the second one fails or its
    process dies, the old run has ended and there is no new one. The error says so, and the same
    call again, of whatever process, goes on from the same point. Those whose SubFlow it is are
    told of the new run's end, not of the old one's, and so wait for that.

    Raises:
        DefinitionError: The run has no such point, or had ended by then.
        FlowAlreadyStartedError: Somebody else started a run of that flow id meanwhile.
        ProviderError: The store cannot do it.
        RuntimeClosed: The engine was closed meanwhile.
    """
    if not isinstance(options, TimeTravelOptions):
        fix = "give TimeTravelOptions(TimeTravelType.BEGINNING) or others"
        raise DefinitionError(f"time_travel options is {shown(options)}: {fix}")
    cut = cut_at(_before_its_way(await _events(engine, record)), options)
    if record.status != "RUNNING":
        return await _begin(engine, record, cut, options)
    await terminate(engine, record.run_id, options.reason or "time_travel", makes_way=True)
    with made_way(record):
        return await _begin(engine, record, cut, options)


def _before_its_way(events: Sequence[Event]) -> Sequence[Event]:
    """Leave out the end that a run has come to for a time travel, which may have been cut short."""
    for place, event in enumerate(events):
        if event.kind == "stop_requested" and event.payload.get("makes_way"):
            return events[:place]
    return events


async def _events(engine: Engine, record: RunRecord) -> Sequence[Event]:
    return await engine.ask(partial(engine.provider.read_events, record.run_id))


async def _begin(engine: Engine, record: RunRecord, cut: int, options: TimeTravelOptions) -> str:
    clock = engine.provider.clock
    commit = travelled(
        await _events(engine, record),
        cut,
        uuid.uuid4().hex,
        reapply=not options.skip_writes_reapply,
        reason=options.reason or "",
        time=clock.lease(),
        wall=wall_time(),
        now=clock.now(),
    )
    started = await apply_first(engine, commit, RunState.from_text(commit.state))
    if not started.created:
        raise FlowAlreadyStartedError(
            f"flow id {record.flow_id} has an open run again, which somebody started meanwhile: "
            "call time_travel again to go on from that one"
        )
    return started.run_id


def cut_at(events: Sequence[Event], options: TimeTravelOptions) -> int:
    """Give how many events of a history come before the point to which a run is taken.

    A cut never parts an event from what follows from it.

    Raises:
        DefinitionError: There is no such point, or the run had ended by then.
    """
    if options.type is TimeTravelType.BEGINNING:
        cut = _behind(events, 0)
    elif options.type is TimeTravelType.HISTORY_EVENT_TIME:
        cut = _by_time(events, options)
    else:
        cut = _behind(events, _step_place(events, options))
    if any(event.kind == "flow_closed" for event in events[:cut]):
        fix = "give an earlier point"
        raise DefinitionError(f"time_travel: the run had ended by then: {fix}")
    return cut


def travelled(
    events: Sequence[Event],
    cut: int,
    run_id: str,
    *,
    reapply: bool = True,
    reason: str = "",
    time: float,
    wall: float,
    now: float,
) -> Commit:
    """Give the first turn of the new run.

    Args:
        events: The old run's history.
        cut: How many of them the new run has too.
        run_id: The new run.
        reapply: Whether what outsiders wrote behind the cut is written again: their messages, and
            what RPCs wrote, but not the Steps that RPCs started.
        reason: Why, for the history.
        time: Store time of the turn.
        wall: Wall-clock stamp of its events.
        now: Store time from which what is due later counts.
    """
    kept = [replace(event, run_id=run_id) for event in events[:cut]]
    ledger = Ledger(fold(kept), time=time, wall=wall, now=now)
    origin: dict[str, Any] = {"from_run_id": events[0].run_id, "events": cut, "reason": reason}
    if earlier := fold(events).origins:
        # The cut may lie before the event that told of them.
        origin["origins"] = earlier
    ledger.emit("time_travelled", **origin)
    _free_rpc_locks(ledger)
    _go_on(ledger, kept)
    _time_out_again(ledger, kept)
    _keep_parents(ledger, events[cut:])
    if reapply:
        write_again(ledger, events, cut)
    settle(ledger)
    return replace(ledger.commit(), events=(*kept, *ledger.events))


def _keep_parents(ledger: Ledger, behind: Iterable[Event]) -> None:
    """Let those wait for the new run too who joined the old one behind the cut."""
    for event in behind:
        if event.kind == "parent_added" and event.payload["parent"] not in ledger.state.parents:
            ledger.emit("parent_added", parent=event.payload["parent"])


def _go_on(ledger: Ledger, kept: Sequence[Event]) -> None:
    """Put every execution to what it was at: work, the rest of its delay, its wait."""
    for key, step in list(ledger.state.active.items()):
        if step.phase == "running":
            ledger.run(key)
        elif step.phase == "delayed":
            _delay_again(ledger, kept, key)
        elif is_waiting(step):
            _wait_again(ledger, kept, key, step)


def _behind(events: Sequence[Event], place: int) -> int:
    """Give the cut behind an event and all that follows from it."""
    cut = place + 1
    while cut < len(events) and events[cut].kind in FOLLOWING:
        cut += 1
    return cut


def _by_time(events: Sequence[Event], options: TimeTravelOptions) -> int:
    moment = options.history_event_time
    assert moment is not None  # noqa: S101 - the options refuse a missing one
    seconds = moment.timestamp()
    later = (place for place, event in enumerate(events) if event.wall > seconds + RESOLUTION)
    cut = next(later, len(events))
    if cut == 0:
        raise DefinitionError(
            f"time_travel history_event_time is {moment.isoformat()}: give a time behind the run's "
            "start"
        )
    return _behind(events, cut - 1)


def _step_place(events: Sequence[Event], options: TimeTravelOptions) -> int:
    """Give the place of the event with which a Step's method comes up."""
    wanted = options.step_execution_id
    scheduled = {
        event.step_execution_id: place
        for place, event in enumerate(events)
        if event.kind == "step_scheduled"
    }
    if wanted is not None:
        key = str(wanted)
    else:
        of_type = (k for k in scheduled if k.rpartition("-")[0] == options.step_name)
        key = next(of_type, "")
    if key not in scheduled:
        known = ", ".join(scheduled) or "none"
        what = str(wanted) if wanted is not None else f"{options.step_name}-1"
        raise DefinitionError(f"time_travel: the run never had {what}; its executions: {known}")
    place = scheduled[key]
    plan = events[place].payload.get("plan")
    waits = plan is not None and plan["wait_for"]
    if options.step_method is TimeTravelStepMethod.WAIT_FOR and not waits:
        raise DefinitionError(f"time_travel: {key} has no wait_for: leave step_method out")
    if options.step_method is not TimeTravelStepMethod.EXECUTE or not waits:
        return place
    for later in range(place, len(events)):
        event = events[later]
        if event.step_execution_id == key and event.kind in ("wait_ended", "wait_failed"):
            return later
    raise DefinitionError(f"time_travel: {key} never came to its execute: give WAIT_FOR")


def _free_rpc_locks(ledger: Ledger) -> None:
    """End the locks of RPCs that were under way: nobody will end them in this run."""
    state = ledger.state
    for holder in set(state.locks.values()) - state.active.keys():
        rpc_turn.expire(ledger, RpcExpired(holder))


def _delay_again(ledger: Ledger, kept: Sequence[Event], key: str) -> None:
    """Let a delayed Step begin after what was left of its delay."""
    scheduled = next(event for event in kept if event.step_execution_id == key)
    passed = kept[-1].time - scheduled.time
    ledger.tell(DelayOver(key), delay=max(0.0, scheduled.payload["delay"] - passed))


def _wait_again(ledger: Ledger, kept: Sequence[Event], key: str, step: StepExecution) -> None:
    """Set the open Timers of a waiting Step for what was left of them, and find its SubFlows."""
    conditions = step.wait["conditions"] if step.wait else []
    passed = kept[-1].time - step.wait_started_at
    for place, condition in enumerate(conditions):
        if condition["kind"] == "timer" and place not in step.fired:
            ledger.tell(TimerFired(key, place), delay=max(0.0, condition["seconds"] - passed))
        elif condition["kind"] == "subflow":
            _find_subflow(ledger, kept, key, place)


def _find_subflow(ledger: Ledger, kept: Sequence[Event], key: str, place: int) -> None:
    """Start the internal Step once more for a SubFlow that has not ended as far as is known.

    It joins the one that runs, or learns how it ended.
    """
    step = ledger.state.active[key]
    if step.subflows.get(str(place), {}).get("status", "RUNNING") != "RUNNING":
        return
    running = (
        other.movement.input
        for other in ledger.state.active.values()
        if other.movement.step_type == SUBFLOW and other.from_step_execution_id == key
    )
    if any(document["condition"] == place for document in running):
        return
    started = (
        event.payload["input"]
        for event in kept
        if event.kind == "step_scheduled"
        and event.payload["step_type"] == SUBFLOW
        and event.payload["from_step_execution_id"] == key
    )
    document = next(each for each in started if each["condition"] == place)
    schedule(ledger, Movement(SUBFLOW, document), key)


def _time_out_again(ledger: Ledger, kept: Sequence[Event]) -> None:
    """Set the run's timeout for what was left of it."""
    timeout = kept[0].payload.get("timeout", 0.0)
    if timeout and all(event.kind != "flow_timed_out" for event in kept):
        passed = kept[-1].time - kept[0].time
        ledger.tell(FlowTimeout(), delay=max(0.0, timeout - passed))
