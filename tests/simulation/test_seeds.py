"""Random Flows in random weather: whatever happens, what must hold does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.simulation.callers import KINDS as KINDS_OF_CALLS
from tests.simulation.playing import CHUNK, play
from tests.simulation.world import Outcome, simulate

CI_SEEDS = 1000
SOME = 60
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("first", range(0, CI_SEEDS, CHUNK))
def test_random_flows_survive_crashes_and_bad_weather(first: int) -> None:
    """Fifty seeds, each with its own Flows, messages, calls, faults and kills."""
    played = play(range(first, first + CHUNK))
    print(f"\nfrom {first}: {played}")
    assert not played.wrong, "\n".join(played.wrong)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_random_flows_survive_on_a_file(tmp_path: Path) -> None:
    """The same on SQLite, where the order of events is the disk's as well."""
    played = play(range(30), tmp_path)
    print(f"\non SQLite: {played}")
    assert not played.wrong, "\n".join(played.wrong)


@pytest.mark.parametrize("seed", [1, 12, 123])
def test_a_seed_always_gives_the_same_events(seed: int) -> None:
    """Played twice in a process, the histories are equal, to the last digit of every time."""
    assert simulate(seed) == simulate(seed)


def test_a_seed_gives_the_same_events_in_every_process() -> None:
    """The order of sets is another there; the command that a failure prints shows the failure."""
    here = simulate(34)
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        told = subprocess.run(
            [sys.executable, "-m", "tests.simulation", "34"],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert f"digest {here.digest}" in told.stdout


def test_seeds_differ_and_reach_everything() -> None:
    """Sixty of them bring every kind of event, end in every way, and kill engines."""
    outcomes: list[Outcome] = [simulate(seed) for seed in range(SOME)]
    events = [event for outcome in outcomes for event in outcome.events]
    kinds = {event.kind for event in events}
    assert kinds >= KINDS, KINDS - kinds
    ends = {event.payload["status"] for event in events if event.kind == "flow_closed"}
    assert ends == {"COMPLETED", "FAILED", "CANCELED", "TERMINATED"}
    decisions = {e.payload["decision"]["kind"] for e in events if e.kind == "step_completed"}
    assert len(decisions) == 6
    assert sum(outcome.kills for outcome in outcomes) > SOME
    assert len({outcome.digest for outcome in outcomes}) == SOME
    answers = sum((outcome.answers for outcome in outcomes), Counter[tuple[str, str]]())
    assert {kind for kind, _ in answers} == ANSWERED


KINDS = {
    "flow_started",
    "step_scheduled",
    "locks_taken",
    "wait_started",
    "timer_fired",
    "subflow_changed",
    "wait_ended",
    "wait_failed",
    "step_completed",
    "step_failed",
    "step_cancelled",
    "channel_published",
    "rpc_started",
    "rpc_completed",
    "rpc_refused",
    "flow_timed_out",
    "config_changed",
    "knobs_changed",
    "time_travelled",
    "stop_requested",
    "flow_closed",
}
ANSWERED = {kind for kind, _ in KINDS_OF_CALLS}
