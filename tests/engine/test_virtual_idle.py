"""A session on the virtual clock between two calls of a cell."""

from __future__ import annotations

import time

import pytest

import dexnb as dex
from dexnb.examples.polling import PollingFlow
from dexnb.jobs import InProcessJobs, JobScript


@pytest.mark.parametrize("where", ["memory:", "idle.db"])
def test_an_idle_session_lets_time_stand_and_costs_nothing(
    where: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a run, after it, and in the next one: nothing but the run makes time pass."""
    monkeypatch.chdir(tmp_path_factory.mktemp("idle"))
    with dex.open(where, clock=dex.Clock.virtual()) as session:
        for number in range(2):
            flow = PollingFlow(InProcessJobs(JobScript.lasting(60)))
            before = session.now()
            assert session.start(flow, f"job-{number}").wait_sync().status == "COMPLETED"
            time.sleep(0.1)
            # The lease of an attempt that has just ended may still be looked after once.
            assert 60 <= session.now() - before < 120
            after, used = session.now(), time.process_time()
            time.sleep(0.5)
            assert session.now() == after
            assert time.process_time() - used < 0.25
