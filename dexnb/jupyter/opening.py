"""`lab`: gives the Lab of a flow id, the same one when its cell is run again."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

from dexnb import connect
from dexnb.engine import Session
from dexnb.errors import DexnbWarning
from dexnb.flow.flow import Flow
from dexnb.jupyter.lab import Lab
from dexnb.jupyter.maker import made_by
from dexnb.model.budget import MARGIN

_labs: dict[tuple[int, str], tuple[Session, Lab]] = {}
_memories: dict[tuple[str, str], Session] = {}
_lock = threading.Lock()


def lab(
    flow: Flow[Any] | Callable[[], Flow[Any]],
    flow_id: str | None = None,
    input: Any = None,
    *,
    runtime: Session | str | os.PathLike[str] | None = None,
    jobs: Any = None,
    margin: float = MARGIN,
    start: bool = False,
) -> Lab:
    """Open the Lab of a Flow: a page on which it is run, watched and tuned.

    Running the cell again gives the same Lab with the new code: an open run goes on, and nothing
    is started twice; an input that is not that run's gives a `DexnbWarning`. After a restart of the
    kernel the run under that id is found in the store.

    Args:
        flow: A Flow, or a class or function that makes one for each run.
        flow_id: Your name for what is waited for; the Flow's type by default.
        input: For the start Step.
        runtime: A session, or a file or `memory:` to open; `dexnb.open()` by default. Each flow id
            of a Flow has one `memory:`, which lasts until its session is closed.
        jobs: The system whose jobs are polled, for "Complete job"; the Flow's own by default.
        margin: Seconds that a round leaves free before the heartbeat deadline.
        start: Start a run, if none is open.

    Raises:
        DefinitionError: It is no Flow, makes none, or cannot be used; lists every problem then.
        ValueMappingError: The input does not fit the start Step.
        ProviderError: The store cannot be opened.
    """
    made = made_by(flow)
    chosen = flow_id or made.get_flow_type()
    session = _session(runtime, type(made).__qualname__, chosen)
    found = _find(session, flow, chosen, input, jobs=jobs, margin=margin)
    if found.other_input:
        warnings.warn(found.other_input, DexnbWarning, stacklevel=2)
    if start:
        found.start()
    return found


def _session(
    runtime: Session | str | os.PathLike[str] | None, flow_class: str, flow_id: str
) -> Session:
    if isinstance(runtime, Session):
        return runtime
    if runtime not in (connect.MEMORY, f":{connect.MEMORY}"):
        return connect.open(runtime)
    with _lock:
        known = _memories.get((flow_class, flow_id))
        if known is None or not known.is_open:
            known = _memories[flow_class, flow_id] = connect.open(connect.MEMORY)
        return known


def _find(
    session: Session, flow: Any, flow_id: str, input: Any, *, jobs: Any, margin: float
) -> Lab:
    with _lock:
        _forget_closed()
        known = _labs.get((id(session), flow_id))
        if known is None:
            found = Lab(flow, flow_id, input, session, jobs=jobs, margin=margin)
            _labs[id(session), flow_id] = (session, found)
            return found
        known[1].adopt(flow, input, jobs=jobs, margin=margin)
        return known[1]


def _forget_closed() -> None:
    for key, (session, old) in tuple(_labs.items()):
        if not session.is_open:
            old.close()
            del _labs[key]
