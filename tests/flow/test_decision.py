"""Decisions beyond one next Step: several, a conditional end, and what is cancelled first."""

from __future__ import annotations

from typing import Any

import pytest

from dexnb import (
    Channel,
    ChannelMap,
    Context,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    StepOptions,
    Wait,
    dead_end,
    force_complete,
    force_complete_if_channels_empty,
    force_fail,
    go_to,
    go_to_many,
    graceful_complete,
)
from dexnb.errors import InvalidStepResultError
from dexnb.flow.mapping import map_decision, map_recovery
from dexnb.flow.registry import read_flow
from dexnb.model.decision import Decision, decision_from
from tests.flow.flows import Made, Plain

NOTES = Channel("notes", str)
TOPICS = ChannelMap("topics", str)


class Num(Step[int]):
    """Takes an int and waits."""

    def wait_for(self, context: Context, input: int) -> Wait:
        """Wait for nothing."""
        return Wait.skip_immediately()

    def execute(self, context: Context, input: int) -> StepDecision:
        """Do nothing."""
        return dead_end()


FLOW = read_flow(
    Made(
        lambda: StepList.start_step(Plain()).other_steps(Num()),
        lambda: PersistenceSchema.of(NOTES, TOPICS),
    )
)


def mapped(decision: Any) -> Decision:
    """Map a decision; it comes back from a store as it was."""
    made = map_decision(decision, FLOW, FLOW.steps["Plain"])
    assert decision_from(made.to_json()) == made
    return made


def refusal(decision: Any) -> str:
    """Give why a decision is refused."""
    with pytest.raises(InvalidStepResultError) as caught:
        mapped(decision)
    return caught.value.detail


def test_several_steps_follow_side_by_side() -> None:
    """In order, the same one twice too; each movement carries its plan."""
    decision = mapped(
        go_to_many(
            StepMovement.of(Plain, "a"), StepMovement.of(Num, 1), StepMovement.of(Plain, "a")
        )
    )
    assert [(each.step_type, each.input) for each in decision.movements] == [
        ("Plain", "a"),
        ("Num", 1),
        ("Plain", "a"),
    ]
    assert [each.plan is not None for each in decision.movements] == [False, True, False]
    assert go_to_many(StepMovement.of(Num, 1)) == go_to(Num, 1)


def test_a_conditional_end_has_an_output_channels_and_a_fallback() -> None:
    """Each Channel once, by its name; a definition that was made again is the same one."""
    fallback = StepMovement.of(Num, 1)
    decision = mapped(
        force_complete_if_channels_empty(None, fallback, NOTES, Channel("notes", str))
    )
    assert decision.kind == "force_complete_if_channels_empty"
    assert (decision.output, decision.has_output) == (None, True)
    assert decision.empty_channels == ("notes",)
    assert decision.fallback is not None
    assert (decision.fallback.step_type, decision.fallback.input) == ("Num", 1)
    assert decision.fallback.plan == FLOW.steps["Num"].plan


def test_other_executions_are_cancelled_by_type() -> None:
    """A second call adds; a type that is cancelled everywhere leaves the siblings."""
    decision = (
        graceful_complete(1)
        .with_canceling_sibling_steps(Plain, Num)
        .with_canceling_steps(Num)
        .with_canceling_sibling_steps(Num, Plain)
    )
    assert decision.canceling_steps == (Num,)
    assert decision.canceling_sibling_steps == (Plain,)
    assert decision.output == 1
    made = mapped(decision)
    assert (made.canceling_steps, made.canceling_sibling_steps) == (("Num",), ("Plain",))
    both = dead_end().with_canceling_steps(Num).with_canceling_steps(Plain, Num)
    assert mapped(both).canceling_steps == ("Num", "Plain")


def test_a_step_class_that_was_made_again_is_cancelled_once() -> None:
    """Two classes of one name are one type, in a list made by hand too."""
    again = type("Num", (Num,), {})
    decision = StepDecision("dead_end", (), canceling_steps=(Num, again))
    assert mapped(decision).canceling_steps == ("Num",)
    decision = StepDecision("dead_end", canceling_steps=(Num,), canceling_sibling_steps=(again,))
    assert mapped(decision).canceling_sibling_steps == ()


MOVE = StepMovement.of(Plain, "a")
REFUSED: list[tuple[Any, str]] = [
    (StepDecision("graceful_complete", (MOVE,)), "decision graceful_complete has movements: use"),
    (StepDecision("next", MOVE), "decision movements is StepMovement("),  # type: ignore[arg-type]  # the mistake
    (StepDecision("next", (MOVE,), output=1), "decision next has an output: leave it out"),
    (StepDecision("dead_end", output=None), "decision dead_end has an output: leave it out"),
    (StepDecision("dead_end", fallback=MOVE), "decision dead_end has a fallback: use force_compl"),
    (StepDecision("force_complete", empty_channels=(NOTES,)), "force_complete has empty_channels"),
    (
        StepDecision("dead_end", canceling_steps=Num),  # type: ignore[arg-type]  # the mistake
        "canceling_steps is <class 'tests.flow.test_decision.Num'>: give a tuple",
    ),
    (dead_end().with_canceling_steps("Num"), "'Num' is no Step class: give the class"),  # type: ignore[arg-type]  # the mistake
    (
        force_complete_if_channels_empty(1, MOVE, Channel("gone", str)),
        "Channel gone is not listed by Flow F; its Channels: notes, topics; list it",
    ),
]


@pytest.mark.parametrize(("decision", "text"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_parts_that_do_not_go_together_are_refused(decision: Any, text: str) -> None:
    """Nothing is dropped without a word."""
    assert text in refusal(decision)


def test_what_has_no_such_parts_is_as_it_was() -> None:
    """Its plain form has no new fields."""
    for decision in (go_to(Plain, "a"), force_complete(1), force_fail("no"), dead_end()):
        assert mapped(decision).to_json().keys() <= {
            "kind",
            "movements",
            "output",
            "has_output",
            "reason",
        }


def test_a_recovery_is_a_movement_without_an_input() -> None:
    """Under the target's own plan, or under that of the options given on the way."""
    to = StepOptions().on_execute_failure_proceed_to
    num = type("From", (Num,), {"get_step_options": lambda _: to(Num)})
    own = read_flow(Made(lambda: StepList.start_step(num()).other_steps(Num())))
    movement = map_recovery(own.steps["From"].settings, own)
    assert movement is not None
    assert (movement.step_type, movement.input, movement.options) == ("Num", None, None)
    assert movement.plan == own.steps["Num"].plan
    given = type("From", (Num,), {"get_step_options": lambda _: to(Num, StepOptions())})
    flow = read_flow(Made(lambda: StepList.start_step(given()).other_steps(Num())))
    movement = map_recovery(flow.steps["From"].settings, flow)
    assert movement is not None
    assert movement.options is not None
    assert movement.plan == own.steps["Num"].plan
    assert map_recovery(flow.steps["Num"].settings, flow) is None
