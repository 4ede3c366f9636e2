"""Which run a call from outside means, and how the run's history answers the call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from dexnb.errors import FlowNotActiveOrNotFoundError, FlowNotFoundError
from dexnb.model.arguments import of_type
from dexnb.model.event import Event
from dexnb.model.shown import shown
from dexnb.providers import RunRecord

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine


async def newest_run(engine: Engine, flow_id: str) -> RunRecord:
    """Give the newest run of a flow id, open or not.

    Raises:
        FlowNotFoundError: There is none.
    """
    of_type(flow_id, str, "flow_id", "the text that the run was started with")
    record = await engine.record(flow_id=flow_id)
    if record is None:
        raise FlowNotFoundError(f"no run of flow id {shown(flow_id)} is in this store")
    return record


async def open_run(engine: Engine, flow_id: str, run_id: str = "") -> RunRecord:
    """Give the open run of a flow id, or a certain run of it that must be open.

    Raises:
        FlowNotActiveOrNotFoundError: There is none, or it has ended.
    """
    of_type(flow_id, str, "flow_id", "the text that the run was started with")
    of_type(run_id, str, "run_id", "a run's id, or '' for the newest run")
    record = await engine.record(run_id=run_id) if run_id else await engine.record(flow_id=flow_id)
    if record is None or record.flow_id != flow_id:
        which = f"run {shown(run_id)}" if run_id else "run"
        which = f"{which} of flow id {shown(flow_id)}"
        raise FlowNotActiveOrNotFoundError(f"no {which} is in this store: start it first")
    check_active(record)
    return record


def check_active(record: RunRecord) -> None:
    """Refuse a run that has ended.

    Raises:
        FlowNotActiveOrNotFoundError: It has.
    """
    if record.status != "RUNNING":
        raise FlowNotActiveOrNotFoundError(
            f"{record.flow_id} has ended {record.status}: start it again, or time_travel into it"
        )


async def answer(engine: Engine, record: RunRecord, fits: Callable[[Event], bool]) -> Event:
    """Wait for the first event behind a record's version that fits.

    Raises:
        FlowNotActiveOrNotFoundError: The run ended without one.
    """
    run_id, seen = record.run_id, record.version

    def moved(now: RunRecord) -> RunRecord | None:
        """Find the run once it has had another turn."""
        return now if now.version > seen or now.status != "RUNNING" else None

    while True:
        record = await engine.endings.until(run_id, moved)
        events = partial(engine.provider.read_events, run_id, seen)
        for event in await engine.ask(events):
            if fits(event):
                return event
            seen = event.seq
        check_active(record)
