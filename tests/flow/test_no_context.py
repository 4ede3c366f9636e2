"""What works through a context says so where it is given something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dexnb import Attribute, AttributeMap, Channel, ChannelMap, Stream, SubFlow
from dexnb.errors import DefinitionError

A: Any = Attribute("a", int)
MAP: Any = AttributeMap("m", int)
CH: Any = Channel("ch", int)
TOPICS: Any = ChannelMap("t", int)
OUT: Any = Stream("out", int, 1000)
SUB: Any = SubFlow

CALLS: dict[str, Callable[[Any], Any]] = {
    "Attribute a get": A.get,
    "Attribute a set": lambda given: A.set(given, 1),
    "Attribute a delete": A.delete,
    "AttributeMap m get": lambda given: MAP.get(given, "i"),
    "AttributeMap m set": lambda given: MAP.set(given, "i", 1),
    "AttributeMap m delete": lambda given: MAP.delete(given, "i"),
    "AttributeMap m get_map_size": MAP.get_map_size,
    "AttributeMap m get_all_instance_keys": MAP.get_all_instance_keys,
    "Channel ch publish": lambda given: CH.publish(given, 1),
    "Channel ch delete": lambda given: CH.delete(given, "1"),
    "Channel ch size": CH.size,
    "Channel ch pending_messages": CH.pending_messages,
    "Channel ch find_pending_message": lambda given: CH.find_pending_message(given, "1"),
    "Channel ch results": CH.results,
    "ChannelMap t publish": lambda given: TOPICS.publish(given, "i", 1),
    "ChannelMap t delete": lambda given: TOPICS.delete(given, "i", "1"),
    "ChannelMap t size": lambda given: TOPICS.size(given, "i"),
    "ChannelMap t pending_messages": lambda given: TOPICS.pending_messages(given, "i"),
    "ChannelMap t find_pending_message": lambda given: TOPICS.find_pending_message(given, "i", "1"),
    "ChannelMap t results": lambda given: TOPICS.results(given, "i"),
    "ChannelMap t get_map_size": TOPICS.get_map_size,
    "ChannelMap t get_all_instance_keys": TOPICS.get_all_instance_keys,
    "Stream out write": lambda given: OUT.write(given, 1),
    "SubFlow.get_condition_results": SUB.get_condition_results,
    "SubFlow.get_flow_id": SUB.get_flow_id,
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("given", [None, "text", 5])
def test_what_is_no_context_is_named(name: str, given: Any) -> None:
    """With the call, what was given, and what to give."""
    with pytest.raises(DefinitionError) as caught:
        CALLS[name](given)
    fix = "give the context that the method got"
    assert str(caught.value) == f"{name} context is {given!r}: {fix}"
