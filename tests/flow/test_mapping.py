"""What user code gives becomes documents, or an error that names the Flow, the Step and the fix."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    Context,
    FlowDefinitionError,
    InvalidStepResultError,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    StepOptions,
    ValueMappingError,
    Wait,
    dead_end,
    force_complete,
    force_fail,
    go_to,
    graceful_complete,
)
from dexnb.flow.codec import MAX_VALUE_BYTES
from dexnb.flow.mapping import failure_of, map_decision, map_start
from dexnb.flow.registry import RegisteredFlow, read_flow
from dexnb.model.decision import Decision, Failure, Movement
from dexnb.model.message import Start, StepDone, decode_message, encode_message
from dexnb.model.settings import RetrySettings, StepSettings
from tests.flow.flows import Made, Plain, flow_of
from tests.flow.values import Cat, Client, Color, Dog, Job, Point, State


class Await(Step[Job]):
    """Takes a Job."""

    def execute(self, context: Context, input: Job) -> StepDecision:
        """Do nothing."""
        return dead_end()


class Missing(Plain):
    """Is not listed."""


FLOW = read_flow(flow_of(Plain(), Await()))
JOB = Job(State.QUEUED)


def mapped(decision: Any, flow: RegisteredFlow = FLOW) -> Decision:
    """Map what `Plain` returned, and see that a store gives it back."""
    made = map_decision(decision, flow, flow.steps["Plain"])
    done = StepDone("Plain-1", 1, made)
    assert decode_message(encode_message(done)) == done
    return made


def refusal(decision: Any, flow: RegisteredFlow = FLOW) -> str:
    """Give why a decision is refused."""
    with pytest.raises(InvalidStepResultError) as caught:
        map_decision(decision, flow, flow.steps["Plain"])
    text = str(caught.value)
    assert text.startswith("Flow F Step Plain execute: ")
    assert len(text) < 600
    return text.removeprefix("Flow F Step Plain execute: ")


def test_a_start_carries_the_checked_input_and_the_overrides() -> None:
    """For the start Step, under its own options."""
    start = map_start(FLOW, "job-1", "hello", {"POLL": 2.0})
    assert start == Start("job-1", "F", "hello", Movement("Plain", "hello"), {"POLL": 2.0})
    assert decode_message(encode_message(start)) == start


@pytest.mark.rule("2.11/flow-ids")
@pytest.mark.parametrize("flow_id", ["", None, 7, "a/b", "a$b", "a:b", "a\nb", "\0", "\ud800"])
def test_a_flow_id_that_no_store_can_keep_is_refused(flow_id: Any) -> None:
    """Reserved letters, none at all, what cannot be printed."""
    with pytest.raises(FlowDefinitionError, match="F flow_id is "):
        map_start(FLOW, flow_id, "hello")


def test_a_flow_without_a_start_step_cannot_be_started() -> None:
    """It says what to return from get_steps."""
    flow = read_flow(Made(lambda: StepList.without_start_step(Plain())))
    with pytest.raises(FlowDefinitionError) as caught:
        map_start(flow, "", "hello")
    assert [problem.where for problem in caught.value.problems] == ["F.get_steps", "F flow_id"]
    assert "without a start Step: give get_steps() a StepList.start_step(...)" in str(caught.value)


@pytest.mark.parametrize(
    ("input", "text"),
    [
        (5, "input of F.Plain: str requires str, got int"),
        (None, "input of F.Plain: an input of type str is required, got None"),
        ("x" * MAX_VALUE_BYTES, "input of F.Plain: value of 1,048,578 bytes is over the limit"),
    ],
)
def test_an_input_that_does_not_fit_is_refused_at_the_start(input: Any, text: str) -> None:
    """Before anything is stored."""
    with pytest.raises(ValueMappingError, match=f"^{text}"):
        map_start(FLOW, "a", input)


def test_overrides_that_cannot_be_stored_are_refused_by_name() -> None:
    """They stay with the run."""
    with pytest.raises(ValueMappingError, match=r"overrides of F: value\['CLIENT'\] is a tests\."):
        map_start(FLOW, "a", "x", {"CLIENT": Client()})


def test_each_decision_becomes_its_document() -> None:
    """Enums, dataclasses and datetimes in their stored form; no output is told from null."""
    assert mapped(go_to(Await, JOB)).movements[0].input["state"] == "QUEUED"
    assert mapped(graceful_complete()) == Decision("graceful_complete")
    assert mapped(graceful_complete(None)) == Decision("graceful_complete", has_output=True)
    assert mapped(force_complete(Color.RED)) == Decision(
        "force_complete", (), "red", has_output=True
    )
    assert mapped(force_fail("no")) == Decision("force_fail", reason="no")
    assert mapped(dead_end()) == Decision("dead_end")
    both = StepDecision("next", (StepMovement.of(Plain, "a"), StepMovement.of(Await, JOB)))
    assert [movement.step_type for movement in mapped(both).movements] == ["Plain", "Await"]
    assert mapped(graceful_complete([Cat("a"), (1,)])).output == [{"name": "a"}, [1]]


def test_options_of_a_movement_are_resolved() -> None:
    """Under the smallest heartbeat_timeout that this runtime takes."""
    options = StepOptions(
        heartbeat_timeout=timedelta(seconds=1), execute_retry=RetryPolicy(maximum_attempts=3)
    )
    decision = StepDecision("next", (StepMovement.of(Plain, "a", options=options),))
    patient = read_flow(flow_of(Plain()), minimum_heartbeat=0.5)
    (movement,) = mapped(decision, patient).movements
    settings = StepSettings(heartbeat_timeout=1.0, retry=RetrySettings(maximum_attempts=3))
    assert movement.options is not None
    assert StepSettings.from_json(movement.options) == settings
    assert refusal(decision).startswith("F.Plain.heartbeat_timeout is 0:00:01: give at least 10 s")


FIVE: Any = 5
RECOVER = StepOptions().on_execute_failure_proceed_to(Missing)
ROUND = StepOptions().on_execute_failure_proceed_to(Plain, StepOptions())
CIRCLE = StepOptions().on_execute_failure_proceed_to(Await)
REFUSED: list[tuple[Any, str]] = [
    (None, "execute must return StepDecision, got NoneType: return go_to(...), graceful_complete"),
    (5, "execute must return StepDecision, got int"),
    (Wait.skip_immediately(), "got Wait: a Wait is returned by wait_for; return go_to(...), "),
    (StepDecision, "execute must return StepDecision, got type"),
    (StepDecision("bogus"), "decision kind is 'bogus': use go_to(...), graceful_complete(...)"),  # type: ignore[arg-type]  # the mistake
    (StepDecision(["next"]), "decision kind is ['next']: use go_to(...)"),  # type: ignore[arg-type]  # the mistake
    (StepDecision("next"), "decision next has no movement: use go_to(YourStep, input)"),
    (StepDecision("next", (Plain,)), "movement is <class 'tests.flow.flows.Plain'>: give StepMov"),  # type: ignore[arg-type]  # the mistake
    (StepDecision("next", [go_to(Plain, "a")]), "movement is StepDecision(kind='next'"),  # type: ignore[arg-type]  # the mistake
    (go_to(Plain(), "a"), "no Step class: give the class, Plain, not an instance"),  # type: ignore[arg-type]  # the mistake
    (go_to("Plain", "a"), "'Plain' is no Step class: give the class, Plain, not its name"),  # type: ignore[arg-type]  # the mistake
    (go_to(Missing, "a"), "Step class is not registered: Missing; get_steps() lists Await, Plain"),
    (go_to(Plain, FIVE), "input of F.Plain: str requires str, got int"),
    (go_to(Await, Job("QUEUED")), "input of F.Await: value.state is str and would be read back as"),  # type: ignore[arg-type]  # the mistake
    (go_to(Await, Dog("a")), "input of F.Await: Job requires Job, got Dog"),  # type: ignore[misc]  # the mistake
    (go_to(Await, {"state": "QUEUED"}), "input of F.Await: Job requires Job, got dict"),  # type: ignore[misc]  # the mistake
    (go_to(Plain, "x" * MAX_VALUE_BYTES), "input of F.Plain: value of 1,048,578 bytes is over"),
    (
        graceful_complete(Client()),
        "output: value is a tests.flow.values.Client, which cannot be",
    ),
    (graceful_complete(Point("a")), "output: value.x must be float, stands 'a'"),  # type: ignore[arg-type]  # the mistake
    (graceful_complete(b"x" * MAX_VALUE_BYTES), "output: value of 1,398,"),
    (force_fail(None), "force_fail reason is None: give a str"),  # type: ignore[arg-type]  # the mistake
    (force_fail("x" * MAX_VALUE_BYTES), "force_fail reason: value of 1,048,578 bytes is over"),
    (
        StepDecision("next", (StepMovement(Plain, "a", RECOVER),)),
        "F.Plain.recovery is Missing: a",
    ),
    (StepDecision("next", (StepMovement(Plain, "a", CIRCLE),)), "F.Plain.recovery is Await(input:"),
    (
        StepDecision("next", (StepMovement(Plain, "a", FIVE),)),
        "F.Plain.options is 5: give StepOptions or None",
    ),
]


@pytest.mark.parametrize(("decision", "text"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_a_decision_that_cannot_be_followed_is_refused(decision: Any, text: str) -> None:
    """By name, so that the attempt fails where the mistake is, and is not tried again."""
    assert text in refusal(decision)


def test_a_movement_may_lead_back_under_other_options() -> None:
    """Once more with the given options is an end, not a circle."""
    decision = StepDecision("next", (StepMovement(Plain, "a", ROUND),))
    (movement,) = mapped(decision).movements
    assert movement.options is not None
    assert movement.options["recovery"] == "Plain"


class Silent(Exception):
    """Says nothing."""


class Rude(Exception):
    """Fails even at saying what failed."""

    def __str__(self) -> str:
        """Raise."""
        raise RuntimeError


@pytest.mark.rule("2.4/exception", "2.4/exception-empty")
@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (RuntimeError("boom"), Failure("builtins.RuntimeError", "boom")),
        (RuntimeError(), Failure("builtins.RuntimeError", "RuntimeError")),
        (KeyError("k"), Failure("builtins.KeyError", "'k'")),
        (TimeoutError(), Failure("builtins.TimeoutError", "TimeoutError")),
        (
            json.JSONDecodeError("no", "x", 0),
            Failure("json.decoder.JSONDecodeError", "no: line 1"),
        ),
        (Silent(), Failure("tests.flow.test_mapping.Silent", "Silent")),
        (Rude(), Failure("tests.flow.test_mapping.Rude", "Rude whose text raised RuntimeError")),
        (ValueError("\ud800\0"), Failure("builtins.ValueError", "\ud800\0")),
    ],
)
def test_an_exception_is_named_as_a_recovery_step_sees_it(
    error: Exception, failure: Failure
) -> None:
    """Module and qualified name, and its text or its name."""
    made = failure_of(error)
    assert made.error_type == failure.error_type
    assert made.detail.startswith(failure.detail)


@pytest.mark.rule("2.4/exception-limits")
def test_a_long_error_is_cut_with_a_mark() -> None:
    """Type and text have their limits."""
    long = type("E" * 500, (Exception,), {})("x" * 5000)
    made = failure_of(long)
    assert (len(made.error_type), len(made.detail)) == (256, 1024)
    assert made.error_type.endswith("…")
    assert made.detail.endswith("…")
    assert failure_of(error_of("y" * 1024)).detail == "y" * 1024


def error_of(text: str) -> Exception:
    """Give an error with this text."""
    return ValueError(text)


def test_decisions_are_values() -> None:
    """Two of the same content are equal, and a change makes another one."""
    assert go_to(Plain, "a") == go_to(Plain, "a")
    assert replace(go_to(Plain, "a"), kind="dead_end").kind == "dead_end"
