"""Where a failed Step leads is checked to the end of the way when the Flow is registered."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from dexnb import Context, Step, StepDecision, StepList, StepOptions, dead_end
from dexnb.flow.options import Recovery
from dexnb.model.settings import StepSettings
from tests.flow.flows import Made, Plain, flow_of, problem_of, problems_of, read
from tests.flow.values import Job

OPTIONS = StepOptions()


class A(Plain):
    """A Step."""


class B(Plain):
    """Another."""


class C(Plain):
    """A third."""


class Num(Step[int]):
    """Takes an int."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Do nothing."""
        return dead_end()


class Maybe(Step[str | int | None]):
    """Takes more than a str."""

    def execute(self, context: Context, input: str | int | None) -> StepDecision:
        """Do nothing."""
        return dead_end()


class Anything(Step[Any]):
    """Takes all."""

    def execute(self, context: Context, input: object) -> StepDecision:
        """Do nothing."""
        return dead_end()


def to(step: Any, options: StepOptions | None = None) -> StepOptions:
    """Give options that lead there."""
    return OPTIONS.on_execute_failure_proceed_to(step, options)


@pytest.mark.rule("2.6/recovery-options")
def test_recovery_leads_to_a_step_under_its_own_or_the_given_options() -> None:
    """The given ones are resolved when the Flow is registered; a second call replaces the first."""
    given = StepOptions(execute_method_timeout=timedelta(seconds=5))
    steps = read(A(options=to(C).on_execute_failure_proceed_to(B, given)), B(), C()).steps
    settings = steps["A"].settings
    assert settings.recovery == "B"
    assert settings.recovery_options == StepSettings(execute_method_timeout=5.0).to_json()
    assert steps["B"].settings == StepSettings()
    assert read(A(options=to(B)), B()).steps["A"].settings.recovery_options is None


@pytest.mark.parametrize("target", [Maybe, Anything])
def test_a_recovery_step_may_take_more_than_the_failed_one(target: Any) -> None:
    """It gets the same input."""
    assert read(A(options=to(target)), target()).steps["A"].settings.recovery == target.__name__


def test_a_recovery_step_of_another_input_is_refused() -> None:
    """The stored input could not be read as that."""
    text = "a recovery Step takes the same input: annotate it as"
    assert problem_of(flow_of(A(options=to(Num)), Num())) == (
        f"F.A.recovery is Num(input: int): {text} str"
    )

    class Wide(Plain):
        def execute(self, context: Context, input: str | Job) -> StepDecision:
            return dead_end()

    assert problem_of(flow_of(Wide(options=to(B)), B())) == (
        f"F.Wide.recovery is B(input: str): {text} str | Job"
    )


def test_a_target_that_is_not_listed_is_refused() -> None:
    """With the Steps that are."""
    assert problem_of(flow_of(A(options=to(C)), B())) == (
        "F.A.recovery is C: add that Step to get_steps(); listed are A, B"
    )


@pytest.mark.parametrize(
    ("target", "text"),
    [
        (B(), " is no Step class: give the class, B, not an instance"),
        ("B", "F.A.recovery: 'B' is no Step class: give the class, B, not its name"),
        (None, "F.A.recovery: None is no Step class"),
        (int, "F.A.recovery: <class 'int'> is no Step class"),
        (Step, "F.A.recovery is Step: add that Step to get_steps(); listed are A, B"),
    ],
)
def test_a_target_that_is_no_step_class_is_refused(target: Any, text: str) -> None:
    """An instance, a name, another class."""
    assert text in problem_of(flow_of(A(options=to(target)), B()))


def test_a_target_whose_name_needs_an_instance_is_refused() -> None:
    """A class in a decision stands for one name only."""

    class Numbered(Plain):
        def get_step_type(self) -> str:
            return f"Number{self.number}"  # type: ignore[attr-defined]  # set in __init__ at most

    class Unnamed(Plain):
        def get_step_type(self) -> str:
            return None  # type: ignore[return-value]  # the mistake

    assert problem_of(flow_of(A(options=to(Numbered)), B())).startswith(
        "F.A.recovery: Numbered.get_step_type() raised AttributeError ("
    )
    assert problem_of(flow_of(A(options=to(Unnamed)), B())) == (
        "F.A.recovery: Unnamed.get_step_type() gave None: return a str"
    )


@pytest.mark.rule("2.6/recovery-circle")
@pytest.mark.parametrize(
    ("steps", "wheres"),
    [
        ([A(options=to(A))], ["A"]),
        ([A(options=to(B)), B(options=to(A))], ["A", "B"]),
        ([A(options=to(B)), B(options=to(C)), C(options=to(B))], ["A", "B", "C"]),
        ([A(options=to(B, to(A))), B()], ["A"]),
        ([A(options=to(B, to(B))), B(options=to(A))], ["A", "B"]),
    ],
)
def test_steps_that_recover_in_a_circle_are_refused(steps: list[Any], wheres: list[str]) -> None:
    """Directly, through others, and through options that were given on the way."""
    problems = problems_of(flow_of(*steps))
    assert [problem.where for problem in problems] == [f"F.{name}.recovery" for name in wheres]
    assert all("must not recover to each other in a circle" in p.fix for p in problems)


def test_options_given_on_the_way_can_end_a_circle() -> None:
    """B recovers to A by itself, but not under the options that A gives it."""
    flow = read(A(options=to(B, OPTIONS)), B(options=to(A, OPTIONS)))
    assert flow.steps["A"].settings.recovery == "B"


def test_given_options_are_checked_to_the_end_too() -> None:
    """Their durations, their kind and where they lead."""
    bad = StepOptions(heartbeat_timeout=timedelta(seconds=1))
    assert problem_of(flow_of(A(options=to(B, bad)), B())).startswith(
        "F.A.recovery.heartbeat_timeout is 0:00:01: give at least 10 s"
    )
    assert problem_of(flow_of(A(options=to(B, {})), B())) == (  # type: ignore[arg-type]  # the mistake
        "F.A.recovery.options is {}: give StepOptions or None"
    )
    assert problem_of(flow_of(A(options=to(B, to(C))), B())) == (
        "F.A.recovery is C: add that Step to get_steps(); listed are A, B"
    )
    assert problem_of(flow_of(A(options=to(B, to(Num))), B(), Num())).startswith(
        "F.A.recovery is Num(input: int)"
    )


def test_recovery_that_was_not_made_by_its_method_is_refused() -> None:
    """A class in its place would be read wrongly."""
    for wrong in (B, "B", (B, None)):
        text = problem_of(flow_of(A(options=StepOptions(recovery=wrong)), B()))  # type: ignore[arg-type]  # the mistake
        assert text.startswith("F.A.recovery is ")
        assert text.endswith("use StepOptions(...).on_execute_failure_proceed_to(YourStep)")
    assert (
        read(A(options=StepOptions(recovery=Recovery(B))), B()).steps["A"].settings.recovery == "B"
    )


def test_options_that_call_each_other_for_ever_are_one_problem() -> None:
    """Python's own limit, named as what get_step_options does."""

    class Ping(Plain):
        def get_step_options(self) -> StepOptions:
            return to(Pong, Pong().get_step_options())

    class Pong(Plain):
        def get_step_options(self) -> StepOptions:
            return to(Ping, Ping().get_step_options())

    flow = Made(lambda: StepList.start_step(Ping()))
    text = problem_of(flow)
    assert text.startswith("F.Ping.get_step_options is raising RecursionError: ")
    assert len(text) < 500
