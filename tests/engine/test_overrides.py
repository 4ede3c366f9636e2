"""A run's knob values reach its own copy of a Step's functions, and nobody else's."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    graceful_complete,
)
from dexnb.engine.overrides import Binding
from dexnb.errors import DefinitionError
from dexnb.flow.registry import RegisteredStep, read_flow

INTERVAL = 2
PAUSE = timedelta(seconds=3)
WINDOW = timedelta(seconds=60)
counter = 0


class Only(Flow[int]):
    """A Flow of one Step."""

    def __init__(self, step: Step[int]) -> None:
        """Have this Step."""
        self.step = step

    def get_steps(self) -> StepList[int]:
        """Give it."""
        return StepList.start_step(self.step)


def registered(step: Step[int]) -> RegisteredStep:
    """Register a Step."""
    start = read_flow(Only(step)).start
    assert start is not None
    return start


def outputs(step: Step[int], *many: dict[str, Any]) -> list[Any]:
    """Run a sync Step once with each of several overrides, all bound before the first runs."""
    bindings = [Binding(registered(step), overrides) for overrides in many]
    return [binding.step.step.execute(None, 0).output for binding in bindings]


def helper() -> Any:
    """Read a constant one level away."""
    return deeper() + 0


def deeper(factor: int = 10) -> Any:
    """Read it two levels away."""
    return INTERVAL * factor


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


class Plain(Step[int]):
    """Reads globals."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Read."""
        return graceful_complete([INTERVAL, PAUSE, helper(), [INTERVAL for _ in range(2)]])


class Methods(Step[int]):
    """Reads by methods, a property and values of its own."""

    grain = 5

    def __init__(self) -> None:
        """Hold a value."""
        self.every = 1.5
        self.runs = 0

    @property
    def interval(self) -> int:
        """Read a global."""
        return INTERVAL

    @staticmethod
    def fixed() -> int:
        """Read a global."""
        return INTERVAL + 100

    def own(self) -> list[Any]:
        """Read all."""
        return [self.interval, self.fixed(), self.grain, self.every]

    def execute(self, context: Context, input: int) -> StepDecision:
        """Count, and read."""
        self.runs += 1
        return graceful_complete(self.own())


class Decorated(Step[int]):
    """Has a wrapped method."""

    @traced
    def execute(self, context: Context, input: int) -> StepDecision:
        """Read."""
        return graceful_complete(INTERVAL)


class Base(Step[int]):
    """Reads for others."""

    def wait(self) -> int:
        """Read."""
        return INTERVAL


class Child(Base):
    """Reads by its base class, and by `super()`."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Read."""
        return graceful_complete([self.wait(), isinstance(self, Child), type(self).__name__])


class Slotted(Step[int]):
    """Keeps its state in slots."""

    __slots__ = ("every",)

    def execute(self, context: Context, input: int) -> StepDecision:
        """Read."""
        return graceful_complete(INTERVAL)


class Counting(Step[int]):
    """Assigns a global."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Count for everybody."""
        global counter  # noqa: PLW0603 - what is under test
        counter += 1
        return graceful_complete(INTERVAL)


class Optioned(Step[int]):
    """Has options made of constants."""

    def get_step_options(self) -> StepOptions:
        """Give them."""
        return StepOptions(
            heartbeat_timeout=WINDOW,
            execute_retry=RetryPolicy(maximum_attempts=3, total_duration=WINDOW * 10),
        )

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Sleep."""
        await asyncio.sleep(INTERVAL)
        return graceful_complete(self.get_step_type())


def test_two_runs_side_by_side_see_their_own_values() -> None:
    """The method, helpers two levels away and comprehensions; each keeps the constant's form."""
    mine, other, plain = outputs(Plain(), {"INTERVAL": 7.0, "PAUSE": 9.0}, {"INTERVAL": 0.5}, {})
    assert mine == [7, timedelta(seconds=9), 70, [7, 7]]
    assert type(mine[0]) is int
    assert other == [0.5, timedelta(seconds=3), 5.0, [0.5, 0.5]]
    assert plain == [2, timedelta(seconds=3), 20, [2, 2]]
    assert (INTERVAL, deeper()) == (2, 20)


def test_methods_properties_and_own_values_are_overridden() -> None:
    """What the Step object holds is shadowed; its own state stays shared with the original."""
    step = Methods()
    turned = {"INTERVAL": 7, "grain": 6, "every": 2.5}
    assert outputs(step, turned, {}) == [[7, 107, 6, 2.5], [2, 102, 5, 1.5]]
    assert step.runs == 2
    assert (step.every, Methods.grain) == (1.5, 5)


@pytest.mark.parametrize("step", [Decorated(), Slotted()])
def test_wrapped_methods_and_slots_are_no_obstacle(step: Step[int]) -> None:
    """The function inside a wrapper is the one that reads."""
    assert outputs(step, {"INTERVAL": 7}, {}) == [7, 2]


