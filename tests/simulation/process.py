"""What a process gives its code beside time: ids, chance, a log, all of them drawn or silent."""

from __future__ import annotations

import logging
import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

from dexnb import Flow
from dexnb.engine import failure_log
from dexnb.flow import registry
from dexnb.flow.registry import RegisteredFlow
from dexnb.graph import read


@contextmanager
def a_process_of_its_own(seed: int) -> Iterator[None]:
    """Let ids and chance follow from the seed; read what never changes once."""
    rng, before = random.Random(f"{seed}:ids"), random.getstate()

    def draw() -> uuid.UUID:
        return uuid.UUID(int=rng.getrandbits(128), version=4)

    random.seed(seed)
    level = failure_log.LOG.level
    failure_log.LOG.setLevel(logging.CRITICAL)
    try:
        with (
            mock.patch.object(uuid, "uuid4", draw),
            mock.patch.object(registry, "read_flow", _once_for_each_flow(registry.read_flow)),
            mock.patch.dict(vars(read), _READERS),
        ):
            yield
    finally:
        failure_log.LOG.setLevel(level)
        random.setstate(before)


def _once_for_each_flow(read_flow: Callable[..., RegisteredFlow]) -> Callable[..., RegisteredFlow]:
    """Machines that know the same code find the same in it; each may add Steps of its own."""
    known: dict[tuple[Flow[Any], float], RegisteredFlow] = {}

    def read_once(flow: Flow[Any], *, minimum_heartbeat: float) -> RegisteredFlow:
        key = flow, minimum_heartbeat
        if key not in known:
            known[key] = read_flow(flow, minimum_heartbeat=minimum_heartbeat)
        found = known[key]
        return replace(found, steps=dict(found.steps))

    return read_once


def _once(reader: Callable[..., Any], key_of: Callable[..., Any]) -> Callable[..., Any]:
    """Sources are the same for all Flows here, and reading one takes longer than a whole seed."""
    known: dict[Any, Any] = {}

    def read_once(*given: Any) -> Any:
        key = key_of(*given)
        if key not in known:
            # With what was given, because that is the key as long as it lives.
            known[key] = given, reader(*given)
        return known[key][1]

    return read_once


def _code_of(owner: Any, method: str) -> Any:
    return getattr(getattr(owner, method, None), "__code__", None)


_READ_ONCE = (
    "read_timings",
    "read_outcomes",
    "read_results",
    "read_waits",
    "visits",
    "read_uses",
    "read_routes",
)
_READERS = {
    "frame_of": _once(read.frame_of, _code_of),
    **{
        name: _once(getattr(read, name), lambda *frames: tuple(map(id, frames)))
        for name in _READ_ONCE
    },
}
