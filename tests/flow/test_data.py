"""A call sees its Flow's data as it was scheduled with, and gathers what it writes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb import (
    Attribute,
    AttributeMap,
    Channel,
    ChannelMap,
    ContextCallError,
    DexnbError,
    ValueMappingError,
)
from dexnb.errors import DefinitionError
from dexnb.model.json_text import from_text, to_text
from tests.flow.calls import Call, call
from tests.flow.values import Client, Color, Job, State

COUNT = Attribute("count", int)
ORDERS = Channel("orders", str)


def results(*timers: bool, failed: bool = False, **parts: Any) -> dict[str, Any]:
    """Give what a wait with these Timers gave."""
    document = {"timers": list(timers), "messages": {}, "subflows": [], "wait_failed": failed}
    return document | parts


def test_a_call_that_writes_nothing_writes_an_empty_document() -> None:
    """Reading is no writing."""
    context = call(COUNT, ORDERS)
    COUNT.get(context)
    ORDERS.size(context)
    context.get_step_execution_local("a", str)
    assert context.data.writes() == {}


def test_everything_written_stands_in_one_document_of_plain_json() -> None:
    """Each part under its key, so that one turn applies all or nothing."""
    lines = AttributeMap("lines", Job)
    context = call(COUNT, ORDERS, lines)
    COUNT.set(context, 2**60)
    lines.set(context, "a", Job(State.QUEUED))
    lines.delete(context, "b")
    ORDERS.publish(context, "x")
    ORDERS.delete(context, "m1")
    context.record_event("paid", timedelta(1))
    context.set_step_execution_local("key", b"\0")
    writes = context.data.writes()
    assert list(writes) == ["attributes", "deleted", "published", "removed", "recorded", "locals"]
    assert from_text(to_text(writes)) == writes


def test_a_retry_sees_the_snapshot_and_not_what_the_attempt_before_wrote() -> None:
    """A failed attempt's writes go with its data; the snapshot stays as it was."""
    snapshot: dict[str, Any] = {"attributes": {"count": 1}, "sizes": {"orders": 1}}
    local_values = {"key": "kept"}
    first = call(COUNT, ORDERS, **snapshot, local_values=local_values)
    COUNT.set(first, 9)
    ORDERS.publish(first, "x")
    first.set_step_execution_local("key", "other")
    second = call(COUNT, ORDERS, **snapshot, local_values=local_values)
    assert (COUNT.get(second), ORDERS.size(second)) == (1, 1)
    assert second.get_step_execution_local("key", str) == "kept"


def test_a_value_that_is_changed_after_it_was_given_is_written_as_it_was_given() -> None:
    """It is encoded at the call."""
    tags: Attribute[list[str]] = Attribute("tags", list[str])
    context = call(tags)
    given_ = ["a"]
    tags.set(context, given_)
    given_.append("b")
    (tags.get(context) or []).append("c")
    assert tags.get(context) == ["a"]


@pytest.mark.parametrize(
    ("used", "text"),
    [
        (
            Attribute("c", int),
            "Attribute c is not listed by Flow F; its Attributes: count, m; list",
        ),
        (
            Channel("c", int),
            "Channel c is not listed by Flow F; its Channels: cm, orders; list it in",
        ),
        (Channel("count", int), "Channel count is not listed by Flow F"),
        (AttributeMap("count", int), "AttributeMap count is listed as Attribute by Flow F: use"),
        (ChannelMap("orders", str), "ChannelMap orders is listed as Channel by Flow F"),
        (Attribute("m", int), "Attribute m is listed as AttributeMap by Flow F"),
        (Channel("cm", int), "Channel cm is listed as ChannelMap by Flow F"),
        (Attribute("count", str), "Attribute count value_type is str and int in Flow F: give both"),
        (Channel("orders", list[str]), r"Channel orders value_type is list\[str\] and str in Flow"),
    ],
)
def test_a_definition_that_the_flow_does_not_list_is_refused(used: Any, text: str) -> None:
    """Another name, kind or type; reading and writing alike, and the text tells the fix."""
    context = call(COUNT, ORDERS, AttributeMap("m", int), ChannelMap("cm", int))
    instance = ("a",) if isinstance(used, AttributeMap | ChannelMap) else ()
    kept = isinstance(used, Attribute | AttributeMap)
    calls: dict[str, tuple[Any, ...]] = {"get": (), "set": (1,), "delete": ()}
    if not kept:
        calls = {"publish": (1,), "delete": ("m1",), "size": (), "pending_messages": ()}
        with pytest.raises(DefinitionError, match=f"^{text}"):
            context.data.persistence.check_condition(used.for_one(*instance))
    for name, arguments in calls.items():
        with pytest.raises(DefinitionError, match=f"^{text}"):
            getattr(used, name)(context, *instance, *arguments)
    assert context.data.writes() == {}