def test_a_base_class_reads_the_runs_value() -> None:
    """Inherited methods are copied, and the Step is still of its class."""
    assert outputs(Child(), {"INTERVAL": 7}, {}) == [[7, True, "Child"], [2, True, "Child"]]


def test_a_variable_of_an_outer_function_is_overridden() -> None:
    """Each run has a cell of its own."""
    every = 4

    class Inner(Step[int]):
        """Reads a closure."""

        def execute(self, context: Context, input: int) -> StepDecision:
            """Read."""
            return graceful_complete(every)

    assert outputs(Inner(), {"every": 1}, {"every": 8}, {}) == [1, 8, 4]


def test_a_function_that_assigns_globals_keeps_its_module() -> None:
    """Its assignments are meant for everybody."""
    before = counter
    outputs(Counting(), {"INTERVAL": 7})
    assert counter == before + 1


def test_what_is_redefined_later_is_seen_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what the run overrides is its own; the rest is the module's as it is by then."""
    binding = Binding(registered(Plain()), {"INTERVAL": 7})
    monkeypatch.setitem(globals(), "PAUSE", timedelta(seconds=30))
    assert binding.step.step.execute(None, 0).output[1] == timedelta(seconds=30)


def test_a_live_change_is_seen_by_functions_that_run() -> None:
    """Copies look their globals up anew each time, cells and own values too."""
    binding = Binding(registered(Methods()), {})
    execute = binding.step.step.execute
    assert execute(None, 0).output == [2, 102, 5, 1.5]
    assert binding.change({"INTERVAL": 9, "every": 3.0, "Methods.grain": 8}) == []
    assert execute(None, 0).output == [9, 109, 8, 3.0]


def test_what_a_step_assigns_around_itself_is_not_lost() -> None:
    """A name of an outer function that the Step assigns is shared with it, as in any closure."""
    made = 0

    class Counts(Step[int]):
        async def execute(self, context: AsyncContext, input: int) -> StepDecision:
            nonlocal made
            made += 1
            await asyncio.sleep(INTERVAL)
            return graceful_complete()

    step = Binding(registered(Counts()), {"INTERVAL": 0.5}).step.step
    asyncio.run(step.execute(None, None))
    asyncio.run(step.execute(None, None))
    assert made == 2


def test_options_follow_their_constants_and_their_own_names() -> None:
    """A constant that feeds options changes them; an option's own name wins."""
    overrides = {"WINDOW": 30.0, "Optioned.maximum_attempts": 7, "Other.maximum_attempts": 9}
    settings = Binding(registered(Optioned()), overrides).settings
    assert settings.heartbeat_timeout == 30
    assert (settings.retry.total_duration, settings.retry.maximum_attempts) == (300, 7)
    own = Binding(registered(Optioned()), {"WINDOW": 30.0, "Optioned.heartbeat_timeout": 45.0})
    assert own.settings.heartbeat_timeout == 45
    assert registered(Optioned()).settings.heartbeat_timeout == 60


def test_options_given_by_a_decision_keep_their_own_constants() -> None:
    """They were computed when the decision was made; the option's name still overrides them."""
    step = registered(Optioned())
    binding = Binding(step, {"WINDOW": 30.0}, options=step.settings)
    assert binding.settings.heartbeat_timeout == 60
    assert binding.change({"Optioned.heartbeat_timeout": 20.0}) == []
    assert binding.settings.heartbeat_timeout == 20


def test_a_change_that_cannot_hold_changes_nothing() -> None:
    """Constants and options are as they were before it, turned ones too."""
    binding = Binding(registered(Optioned()), {"WINDOW": 30.0})
    with pytest.raises(DefinitionError, match="heartbeat_timeout"):
        binding.change({"INTERVAL": 9, "WINDOW": 3.0})
    module = binding.step.step.execute.__globals__
    assert (module["INTERVAL"], module["WINDOW"]) == (2, timedelta(seconds=30))
    assert binding.settings.heartbeat_timeout == 30


def test_names_that_nothing_has_are_told() -> None:
    """Those of other Steps are not meant for this one."""
    binding = Binding(registered(Optioned()), {})
    assert binding.change({"SPELLED_WRONG": 1, "Other.heartbeat_timeout": 20}) == ["SPELLED_WRONG"]


def test_a_step_without_constants_stays_as_it_is() -> None:
    """Nothing is copied where there is nothing to turn."""

    class Bare(Step[int]):
        """Reads nothing."""

        def execute(self, context: Context, input: int) -> StepDecision:
            """End."""
            return graceful_complete(input)

    step = registered(Bare())
    assert Binding(step, {}).step is step


def test_a_binding_goes_away_with_its_attempt() -> None:
    """A long-lived engine does not gather copies."""
    binding = Binding(registered(Methods()), {"INTERVAL": 7})
    gone = weakref.ref(binding.step.step)
    del binding
    gc.collect()
    assert gone() is None
