"""Attributes and Channels, as type checkers see them. Nothing here runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_type

from dexnb import (
    Attribute,
    AttributeLock,
    AttributeMap,
    AttributeMapLoad,
    Channel,
    ChannelMap,
    ChannelMapLoad,
    ChannelMessage,
    Context,
    PersistenceSchema,
)
from dexnb.flow.condition import ChannelCondition


@dataclass
class Order:
    """What is ordered."""

    item: str


COUNT = Attribute("count", int)
READY = Attribute("ready", bool)
RATE = Attribute("rate", float)
NOTE = Attribute("note", str)
LINES = AttributeMap("lines", int)
BY_ID = AttributeMap("by_id", Order)
ORDERS = Channel("orders", Order)
PARTS = ChannelMap("parts", list[int])


def attributes(context: Context) -> None:
    """What has a default is never None, everything else may be."""
    assert_type(COUNT.get(context), int)
    assert_type(READY.get(context), bool)
    assert_type(RATE.get(context), float)
    assert_type(NOTE.get(context), str | None)
    assert_type(LINES.get(context, "a"), int)
    assert_type(BY_ID.get(context, "a"), Order | None)
    assert_type(BY_ID.get_all_instance_keys(context), tuple[str, ...])
    assert_type(COUNT.lock(), AttributeLock)
    assert_type(LINES.load("a"), AttributeMapLoad)
    COUNT.set(context, 1)
    NOTE.set(context, None)
    COUNT.set(context, "one")  # type: ignore[arg-type]
    LINES.set(context, 1)  # type: ignore[call-arg]
    LINES.lock()  # type: ignore[call-arg]


def channels(context: Context) -> None:
    """Messages and results have the Channel's type."""
    assert_type(ORDERS.results(context), tuple[Order, ...])
    assert_type(ORDERS.pending_messages(context), tuple[ChannelMessage[Order], ...])
    assert_type(PARTS.find_pending_message(context, "a", "m1"), ChannelMessage[list[int]] | None)
    assert_type(PARTS.load_messages("a"), ChannelMapLoad)
    assert_type(ORDERS.for_one(condition_id="one"), ChannelCondition)
    assert_type(PARTS.for_range("a", at_most=2), ChannelCondition)
    ORDERS.publish(context, Order("a"))
    ORDERS.publish(context, "a")  # type: ignore[arg-type]
    ORDERS.for_n("two")  # type: ignore[arg-type]
    ORDERS.for_one("one")  # type: ignore[call-arg]


def context_calls(context: Context) -> None:
    """A local is of the type that it is asked for."""
    assert_type(context.get_step_execution_local("a", int), int | None)
    assert_type(context.has_timer_fired(), bool)
    context.set_step_execution_local("a", Order("b"))
    context.record_event("a", None)
    context.has_timer_fired("a")  # type: ignore[arg-type]


SCHEMA = PersistenceSchema(attributes=(COUNT, LINES), channels=(ORDERS, PARTS))
WRONG = PersistenceSchema(channels=(COUNT,))  # type: ignore[arg-type]
