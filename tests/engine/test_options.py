"""E04: RuntimeOptions refuse what cannot hold, by name, and keep the old value."""

from __future__ import annotations

import copy
import math
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest

from dexnb.engine import Runtime, RuntimeOptions
from dexnb.errors import DefinitionError
from dexnb.providers import MemoryProvider
from tests.engine.flows import virtual

COUNTS = [field.name for field in fields(RuntimeOptions) if type(field.default) is int]
DURATIONS = [field.name for field in fields(RuntimeOptions) if isinstance(field.default, timedelta)]
MAY_BE_ZERO = {"dispatcher_long_poll_timeout", "cancellation_grace"}


def made(**settings: Any) -> RuntimeOptions:
    """Make options of whatever a user gives."""
    return RuntimeOptions(**settings)


@pytest.mark.parametrize("name", DURATIONS)
@pytest.mark.parametrize(
    "value",
    [timedelta(seconds=-1), -1, math.nan, math.inf, -math.inf, 1e12, 10**400, "", None, True, [1]],
    ids=lambda value: repr(value)[:12],
)
def test_e04_a_duration_that_cannot_hold_is_refused_by_name(name: str, value: Any) -> None:
    """In the constructor and on a running engine's options; the old value stands."""
    with pytest.raises(DefinitionError, match=rf"RuntimeOptions\.{name} is "):
        made(**{name: value})
    options = RuntimeOptions()
    before = getattr(options, name)
    with pytest.raises(DefinitionError, match=r"give more than 0 s|give at least|give a timedelta"):
        setattr(options, name, value)
    assert getattr(options, name) == before


@pytest.mark.parametrize("name", DURATIONS)
def test_e04_zero_is_legal_only_where_it_means_at_once(name: str) -> None:
    """A poll timeout and a grace may be nothing; an interval of nothing would be a hot loop."""
    if name in MAY_BE_ZERO:
        assert getattr(made(**{name: 0}), name) == timedelta(0)
    else:
        with pytest.raises(
            DefinitionError, match=rf"{name} is 0: give (more than 0|at least 0\.5) s"
        ):
            made(**{name: 0})
        with pytest.raises(DefinitionError, match=f"{name} is 1e-09"):
            made(**{name: 1e-9})


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_a_switch_takes_true_and_false_only(value: Any) -> None:
    """Anything else is refused by name."""
    with pytest.raises(DefinitionError, match=r"live_knobs is .*: give True or False"):
        made(live_knobs=value)


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [0, -1, 1.5, math.nan, "2", None, True])
def test_e04_a_count_that_cannot_hold_is_refused_by_name(name: str, value: Any) -> None:
    """Whole numbers of at least one; of Steps, none at all may run."""
    if value == 0 and name in ("worker_concurrency", "orchestration_concurrency"):
        value = -2
    with pytest.raises(DefinitionError, match=f"{name} is {value!r}: give a whole number of at"):
        made(**{name: value})


@virtual
async def test_e04_the_longest_duration_means_no_limit_and_overflows_nowhere() -> None:
    """`timedelta.max` is taken for every duration, and an engine works with it."""
    options = made(**dict.fromkeys(DURATIONS, timedelta.max))
    async with Runtime(MemoryProvider(), options=options):
        pass
    assert options.dispatcher_long_poll_timeout > timedelta(days=36_000)


def test_numbers_are_seconds() -> None:
    """A duration may be given as a number and is kept as a timedelta."""
    assert made(worker_lock_timeout=1.5).worker_lock_timeout == timedelta(seconds=1.5)


def test_an_unknown_setting_is_refused() -> None:
    """A misspelt name changes nothing silently."""
    options = RuntimeOptions()
    with pytest.raises(DefinitionError, match="no setting 'dispatcher_min_pol_interval'"):
        options.dispatcher_min_pol_interval = timedelta(1)


def test_listeners_hear_of_changes_and_copies_have_none() -> None:
    """A copy is equal and belongs to nobody; a refused change is no change."""
    options = RuntimeOptions()
    heard: list[timedelta] = []
    end = options.listen(lambda: heard.append(options.dispatcher_min_poll_interval))
    options.dispatcher_min_poll_interval = timedelta(seconds=2)
    for other in (copy.copy(options), copy.deepcopy(options), replace(options)):
        assert other == options
        other.dispatcher_min_poll_interval = timedelta(seconds=3)
    with pytest.raises(DefinitionError):
        options.max_attempts = 0
    end()
    options.dispatcher_min_poll_interval = timedelta(seconds=4)
    assert heard == [timedelta(seconds=2)]
