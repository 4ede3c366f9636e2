"""What code outside a run reads of its Attributes, and puts into its Channels."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from dexnb.engine.addressing import answer, check_active
from dexnb.engine.definitions import attribute_of, channel_of, physical_name
from dexnb.engine.limit import Limit
from dexnb.errors import FlowNotActiveOrNotFoundError, RequestTimeoutError
from dexnb.flow.attribute_match import AttributeMatch
from dexnb.flow.codec import text_of
from dexnb.flow.typed import check
from dexnb.model.event import Event
from dexnb.model.message import Published
from dexnb.model.run_state import RunState
from dexnb.model.shown import shown
from dexnb.providers import RunRecord

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine


async def publish(
    engine: Engine, record: RunRecord, channel: Any, value: Any, instance: str = ""
) -> None:
    """Put a message into a Channel of an open run; returns once it is in the history.

    Raises:
        FlowNotActiveOrNotFoundError: The run has ended, or ended meanwhile.
        DefinitionError: The Flow does not list the Channel, or the instance does not fit.
        ValueMappingError: The value is of another type or cannot be stored.
    """
    check_active(record)
    definition = channel_of(engine, record.flow_type, channel)
    physical = physical_name(definition, instance)
    operation = f"{definition.kind} {physical} publish"
    document = engine.registry.codecs.call(check, value, definition.value_type, operation)
    text_of(document, operation)
    request_id = uuid.uuid4().hex
    await engine.send(record.run_id, Published(physical, [document], "client", request_id))

    def fits(event: Event) -> bool:
        """Tell this message."""
        return event.kind == "channel_published" and event.payload["request_id"] == request_id

    await answer(engine, record, fits)


def attribute_value(engine: Engine, record: RunRecord, attribute: Any, instance: str = "") -> Any:
    """Give an Attribute's value as a run has it now; what stands for none, where there is none.

    Raises:
        DefinitionError: The Flow does not list the Attribute, or the instance does not fit.
        ValueMappingError: What is kept is of another type.
    """
    definition = attribute_of(engine, record.flow_type, attribute)
    physical = physical_name(definition, instance)
    document = RunState.from_text(record.state).attributes.get(physical)
    what = f"{definition.kind} {physical} read"
    return engine.registry.codecs.call(definition.decode, document, what)


async def matched_value(
    engine: Engine,
    record: RunRecord,
    attribute: Any,
    instance: str,
    match: AttributeMatch,
    limit: Limit,
) -> Any:
    """Wait until an Attribute's value matches; give the value.

    Each turn is looked at as it comes; a value that stands for an instant only may be missed.

    Raises:
        FlowNotActiveOrNotFoundError: The run ended without a match.
        RequestTimeoutError: It took longer than the limit.
        DefinitionError: The Flow does not list the Attribute, or no value of it could ever match.
    """
    definition = attribute_of(engine, record.flow_type, attribute)
    physical = physical_name(definition, instance)
    call = engine.registry.codecs.call
    call(match.check_fits, definition)
    what, wanted = f"{definition.kind} {physical}", f"{match.test} {shown(match.operand)}"

    def look(now: RunRecord) -> tuple[Any] | None:
        """Find a value that fits."""
        kept = RunState.from_text(now.state).attributes.get(physical)
        value = None if kept is None else call(definition.decode, kept, f"{what} read")
        if match.matches(value):
            return (value,)
        if now.status != "RUNNING":
            text = f"{now.flow_id} has ended {now.status}, and {what} does not match {wanted}"
            raise FlowNotActiveOrNotFoundError(text)
        return None

    try:
        async with limit.rest():
            return (await engine.endings.until(record.run_id, look))[0]
    except TimeoutError:
        text = f"{what} of {record.flow_id} did not match {wanted} within {limit.seconds:g} s"
        raise RequestTimeoutError(text) from None
