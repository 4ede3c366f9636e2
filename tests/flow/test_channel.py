"""A Channel takes messages in order, and says what a Step may wait for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb import (
    Channel,
    ChannelMap,
    ChannelMapLoad,
    ChannelMessage,
    ChannelMessagesNotLoadedError,
    ContextCallError,
    ValueMappingError,
)
from dexnb.errors import DefinitionError
from dexnb.flow.condition import MAX_COUNT, ChannelCondition
from tests.flow.calls import call
from tests.flow.values import Job, State

ORDERS = Channel("orders", str)
JOBS = Channel("jobs", Job)
LINES = ChannelMap("lines", int)
PENDING = {"orders": [["m1", "a"], ["m2", "b"], ["m3", "c"]]}
SIZES = {"orders": 3}


def test_publishes_are_written_in_their_order_over_all_channels() -> None:
    """Of Channels and instances of maps alike."""
    context = call(ORDERS, LINES, JOBS)
    ORDERS.publish(context, "a")
    LINES.publish(context, "x/y", 1)
    ORDERS.publish(context, "b")
    JOBS.publish(context, Job(State.QUEUED))
    published = context.data.writes()["published"]
    assert published[:3] == [["orders", "a"], ["lines/x%2Fy", 1], ["orders", "b"]]
    assert (published[3][0], published[3][1]["state"]) == ("jobs", "QUEUED")


@pytest.mark.parametrize(
    ("channel", "value", "text"),
    [
        (ORDERS, 5, "Channel orders publish: str requires str, got int"),
        (ORDERS, None, "Channel orders publish: str requires str, got None"),
        (JOBS, Job(5), r"Channel jobs publish: value\.state must be State"),  # type: ignore[arg-type]  # the mistake
        (ORDERS, "x" * (2 << 20), "Channel orders publish: value of 2,097,154 bytes is over"),
    ],
)
def test_a_message_that_does_not_fit_is_refused_at_the_publish(
    channel: Any, value: Any, text: str
) -> None:
    """Nothing is written, and nothing is counted."""
    context = call(ORDERS, JOBS)
    with pytest.raises(ValueMappingError, match=f"^{text}"):
        channel.publish(context, value)
    assert context.data.writes() == {}
    assert channel.size(context) == 0


def test_none_is_a_message_where_the_type_has_it() -> None:
    """It is written, and read as one."""
    channel: Channel[Any] = Channel("c", Any)
    context = call(channel, messages={"c": [["m1", None]]}, load_channels=("c",))
    channel.publish(context, None)
    assert context.data.writes() == {"published": [["c", None]]}
    assert channel.pending_messages(context) == (ChannelMessage("m1", None),)


def test_the_size_counts_own_publishes_and_needs_no_load() -> None:
    """For a Channel and for each instance of a map."""
    context = call(ORDERS, LINES, sizes={"orders": 2, "lines/a": 1})
    assert (ORDERS.size(context), LINES.size(context, "a"), LINES.size(context, "b")) == (2, 1, 0)
    ORDERS.publish(context, "x")
    LINES.publish(context, "b", 1)
    assert (ORDERS.size(context), LINES.size(context, "a"), LINES.size(context, "b")) == (3, 1, 1)


def test_pending_messages_are_read_oldest_first_where_they_are_loaded() -> None:
    """As their type; own publishes have no id yet and are not among them."""
    context = call(ORDERS, sizes=SIZES, messages=PENDING, load_channels=("orders",))
    ORDERS.publish(context, "new")
    first, *rest = ORDERS.pending_messages(context)
    assert first == ChannelMessage("m1", "a")
    assert [message.value for message in rest] == ["b", "c"]
    assert ORDERS.find_pending_message(context, "m2") == ChannelMessage("m2", "b")
    assert ORDERS.find_pending_message(context, "m9") is None
    with pytest.raises(
        DefinitionError, match=r"^Channel orders find_pending_message message_id is"
    ):
        ORDERS.find_pending_message(context, None)  # type: ignore[arg-type]  # the mistake


@pytest.mark.rule("2.9/maps-declared")
def test_pending_messages_that_are_not_loaded_are_an_error() -> None:
    """The text names the option that loads them."""
    context = call(ORDERS, LINES, sizes=SIZES, load_channels=("lines/a",))
    text = r"^messages of Channel orders are not loaded: name it in load_channels of this"
    with pytest.raises(ChannelMessagesNotLoadedError, match=text):
        ORDERS.pending_messages(context)
    with pytest.raises(ChannelMessagesNotLoadedError, match=text):
        ORDERS.find_pending_message(context, "m1")
    text = r"ChannelMap lines instance 'b' are not loaded: .*\.load_messages\('b'\) of it in "
    with pytest.raises(ChannelMessagesNotLoadedError, match=text) as caught:
        LINES.pending_messages(context, "b")
    assert (caught.value.name, caught.value.instance) == ("lines", "b")
    assert LINES.pending_messages(context, "a") == ()


def test_a_map_is_loaded_whole_or_by_instance() -> None:
    """An entry that ends in a slash is the whole map."""
    kept = {"lines/a": [["m1", 1]], "lines/b": [["m2", 2]]}
    context = call(LINES, messages=kept, load_channels=("lines/",))
    assert LINES.pending_messages(context, "a") == (ChannelMessage("m1", 1),)
    assert LINES.find_pending_message(context, "b", "m2") == ChannelMessage("m2", 2)
    assert LINES.find_pending_message(context, "b", "m1") is None


def test_a_deleted_message_is_gone_for_this_method_and_in_what_it_writes() -> None:
    """Deleting it twice is deleting it once."""
    context = call(ORDERS, sizes=SIZES, messages=PENDING, load_channels=("orders",))
    ORDERS.delete(context, "m2")
    ORDERS.delete(context, "m2")
    assert [message.message_id for message in ORDERS.pending_messages(context)] == ["m1", "m3"]
    assert ORDERS.size(context) == 2
    assert context.data.writes() == {"removed": [["orders", "m2"]]}


def test_a_message_that_nobody_loaded_can_be_deleted_by_its_id() -> None:
    """Best effort: whether it is still there, the turn finds out."""
    context = call(ORDERS, LINES, sizes=SIZES)
    ORDERS.delete(context, "m7")
    LINES.delete(context, "a", "m8")
    assert ORDERS.size(context) == 3
    assert context.data.writes() == {"removed": [["orders", "m7"], ["lines/a", "m8"]]}
    with pytest.raises(DefinitionError, match=r"^Channel orders delete message_id is 7: give a"):
        ORDERS.delete(context, 7)  # type: ignore[arg-type]  # the mistake


def test_results_are_what_the_wait_took() -> None:
    """As values, oldest first; nothing of what is pending, nothing where no wait was."""
    taken = {"orders": [["m1", "a"], ["m2", "b"]], "lines/x": [["m3", 5]]}
    results = {"timers": [], "messages": taken, "subflows": [], "wait_failed": False}
    context = call(ORDERS, LINES, JOBS, sizes={"orders": 1}, results=results)
    assert ORDERS.results(context) == ("a", "b")
    assert LINES.results(context, "x") == (5,)
    assert LINES.results(context, "y") == ()
    assert JOBS.results(context) == ()
    assert ORDERS.results(call(ORDERS)) == ()


def test_an_rpc_has_no_results() -> None:
    """It has no wait; everything else of a Channel works there."""
    context = call(ORDERS, in_step=False)
    with pytest.raises(ContextCallError, match=r"^Channel orders results: only the wait of a Step"):
        ORDERS.results(context)
    ORDERS.publish(context, "a")
    assert ORDERS.size(context) == 1


def test_the_keys_of_a_map_are_the_instances_with_messages_in_order() -> None:
    """Own publishes and deletions count; no load is needed."""
    longer = ChannelMap("lines2", int)
    context = call(
        LINES,
        longer,
        sizes={"lines/b": 1, "lines/c": 1, "lines2/z": 1, "lines": 1},
        messages={"lines/c": [["m1", 1]]},
        load_channels=("lines/c",),
    )
    LINES.publish(context, "a/", 1)
    LINES.delete(context, "c", "m1")
    assert LINES.get_all_instance_keys(context) == ("a/", "b")
    assert LINES.get_map_size(context) == 2


@pytest.mark.parametrize(
    ("condition", "bounds"),
    [
        (ORDERS.for_one(), (1, 1)),
        (ORDERS.for_n(3), (3, 3)),
        (ORDERS.at_least(2), (2, None)),
        (ORDERS.at_most(5), (0, 5)),
        (ORDERS.for_range(at_least=2), (2, None)),
        (ORDERS.for_range(at_most=2), (0, 2)),
        (ORDERS.for_range(at_least=2, at_most=2), (2, 2)),
        *((ORDERS.for_n(0), (0, 0)), (ORDERS.at_least(0), (0, None)), (ORDERS.at_most(0), (0, 0))),
    ],
)
def test_a_condition_says_how_many_it_needs_and_takes(
    condition: ChannelCondition, bounds: tuple[int, int | None]
) -> None:
    """One takes one, n takes just n; a condition with only at_most needs none. Zero is legal."""
    assert (condition.at_least, condition.at_most) == bounds
    assert (condition.channel, condition.condition_id) == ("orders", "")


def test_a_condition_of_an_instance_names_it_and_has_the_same_makers() -> None:
    """The physical name, with the id that was given."""
    made = LINES.for_range("a b", at_least=1, at_most=4, condition_id="four")
    assert made.document() == {
        "kind": "channel",
        "id": "four",
        "channel": "lines/a%20b",
        "at_least": 1,
        "at_most": 4,
    }
    assert LINES.for_one("a") == LINES.for_n("a", 1)
    assert LINES.at_least("a", 2) == LINES.for_range("a", at_least=2)
    assert LINES.at_most("a", 2) == LINES.for_range("a", at_most=2)
    assert made.value_type is int


@pytest.mark.parametrize("count", [-1, True, 1.0, "1", None, MAX_COUNT + 1])
def test_a_count_that_is_none_is_refused_at_once(count: Any) -> None:
    """Negative, bool, float, text, nothing, more than could ever be there."""
    for make in (ORDERS.for_n, ORDERS.at_least, ORDERS.at_most):
        with pytest.raises(DefinitionError, match=r"^Channel orders condition at_(least|most) is "):
            make(count)
    for make_of in (LINES.for_n, LINES.at_least, LINES.at_most):
        with pytest.raises(
            DefinitionError, match=r"^Channel lines\S* condition at_(least|most) is "
        ):
            make_of("a", count)
    if count is not None:
        with pytest.raises(DefinitionError, match=r"^Channel orders condition at_most is "):
            ORDERS.for_range(at_least=1, at_most=count)


@given(low=st.integers(0, 9), high=st.integers(0, 9))
def test_a_range_holds_unless_it_is_upside_down(low: int, high: int) -> None:
    """At most may be at least at_least."""
    if low <= high:
        assert ORDERS.for_range(at_least=low, at_most=high).at_most == high
    else:
        text = (
            f"^Channel orders condition at_most is {high}: give at least at_least, which is {low}"
        )
        with pytest.raises(DefinitionError, match=text):
            ORDERS.for_range(at_least=low, at_most=high)


def test_a_range_without_a_bound_is_refused() -> None:
    """It would be every number of messages."""
    for owner, make in (("Channel orders", ORDERS.for_range), ("ChannelMap lines", _of_a)):
        with pytest.raises(DefinitionError, match=f"^{owner} for_range has no bound: give at_l"):
            make()


def _of_a() -> ChannelCondition:
    return LINES.for_range("a")


@pytest.mark.parametrize("condition_id", ["", 5, "a\nb", "x" * 256])
def test_a_condition_id_that_is_none_is_refused(condition_id: Any) -> None:
    """Left out and None are the same: no id."""
    assert ORDERS.for_one(condition_id=None) == ORDERS.for_one()
    assert ORDERS.for_one(condition_id="a").condition_id == "a"
    with pytest.raises(DefinitionError, match=r"^condition_id is "):
        ORDERS.for_one(condition_id=condition_id)


@pytest.mark.parametrize("kind", [Channel, ChannelMap])
@pytest.mark.parametrize("name", ["", None, 5, "a/b", "a\nb", "x" * 256])
def test_a_name_that_cannot_be_kept_is_refused(kind: Any, name: Any) -> None:
    """A slash is for the instances of maps."""
    with pytest.raises(DefinitionError, match=f"^{kind.__name__} name is "):
        kind(name, str)


def test_an_instance_that_cannot_be_a_name_is_refused() -> None:
    """In every method of a map."""
    context = call(LINES)
    for use in (LINES.load_messages, LINES.for_one, lambda each: LINES.size(context, each)):
        with pytest.raises(
            DefinitionError, match=r"^ChannelMap lines instance is '': give a non-e"
        ):
            use("")


def test_a_load_names_one_instance_of_a_map() -> None:
    """A plain Channel is loaded as itself."""
    assert LINES.load_messages("a/b") == ChannelMapLoad(LINES, "a/b")
    assert LINES.load_messages("a/b").physical_name() == "lines/a%2Fb"
    with pytest.raises(DefinitionError, match="a plain Channel is loaded as itself"):
        ChannelMapLoad(ORDERS, "a")  # type: ignore[arg-type]  # the mistake


def test_definitions_made_twice_are_equal_and_show_themselves() -> None:
    """What a cell makes again is the same thing."""
    assert len({Channel("a", int), Channel("a", int), ChannelMap("a", int)}) == 2
    assert repr(JOBS) == "Channel('jobs', Job)"
    assert repr(LINES) == "ChannelMap('lines', int)"
