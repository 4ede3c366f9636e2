"""Mistakes in wait_for, handle_timeout and RPCs: each is one clear error at registration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dexnb import PersistenceSchema, Stream, Wait
from dexnb.errors import FlowDefinitionError
from tests.flow.flows import Plain
from tests.flow.mistakes import (
    NOTES,
    SECOND,
    TOPICS,
    UNKNOWN,
    Case,
    Waiting,
    ask,
    ask_too,
    check_clear,
    check_distinct,
    dex,
    no_result,
    on_timeout_untyped,
    on_timeout_with_input,
    registered,
    rpc_with,
    step_with,
    three,
    wait_of_int,
    wait_that_decides,
    wait_with_three,
    wrong_result,
    yields,
)

CASES: list[Case] = [
    # Methods.
    (
        "a wait_for of another input",
        lambda: registered(step_with(wait_for=wait_of_int)),
        ("F.S.wait_for input is int", "as execute does, str"),
    ),
    (
        "a wait_for that decides",
        lambda: registered(step_with(wait_for=wait_that_decides)),
        ("F.S.wait_for return is annotated as StepDecision", "annotate it as Wait"),
    ),
    (
        "a wait_for with a third parameter",
        lambda: registered(step_with(wait_for=wait_with_three)),
        ("F.S.wait_for is wait_for(context", "take (self, context, input)"),
    ),
    (
        "a wait_for that is a value",
        lambda: registered(step_with(wait_for=Wait.skip_immediately())),
        ("F.S.wait_for is Wait(kind='skip'", "write a method"),
    ),
    (
        "a handle_timeout with an input",
        lambda: registered(handle_timeout=on_timeout_with_input),
        ("F.handle_timeout is handle_timeout(context", "take (self, context)"),
    ),
    (
        "a handle_timeout without a return",
        lambda: registered(handle_timeout=on_timeout_untyped),
        ("F.handle_timeout return is not annotated", "StepDecision"),
    ),
    (
        "a type of the system's",
        lambda: registered(Plain("sys:subflow")),
        ("F.Plain step type is 'sys:subflow'", "leave out"),
    ),
    (
        "one name for a Channel and a Stream",
        lambda: registered(schema=PersistenceSchema.of(NOTES, Stream("notes", str, 100))),
        ("F.duplicate persistence definition notes", "name of its own"),
    ),
    # RPCs.
    (
        "an RPC of no parameters that fit",
        lambda: rpc_with(three),
        ("F.ask is ask(context", "(self, context) or (self, context, input)"),
    ),
    (
        "an RPC without a return",
        lambda: rpc_with(no_result),
        ("F.ask return is not annotated", "RPCResult[YourType]"),
    ),
    (
        "an RPC that decides",
        lambda: rpc_with(wrong_result),
        ("F.ask return is annotated as StepDecision", "RPCResult[YourType]"),
    ),
    ("an RPC that yields", lambda: rpc_with(yields), ("F.ask is a generator", "no heartbeat")),
    (
        "an RPC of no name",
        lambda: rpc_with(ask, name="a/b"),
        ("F.ask rpc name is 'a/b'", "leave out"),
    ),
    (
        "an RPC of no time",
        lambda: rpc_with(ask, timeout=0 * SECOND),
        ("F.ask.timeout is 0:00:00", "more than 0 s"),
    ),
    (
        "an RPC of a number of seconds",
        lambda: rpc_with(ask, timeout=3),
        ("F.ask.timeout is 3", "timedelta(seconds=3)"),
    ),
    (
        "an RPC that is perhaps transactional",
        lambda: rpc_with(ask, is_transactional="yes"),
        ("F.ask.is_transactional is 'yes'", "True or False"),
    ),
    (
        "an RPC that locks what is not listed",
        lambda: rpc_with(ask, lock_attributes=(UNKNOWN.lock(),)),
        ("F.ask.lock_attributes: Attribute unknown", "list it"),
    ),
    (
        "an RPC that loads a map as a Channel",
        lambda: rpc_with(ask, load_channels=(TOPICS,)),
        ("F.ask.load_channels is ChannelMap('topics', str)", "your Channel"),
    ),
    (
        "two RPCs of one name",
        lambda: registered(ask=dex.rpc(name="q")(ask), tell=dex.rpc(name="q")(ask_too)),
        ("F.duplicate RPC q", "ask", "tell", "@rpc(name='...')"),
    ),
    (
        "an RPC without self",
        lambda: rpc_with(lambda: None),
        ("F.ask is <lambda>()", "def ask(self, context)"),
    ),
    (
        "an execute without self",
        lambda: registered(step_with(execute=lambda: None)),
        ("F.S.execute is <lambda>()", "def execute(self, context, input)"),
    ),
    (
        "an RPC with an option that is none",
        lambda: dex.rpc(nope=1),
        ("@rpc option nope", "its options: name, timeout, lock_attributes"),
    ),
    (
        "an RPC with an option of another spelling",
        lambda: dex.rpc(ask, lock_attribute=()),
        ("@rpc option lock_attribute", "its options: name, timeout, lock_attributes"),
    ),
    ("an RPC over a value", lambda: dex.rpc(5), ("@rpc stands over 5", "plain method")),
    (
        "an RPC over a class",
        lambda: dex.rpc(Plain),
        ("@rpc stands over the class Plain", "method of the Flow"),
    ),
]


@pytest.mark.parametrize(("make", "parts"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_each_mistake_is_one_clear_error(make: Callable[[], Any], parts: tuple[str, ...]) -> None:
    """It names the thing, what stands there, and what to write."""
    check_clear(make, parts)


def test_the_mistakes_are_distinct() -> None:
    """No two of them are the same."""
    check_distinct(CASES)


def test_mistakes_of_one_definition_are_listed_together() -> None:
    """Of options, methods, RPCs and the schema alike."""
    with pytest.raises(FlowDefinitionError) as caught:
        registered(
            Waiting(options=dex.StepOptions(execute_lock_attributes=(UNKNOWN.lock(),))),
            step_with(wait_for=wait_of_int),
            ask=dex.rpc(timeout=3)(ask),
            handle_timeout=on_timeout_untyped,
        )
    assert [problem.where for problem in caught.value.problems] == [
        "F.S.wait_for input",
        "F.handle_timeout return",
        "F.ask.timeout",
        "F.Waiting.execute_lock_attributes",
    ]
