"""Faults by seed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dexnb.errors import DefinitionError
from dexnb.jobs import Fault, Faults

SOME = Faults(
    seed=7,
    latency=(0.1, 0.3),
    slow_rate=0.2,
    slow_seconds=9,
    error_rate=0.3,
    hang_rate=0.1,
    reset_rate=0.1,
    flap_rate=0.25,
)


def test_no_faults_by_default() -> None:
    """Nothing goes wrong that was not asked for."""
    quiet = Fault(delay=0.0, error=False, hang=False, reset=False, flap=False)
    assert {Faults(seed=seed).fault("j", 3) for seed in range(50)} == {quiet}


def test_the_draws_of_a_seed_are_pinned() -> None:
    """A notebook shows the same faults in every Python and in the next release."""
    faults = Faults(seed=7, latency=(0, 1), error_rate=0.5, hang_rate=0.5, reset_rate=0.5)
    drawn = [faults.fault("job", number) for number in range(6)]
    assert [(fault.error, fault.hang, fault.reset) for fault in drawn] == [
        (True, True, False),
        (True, True, True),
        (False, True, True),
        (False, True, True),
        (True, False, True),
        (False, False, True),
    ]
    assert [round(fault.delay, 6) for fault in drawn] == [
        0.296296,
        0.165346,
        0.916903,
        0.552979,
        0.698656,
        0.825259,
    ]


def test_seed_job_and_number_each_change_the_draws() -> None:
    """And nothing else does: the same three give the same fault."""

    def draws(seed: int, job_id: str, first: int) -> list[Fault]:
        faults = replace(SOME, seed=seed)
        return [faults.fault(job_id, number) for number in range(first, first + 40)]

    assert draws(7, "a", 0) == draws(7, "a", 0)
    others = [draws(8, "a", 0), draws(7, "b", 0), draws(7, "a", 1)]
    assert all(other != draws(7, "a", 0) for other in others)


def test_changing_one_rate_leaves_the_other_draws() -> None:
    """Turning one knob changes one thing."""
    more = replace(SOME, error_rate=0.9)
    for number in range(200):
        before, after = SOME.fault("j", number), more.fault("j", number)
        assert replace(after, error=before.error) == before
        assert after.error >= before.error


@pytest.mark.parametrize("name", ["error", "hang", "reset", "flap"])
def test_a_rate_is_met_over_many_calls(name: str) -> None:
    """Ten thousand draws of one seed come within a tenth of the rate."""
    faults = Faults.from_json({"seed": 1, f"{name}_rate": 0.3})
    hits = sum(getattr(faults.fault(f"job-{n % 10}", n), name) for n in range(10_000))
    assert 2_700 < hits < 3_300


def test_latency_stays_in_its_range_and_slow_calls_add_theirs() -> None:
    """A slow call takes its seconds on top."""
    delays = [SOME.fault("j", number).delay for number in range(1_000)]
    quick = [delay for delay in delays if delay < 9]
    assert all(0.1 <= delay <= 0.3 for delay in quick)
    assert all(9.1 <= delay <= 9.3 for delay in delays if delay >= 9)
    assert 150 < len(delays) - len(quick) < 250
    assert max(quick) - min(quick) > 0.19


def test_windows_take_in_their_start_and_not_their_end() -> None:
    """Two windows that touch are one."""
    faults = Faults(outages=[(1, 2), (2, 3)], hang_windows=[(5, 6)], disappear_after=9)
    assert [faults.is_out(t) for t in (0.9, 1, 2, 2.9, 3)] == [False, True, True, True, False]
    assert [faults.is_silent(t) for t in (4.9, 5, 6)] == [False, True, False]
    assert [faults.is_gone(t) for t in (8.9, 9)] == [False, True]


@pytest.mark.parametrize(
    "faults", [Faults(), SOME, Faults(outages=[(0, 1.5)], rate_limit=2, disappear_after=3)]
)
def test_faults_survive_json(faults: Faults) -> None:
    """The command takes what `to_json` gives."""
    read = Faults.from_json(json.loads(json.dumps(faults.to_json())))
    assert len({read, faults}) == 1


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"seed": "x"}, "faults.seed is 'x'"),
        ({"seed": True}, "faults.seed is True"),
        ({"seed": 2**64}, "at most 64 bits"),
        ({"latency": -0.1}, "faults.latency is -0.1"),
        ({"latency": [2, 1]}, r"faults.latency is \[2, 1\].*from <= to"),
        ({"latency": [1]}, r"faults.latency is \[1\]"),
        ({"latency": "1"}, "faults.latency is '1'"),
        ({"error_rate": 1.01}, "faults.error_rate is 1.01.*from 0"),
        ({"hang_rate": float("nan")}, "faults.hang_rate is nan"),
        ({"reset_rate": None}, "faults.reset_rate is None"),
        ({"flap_rate": "0.1"}, "faults.flap_rate is '0.1'"),
        ({"slow_seconds": 1e10}, "faults.slow_seconds is 1"),
        ({"outages": [[0, 1], [3, 2]]}, r"faults.outages\[1\] is \[3, 2\]"),
        ({"outages": 5}, "faults.outages is 5"),
        ({"hang_windows": [[0, float("inf")]]}, r"faults.hang_windows\[0\] is inf"),
        ({"rate_limit": 0}, "faults.rate_limit is 0"),
        ({"rate_limit": 1e-9}, "faults.rate_limit is 1e-09"),
        ({"disappear_after": -1}, "faults.disappear_after is -1"),
        ({"eror_rate": 1}, "faults field is 'eror_rate'"),
        (None, "faults is None"),
    ],
)
def test_faults_that_cannot_hold_are_refused_by_field_and_value(document: Any, named: str) -> None:
    """The text names the field, the value and the fix."""
    with pytest.raises(DefinitionError, match=named):
        Faults.from_json(document)