def test_a_definition_of_a_cell_that_ran_again_is_the_same() -> None:
    """Another object, and another class of the same name for its values."""
    again: Any = type("Job", (), {"__qualname__": "Job"})
    kept = Attribute("job", list[Job]), Channel("jobs", dict[str, Job] | None)  # type: ignore[arg-type]  # a union
    context = call(*kept)
    Attribute("job", list[again]).delete(context)
    assert Channel("jobs", dict[str, again] | None).size(context) == 0  # type: ignore[arg-type]  # a union
    with pytest.raises(DefinitionError, match="value_type is"):
        Attribute("job", list[again] | None).delete(context)  # type: ignore[arg-type]  # a union


def test_a_condition_of_a_listed_channel_is_taken() -> None:
    """For a Channel and for an instance of a map."""
    lines = ChannelMap("lines", int)
    context = call(ORDERS, lines)
    context.data.persistence.check_condition(Channel("orders", str).for_one())
    context.data.persistence.check_condition(lines.for_one("a/b"))


@pytest.mark.parametrize("value", ["a", 0, None, b"\0", Job(State.QUEUED), Color.PAIR, [1, "a"]])
def test_a_local_is_readable_after_it_was_set_and_carried_to_execute(value: Any) -> None:
    """In the same call, and in the next method of the same execution, as its type."""
    context = call()
    assert context.get_step_execution_local("key", type(value)) is None
    context.set_step_execution_local("key", value)
    assert context.get_step_execution_local("key", type(value)) == value
    carried = call(local_values=context.data.writes()["locals"])
    assert carried.get_step_execution_local("key", type(value)) == value
    assert carried.data.writes() == {}


def test_a_local_of_another_type_is_refused_when_it_is_read() -> None:
    """The text names the local."""
    context = call(local_values={"key": "five"})
    text = r"^get_step_execution_local key: value must be int, stands 'five'"
    with pytest.raises(ValueMappingError, match=text):
        context.get_step_execution_local("key", int)


@pytest.mark.parametrize("name", ["", None, 5, "a\nb", "x" * 256])
def test_names_of_locals_and_events_are_checked(name: Any) -> None:
    """They are keys of a document, and shown."""
    context = call()
    with pytest.raises(DefinitionError, match=r"^set_step_execution_local key is "):
        context.set_step_execution_local(name, 1)
    with pytest.raises(DefinitionError, match=r"^record_event name is "):
        context.record_event(name, 1)


@pytest.mark.parametrize("value", [Client(), {"a": object()}, "x" * (2 << 20)])
def test_locals_and_events_that_cannot_be_stored_are_refused(value: Any) -> None:
    """At the call, with its name; nothing is written."""
    context = call()
    with pytest.raises(ValueMappingError, match=r"^set_step_execution_local a: value"):
        context.set_step_execution_local("a", value)
    with pytest.raises(ValueMappingError, match=r"^record_event a: value"):
        context.record_event("a", value)
    assert context.data.writes() == {}
    context.record_event("a", 1)


def test_an_event_of_the_same_name_twice_is_refused() -> None:
    """A ValueError, as in Dex, that is dexnb's own; another name is taken."""
    context = call()
    context.record_event("paid", 1)
    text = "^record_event: 'paid' was recorded before in this call: give another name"
    with pytest.raises(ValueError, match=text) as caught:
        context.record_event("paid", 2)
    assert isinstance(caught.value, DexnbError)
    context.record_event("shipped", None)
    assert context.data.writes() == {"recorded": {"paid": 1, "shipped": None}}


@given(timers=st.lists(st.booleans()))
def test_a_timer_is_asked_by_its_place_or_all_at_once(timers: list[bool]) -> None:
    """The index counts Timers alone; without one, any of them."""
    context = call(results=results(*timers))
    assert context.has_timer_fired() == any(timers)
    assert [context.has_timer_fired(index) for index in range(len(timers))] == timers
    for wrong in (len(timers), -1, True, 0.0):
        with pytest.raises(ContextCallError, match=r"^has_timer_fired: index is "):
            context.has_timer_fired(wrong)  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize("given_", [None, results(failed=True)])
def test_without_a_wait_no_timer_has_fired(given_: Any) -> None:
    """In wait_for, in a Step that has none, and after one that failed."""
    context = call(results=given_)
    assert not context.has_timer_fired()
    assert not context.has_timer_fired(0)


def test_a_failed_wait_for_is_told() -> None:
    """Only where it failed for good."""
    assert call(results=results(failed=True)).wait_for_method_failed()
    assert not call(results=results(True)).wait_for_method_failed()
    assert not call().wait_for_method_failed()


def test_results_of_subflows_are_kept_as_they_came() -> None:
    """One for each condition, in order."""
    came = [{"flow_id": "a", "status": "COMPLETED"}, {"flow_id": "b", "status": "RUNNING"}]
    assert call(results=results(subflows=came)).data.wait_results("test").subflows == came
    assert call().data.wait_results("test").subflows == []


@pytest.mark.parametrize(
    "use",
    [
        lambda context: context.has_timer_fired(),
        lambda context: context.wait_for_method_failed(),
        lambda context: context.set_step_execution_local("a", 1),
        lambda context: context.get_step_execution_local("a", int),
    ],
)
def test_an_rpc_has_neither_a_wait_nor_locals(use: Any) -> None:
    """A ValueError that names the call; attributes, channels and events work."""
    context: Call = call(COUNT, ORDERS, in_step=False)
    with pytest.raises(ContextCallError, match="needs the context of a Step") as caught:
        use(context)
    assert isinstance(caught.value, ValueError)
    COUNT.set(context, 1)
    ORDERS.publish(context, "a")
    context.record_event("a", 1)
    assert list(context.data.writes()) == ["attributes", "published", "recorded"]


@pytest.mark.parametrize(
    "use",
    [
        lambda context: COUNT.set(context, 1),
        COUNT.delete,
        lambda context: ORDERS.publish(context, "a"),
        lambda context: ORDERS.delete(context, "m1"),
        lambda context: context.record_event("a", 1),
        lambda context: context.set_step_execution_local("a", 1),
        COUNT.get,
        ORDERS.size,
        ORDERS.pending_messages,
        lambda context: ORDERS.find_pending_message(context, "m1"),
        ORDERS.results,
        lambda context: context.get_step_execution_local("a", int),
        lambda context: context.has_timer_fired(),
        lambda context: context.wait_for_method_failed(),
    ],
)
def test_a_call_after_the_method_has_ended_is_refused_and_not_lost(use: Any) -> None:
    """Of a task that the method left behind; what it wrote before stays."""
    context = call(COUNT, ORDERS, load_channels=("orders",))
    COUNT.set(context, 5)
    context.data.close()
    with pytest.raises(ContextCallError, match="the method has ended: await what uses its context"):
        use(context)
    assert context.data.writes() == {"attributes": {"count": 5}}
